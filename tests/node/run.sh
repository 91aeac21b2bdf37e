#!/bin/sh
# run.sh [NODE] - the tests of the npm package; see package.mjs for what the environment says.
node=${1:-node}
here=$(cd "$(dirname "$0")" && pwd)
command -v "$node" > /dev/null || { echo "node-test: skipped: there is no $node: install nodejs"; exit 0; }
version=$("$node" -p 'process.versions.node.split(".")[0]')
[ "$version" -ge 18 ] || { echo "node-test: skipped: $node is version $version, and the package is for 18 and later"; exit 0; }
log=$(mktemp) && trap 'rm -f "$log"' EXIT
reporter=
[ "$version" -lt 20 ] || reporter=--test-reporter=tap # before, it is the only one
"$node" --test $reporter "$here"/*.test.mjs > "$log" 2>&1
status=$?
grep -E '^ *# SKIP|# SKIP' "$log" | sed 's/^ *ok [0-9]* - /node-test: skipped: /; s/# SKIP/:/'
[ $status = 0 ] || { grep -A 20 '^ *not ok' "$log"; tail -3 "$log"; }
passed=$(sed -n 's/^# pass //p' "$log") failed=$(sed -n 's/^# fail //p' "$log")
echo "node: $passed passed, $failed failed"
exit $status
