"""A `sudo` for pods that run as root: the old platform's `sudo -E bash -c …` works, with or without sudo in the image.

Escalation is forbidden in our pods, so a real sudo would refuse there even for root; this one only has to start the
program, since whoever calls it is root already.
"""

import os

from . import record

_SCRIPT = r"""#!/bin/sh
# This pod runs as root already: start the program, with the environment as it is.
refuse() { echo "sudo (aiarts): $1" >&2; exit 1; }
user() { case "$1" in root | '#0') ;; *) refuse "this pod runs as root; no other user can be had: $1" ;; esac; }
while [ $# -gt 0 ]; do
    case "$1" in
        --) shift; break ;;
        -u | --user | -g | --group) [ $# -gt 1 ] || refuse "$1 needs a name"; user "$2"; shift ;;
        --user=* | --group=*) user "${1#*=}" ;;
        -u?* | -g?*) user "${1#-?}" ;;
        --preserve-env | --preserve-env=* | --non-interactive) ;;
        --set-home) HOME=~root; export HOME ;;
        --* | -) refuse "unknown option: $1" ;;
        -*[!EHn]*) refuse "unknown option: $1" ;;
        -*H*) HOME=~root; export HOME ;;
        -*) ;;
        *=*) case "${1%%=*}" in '' | [0-9]* | *[!A-Za-z0-9_]*) break ;; *) export "$1" ;; esac ;;
        *) break ;;
    esac
    shift
done
[ $# -gt 0 ] || refuse "no program to start"
exec "$@"
"""


def install(folder: str) -> None:
    """Put it into `folder`, which comes first on the ranks' PATH; raises `OSError`."""
    os.makedirs(folder, 0o755, exist_ok=True)
    path = os.path.join(folder, "sudo")
    record.write(path, _SCRIPT.encode("ascii"))
    os.chmod(path, 0o755)
