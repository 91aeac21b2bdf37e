# guide.sh - for the tests of docs/adding-*.md, which source it: the page is done as it says, in a copy of the tree.
#
# Only what the page changes is compiled. All other objects are those of the build that is being tested.
set -e
HOLOGRAM=${HOLOGRAM:-build/hologram}
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$(dirname "$HOLOGRAM")" && pwd)
HOLOGRAM=$build/$(basename "$HOLOGRAM")
name=$(basename "$0" _test.sh)
fail() { echo "$name: $1" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# guide_begin PAGE: makes the copy, goes there, and puts the page's code where the page says.
guide_begin() {
    [ -d "$build"/obj ] || fail "$build has no objects: run make"
    command -v python3 >/dev/null || fail "python3 is missing"
    mkdir "$work"/tree "$work"/tree/build
    for part in Makefile include src cli tools kernels tests bindings; do
        [ ! -e "$root"/$part ] || cp -a "$root"/$part "$work"/tree/
    done
    cp -a "$build"/obj "$build"/*.c "$build"/stdlib.holo "$build"/sources.txt "$work"/tree/build/
    cd "$work"/tree
    find build/obj -name '*.d' -delete # they name the other build
    find build -type f -exec touch {} +
    python3 "$root"/tests/support/guide.py "$root/$1" . 2> "$work"/said || fail "$1: $(cat "$work"/said)"
}

# guide_depends FILE...: what was compiled with one of these files is compiled again.
guide_depends() {
    for file; do
        (cd "$build"/obj && grep -rlF --include='*.d' "$file" . || true)
    done | sort -u | sed 's|^\./|build/obj/|; s|\.d$|.o|' | xargs -r rm -f
}

# guide_make MOST TARGET...: builds, and compiles at most so many files. The standard library of kernels stays as it is.
guide_make() {
    most=$1 quick=''
    shift
    ! command -v ld.lld > /dev/null || quick=-fuse-ld=lld
    make --no-print-directory BUILD=build -o build/stdlib.holo UNUSED="$quick" "$@" > "$work"/make.log 2>&1 || { cat "$work"/make.log >&2; fail "it does not build"; }
    compiled=$(grep -c '^  cc  *src/' "$work"/make.log) || true
    [ "$compiled" -le "$most" ] || { cat "$work"/make.log >&2; fail "$compiled files were compiled, more than $most"; }
}
