#!/bin/sh
# asan.sh [NODE] - the tests of the npm package in HOLOGRAM_NODE, which is built with sanitizers. Node itself is not: the library of the
# sanitizer is loaded before it, and of what is lost at the end only that counts which the addon has taken.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ASAN_OPTIONS="allocator_may_return_null=1:detect_leaks=1:exitcode=99:log_path=$work/log" LSAN_OPTIONS="exitcode=0:log_path=$work/log"
cc=${CC:-gcc}
HOLOGRAM_SANITIZED=1 LD_PRELOAD="$($cc -print-file-name=libasan.so) $($cc -print-file-name=libubsan.so)" sh "$(dirname "$0")/run.sh" "${1:-node}"
status=$?
sh "$(dirname "$0")/../support/asan_report.sh" node '\.node|holo_|js_' "$work"/log* && exit $status
