#!/bin/sh
# Print the oldest CPython of this machine that the launcher must run on (3.6 or later), for its tests. Prints nothing
# where there is none: the tests then use Debian's pypy3, which speaks Python 3.9.
set -eu
[ -z "${AIARTS_OLD_PYTHON:-}" ] || { echo "$AIARTS_OLD_PYTHON"; exit 0; }

for version in 3.6 3.7 3.8 3.9; do
    for python in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/"python$version"; do
        if "$python" -c 'import json, selectors, socket' 2>/dev/null; then
            command -v "$python"
            exit 0
        fi
    done
done
