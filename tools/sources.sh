#!/bin/sh
# sources.sh FOLDER PACKAGE... - the sources of Debian packages, unpacked in FOLDER, where they are not there yet.
#
# They are fetched with lists of apt's own, so that those of this machine stay as they are.
folder=$1
shift
[ -f "$folder/whole" ] && exit 0
echo "  apt   the sources of $*"
rm -rf "$folder"
mkdir -p "$folder/state/lists/partial" "$folder/cache/archives/partial" && cd "$folder" || exit 1
: > status
cat /etc/apt/sources.list.d/debian.sources 2> /dev/null | sed 's/^Types:.*/Types: deb-src/' > debian.sources
[ -s debian.sources ] || sed -n 's/^deb /deb-src /p' /etc/apt/sources.list > debian.list
lists=$(find "$PWD" -maxdepth 1 -name 'debian.*' -size +0 | head -n 1)
packages=$*
set -- -qq -o APT::Sandbox::User=root -o Dir::State="$PWD/state" -o Dir::State::status="$PWD/status" \
    -o Dir::Cache="$PWD/cache" -o Dir::Etc::sourcelist="$lists" -o Dir::Etc::sourceparts=/dev/null
# shellcheck disable=SC2086
apt-get "$@" update && apt-get "$@" --download-only source $packages > /dev/null || exit 1
for package in *.orig.tar.*; do case $package in *.asc) ;; *) tar xf "$package" || exit 1 ;; esac; done
touch whole
