#!/bin/sh
# deb.sh - makes Debian packages of what was built in $BUILD, by debhelper, and puts them into $BUILD/deb. $VERSION is theirs.
#
# It works on a copy of the tree with `debian` at its top, where debhelper wants it. The copy uses $BUILD, so nothing is
# built twice.
cd "$(dirname "$0")/.." || exit 1
mkdir -p "$BUILD/deb" || exit 1
build=$(cd "$BUILD" && pwd)
top=$build/deb tree=$build/deb/tree
rm -rf "$top" && mkdir -p "$tree" || exit 1
tar -cf - --exclude=./build --exclude="./$BUILD" --exclude=./.git --exclude=node_modules . | tar -C "$tree" -xf - || exit 1
ln -s "$build" "$tree/build" && cp -r packaging/debian "$tree/debian" || exit 1

# The date of the last change of the changelog: the same packages each time.
date=$(date -R -u -r CHANGELOG.md)
maintainer=$(sed -n 's/^Maintainer: //p' packaging/debian/control)
printf 'hologram (%s) unstable; urgency=medium\n\n  * What is new is in CHANGELOG.md.\n\n -- %s  %s\n' \
    "$VERSION" "$maintainer" "$date" > "$tree/debian/changelog"

unset MAKEFLAGS MFLAGS MAKELEVEL
if ! (cd "$tree" && dpkg-buildpackage -b -us -uc -nc -d > "$top/log" 2>&1); then
    tail -n 40 "$top/log"
    echo "deb.sh: the packages could not be made; $top/log has all of it" >&2
    exit 1
fi
rm -rf "$tree"
ls "$top"/*.deb
