#!/bin/sh
# test.sh - the Rust crate: its tests, its example, the code of docs/rust.md. BUILD=build CARGO=cargo sh bindings/rust/test.sh
ROOT=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
BUILD=$(cd "$ROOT" && realpath "${BUILD:-build}")
CARGO=${CARGO:-cargo}
if ! command -v "$CARGO" > /dev/null; then
    echo "rust: cargo is not installed: the Rust crate is not tested (Debian: apt-get install cargo rustc)"
    exit 0
fi
TEST=rust
TALLY=$(mktemp)
work=$(mktemp -d)
trap 'rm -rf "$work" "$TALLY"' EXIT
trap 'exit 1' INT TERM
. "$ROOT/tests/support/checks.sh"
cd "$work" || exit 1
ln -s "$ROOT/demo" demo
# The compiler and rustdoc that belong to this cargo.
PATH=$(dirname "$(command -v "$CARGO")"):$PATH
export HOLOGRAM_INCLUDE_DIR="$ROOT/include" HOLOGRAM_LIB_DIR="$BUILD" LD_LIBRARY_PATH="$BUILD" CARGO_TARGET_DIR="$BUILD/rust"
cargo() { "$CARGO" "$@" --offline --quiet --manifest-path "$ROOT/bindings/rust/Cargo.toml"; }

check 'the crate builds without a warning' sh -c "! '$CARGO' build --offline --manifest-path '$ROOT/bindings/rust/Cargo.toml' 2>&1 | grep -E '^(warning|error)'"
"$CARGO" test --offline --quiet --manifest-path "$ROOT/bindings/rust/Cargo.toml" -- --nocapture > tests.log 2>&1
status=$?
grep '^onnx: ' tests.log
check "the tests of the crate pass: $(tail -n 30 tests.log)" test $status = 0
gives 0 '7' cargo run --example first_run
check 'it builds for the runtime alone' cargo build --no-default-features

# Every function of the description is declared.
made=$(ls -t "$BUILD"/rust/debug/build/hologram-*/out/ffi.rs | head -n 4)
want=$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["functions"]))' "$ROOT/include/hologram.json")
check 'every function is declared' sh -c "for f in $(echo $made); do [ \$(grep -c 'pub fn holo_' \$f) = $want ] && exit 0; done; exit 1"

# The code of docs/rust.md.
cargo build
gives 0 'test result: ok' rustdoc --test "$ROOT/docs/rust.md" --edition 2021 --extern hologram="$BUILD/rust/debug/libhologram.rlib" \
    -L "native=$BUILD"

passed=$(grep -c '^passed$' "$TALLY")
failed=$(grep -c '^failed$' "$TALLY")
echo "rust: $passed passed, $failed failed"
[ "$failed" = 0 ]
