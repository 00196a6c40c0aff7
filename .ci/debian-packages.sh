#!/bin/sh
# Install what the tests use from Debian and the machine lacks; called by `make test`, and by `make cluster` with the
# word `cluster` for what that alone takes.
# As another user than root, or on another system, it only says what is missing.
set -eu

missing=
need() { # need COMMAND-OR-FILE PACKAGE
    case $1 in
        /*) [ -e "$1" ] || missing="$missing $2" ;;
        *) command -v "$1" >/dev/null 2>&1 || missing="$missing $2" ;;
    esac
}

if [ "${1:-}" != cluster ]; then
    [ -n "${CHROMIUM:-}" ] || need chromium chromium
    need /usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc fonts-noto-cjk
    need pypy3 pypy3
    need strace strace
fi
# Should installing start a containerd or an etcd, the cluster does not mind: its own run in namespaces of their own.
need containerd containerd
need runc runc
need /usr/lib/cni/bridge containernetworking-plugins
need debootstrap debootstrap
need busybox busybox-static
need iptables iptables
need ip iproute2
need openssl openssl
[ -x "${KUBEBUILDER_ASSETS:-}/etcd" ] || need etcd etcd-server
python3 -c 'import ensurepip' 2>/dev/null || python3 -c 'import pip' 2>/dev/null || missing="$missing python3-venv"

[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "note: the tests also use$missing (Debian: sudo apt-get install$missing)" >&2
    exit 0
fi
echo "installing$missing"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086  # one word per package
apt-get install -y --no-install-recommends $missing || { apt-get update && apt-get install -y --no-install-recommends $missing; }
