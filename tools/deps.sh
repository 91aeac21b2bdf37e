#!/bin/sh
# deps.sh PACKAGE... - installs the Debian packages named that are not there yet; quiet when nothing is missing.
#
#   SUDO=doas     what becomes root (default: sudo, or nothing for root itself)
#   SUDO=         installs nothing: names what is missing and goes on, for machines where it is there in another way
missing=
if ! command -v dpkg-query >/dev/null; then
    echo "this is no Debian system: nothing is installed. Hologram needs what these Debian packages hold: $*" >&2
    exit 0
fi
for p in "$@"; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
[ -z "$missing" ] && exit 0
if [ -n "${SUDO+set}" ] && [ -z "$SUDO" ]; then
    echo "not installed, since SUDO is empty:$missing" >&2
    exit 0
fi
if [ "$(id -u)" = 0 ]; then SUDO=; elif ! command -v "${SUDO:=sudo}" >/dev/null; then
    echo "not root, and there is no $SUDO: install these packages by hand, or run make with SUDO= to go on without:$missing" >&2
    exit 1
fi
echo "installing:$missing"
$SUDO apt-get update -qq && DEBIAN_FRONTEND=noninteractive $SUDO apt-get install -y -qq $missing >/dev/null
