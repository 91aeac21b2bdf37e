#!/bin/sh
# foreign.sh ARCHITECTURE FOLDER PACKAGES... - unpacks Debian packages of another architecture below FOLDER, for building
# and emulating programs of that machine. What is installed here, and for which architectures, stays as it is.
set -e
architecture=$1 folder=$2
shift 2
[ "$(cat "$folder/packages" 2>/dev/null)" = "$*" ] && exit 0
echo "unpacking for $architecture: $*"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
mkdir -p "$folder" "$work/state/lists/partial" "$work/cache/archives/partial"
: > "$work/status"
fetch() {
    apt-get -qq -o APT::Architecture="$architecture" -o APT::Architectures::="$architecture" -o APT::Sandbox::User=root \
        -o Dir::State="$work/state" -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache" "$@"
}
fetch update
(cd "$work" && fetch download "$@" > /dev/null)
for package in "$work"/*.deb; do dpkg-deb -x "$package" "$folder"; done
echo "$*" > "$folder/packages"
