#!/bin/sh
# deb.sh - the Debian packages in $BUILD/deb: lintian accepts them, and each does its work in an empty root where dpkg has installed it.
ROOT=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
BUILD=$(cd "$ROOT" && realpath "${BUILD:-build}")
TEST=deb
TALLY=$(mktemp)
work=$(mktemp -d)
trap 'rm -rf "$work" "$TALLY"' EXIT
trap 'exit 1' INT TERM
. "$ROOT/tests/support/checks.sh"
cd "$work" || exit 1

for name in libhologram0 libhologram-compiler0 libhologram-dev hologram hologram-serve python3-hologram; do
    check "$name is there" sh -c "test -s '$BUILD'/deb/${name}_*.deb"
done
check 'lintian has neither errors nor warnings' lintian --fail-on error,warning --no-tag-display-limit --allow-root "$BUILD"/deb/*.changes

# A root of its own. Packages of Debian that they depend on are those of this machine.
mkdir -p root/var/lib/dpkg/updates root/var/lib/dpkg/info
: > root/var/lib/dpkg/status
# The script of a Python package compiles modules in the root of the machine, whatever root dpkg has: it is left out.
for file in "$BUILD"/deb/*.deb; do
    case $file in */python3-*) how=--unpack ;; *) how=--install ;; esac
    check "dpkg installs $(basename "$file")" dpkg --root="$work/root" --force-depends --force-not-root --force-script-chrootless \
        --log=/dev/null $how "$file"
done
libs=$(dirname "$(find root/usr/lib -name libhologram.so.0)")
export LD_LIBRARY_PATH="$work/$libs"

# hologram
HOLOGRAM=$work/root/usr/bin/hologram
gives 0 'verified' hologram compile "$MODEL" -o digits.holo
gives 0 '' hologram run digits.holo --input image="$SEVEN"
check 'there is a manual page' sh -c 'gzip -dc root/usr/share/man/man1/hologram.1.gz | grep -q hologram'

# hologram-serve
check 'the server says its version' root/usr/bin/hologram-serve --version
check 'it has a unit and a manual page' sh -c 'test -s root/usr/lib/systemd/system/hologram-serve.service && test -s root/usr/share/man/man1/hologram-serve.1.gz'

# libhologram-dev, libhologram0, libhologram-compiler0
export PKG_CONFIG_SYSROOT_DIR="$work/root" PKG_CONFIG_LIBDIR="$work/$libs/pkgconfig"
cp "$ROOT/examples/first_run.c" .
check 'a program in C builds' sh -c 'gcc first_run.c $(pkg-config --cflags --libs hologram) -pthread -o first_run'
check 'it runs' ./first_run digits.holo
cat > compiles.c << 'END'
#include <hologram_compiler.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    HoloError error = {0};
    if (argc == 3 && !holo_compile_file(NULL, argv[1], argv[2], NULL, &error)) return 0;
    return puts(error.text), 1;
}
END
check 'a program that compiles models builds' sh -c 'gcc compiles.c $(pkg-config --cflags --libs hologram-compiler) -o compiles'
check 'it compiles one' ./compiles "$MODEL" other.holo
same digits.holo other.holo

# python3-hologram
cat > use.py << 'END'
import sys, hologram
model = hologram.open(sys.argv[1])
print(model.inputs[0].name, hologram.__file__)
END
unset LD_LIBRARY_PATH
gives 0 "$work/root" env PYTHONPATH="$work/root/usr/lib/python3/dist-packages" /usr/bin/python3 use.py digits.holo

for file in $(find "$work/root/var/lib/dpkg/info" -name '*.list' | sed 's|.*/||; s|\.list$||; s|:.*||'); do
    check "dpkg takes $file away" dpkg --root="$work/root" --force-depends --force-not-root --force-script-chrootless --log=/dev/null --purge "$file"
done
check 'nothing is left' sh -c "! find '$work/root/usr' -type f | grep ."

echo "$TEST: $(grep -c passed "$TALLY") passed, $(grep -c failed "$TALLY") failed"
! grep -q failed "$TALLY"
