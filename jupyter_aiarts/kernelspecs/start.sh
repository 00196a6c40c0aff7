# Starts a program in the environment that `environment.sh`, beside this file, names: activated, as its users know it.
# Nothing of the arguments is evaluated; then this shell becomes the program, so that signals reach it.
#   start.sh PROGRAM ARGUMENTS…        `python` is the environment's own
. "${0%/*}/environment.sh"
# The kernel's own name is its folder's: it means this kernel alone, also where its environment is gone, and needs no
# quotes.
_aiarts_spec=${0%/*}
_aiarts_spec=${_aiarts_spec##*/}
if [ ! -d "$_aiarts_prefix" ]; then
    # This goes where a kernel's own last words go, for whoever looks why it did not start.
    echo "The environment $_aiarts_prefix is gone, so its kernel cannot start: aiarts kernels doctor $_aiarts_spec" >&2
    exit 127
fi
# A bash that is called sh keeps to POSIX, and cannot read what is written for bash.
if [ -n "${BASH_VERSION:-}" ]; then command set +o posix 2>/dev/null || :; fi
_aiarts_has_scripts() { [ -d "$_aiarts_prefix/etc/conda/activate.d" ] || [ -d "${CONDA_PREFIX:-}/etc/conda/deactivate.d" ]; }
if [ -z "${BASH_VERSION:-}" ] && _aiarts_has_scripts; then
    # Such scripts are mostly written for bash.
    for _aiarts_bash in /bin/bash /usr/bin/bash /usr/local/bin/bash; do
        if [ -x "$_aiarts_bash" ]; then exec "$_aiarts_bash" "$0" "$@"; fi
    done
fi
. "${0%/*}/activate.sh"
# A script that ends the shell ends the start of the kernel, too; without this, nobody would know which one.
trap 'echo "${_aiarts_script:-$_aiarts_prefix} ended the start of this kernel: aiarts kernels doctor $_aiarts_spec" >&2' EXIT
_aiarts_activate "$_aiarts_prefix" "$_aiarts_name"
trap - EXIT
if [ "$1" = python ]; then
    shift
    set -- "$_aiarts_prefix/bin/python" "$@"
fi
exec "$@"
