# Starts a program in the environment that `environment.sh`, beside this file, names: activated, as its users know it.
# Nothing of the arguments is evaluated; then this shell becomes the program, so that signals reach it.
#   start.sh PROGRAM ARGUMENTS…        `python` is the environment's own
. "${0%/*}/environment.sh"
export PATH="$prefix/bin:$PATH"
unset PYTHONHOME
if [ -d "$prefix/conda-meta" ]; then
    unset VIRTUAL_ENV
    export CONDA_PREFIX="$prefix" CONDA_DEFAULT_ENV="$name" CONDA_SHLVL=1 CONDA_PROMPT_MODIFIER="($name) "
    for script in "$prefix"/etc/conda/activate.d/*.sh; do
        # One that fails does not keep a shell from starting, so it does not keep a kernel from it either.
        if [ -r "$script" ]; then . "$script" </dev/null >&2 || :; fi
    done
    if [ -s "$prefix/conda-meta/state" ] && [ -x "$prefix/bin/python" ]; then
        # `conda env config vars set` keeps its variables there, as JSON.
        eval "$("$prefix/bin/python" -I -S -c '
import json, shlex, sys
for name, value in json.load(open(sys.argv[1], encoding="utf-8")).get("env_vars", {}).items():
    if name.isidentifier() and name.isascii():
        print("export %s=%s" % (name, shlex.quote(str(value))))
' "$prefix/conda-meta/state" 2>/dev/null)"
    fi
else
    export VIRTUAL_ENV="$prefix"
fi
if [ "$1" = python ]; then
    shift
    set -- "$prefix/bin/python" "$@"
fi
exec "$@"
