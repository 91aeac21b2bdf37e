# checks.sh - what the tests of the program are written with: sourced at their top, under tests/cli/run.sh.
#
#   gives STATUS WORDS COMMAND...   the command ends with this status and prints these words, on stdout or stderr
#   quiet COMMAND...                it succeeds and prints nothing
#   check NAME CONDITION...         the condition, a command, holds
#   same FILE FILE                  two files have the same bytes
#   json FILE KEY...                it is JSON, and has these keys somewhere
#
# A command named `hologram` is the program under test.

DEMO=$ROOT/demo
MODEL=$DEMO/digits.onnx
SEVEN=$DEMO/digits/01_is_7.npy

hologram() { "$HOLOGRAM" "$@"; }

passed() { echo passed >> "$TALLY"; }

failed() { # WHAT: with what was printed
    echo failed >> "$TALLY"
    echo "$TEST: $1"
    [ ! -s .printed ] || sed 's/^/    | /' .printed | head -n 30
}

gives() {
    status=$1 words=$2
    shift 2
    "$@" > .printed 2>&1 < /dev/null
    got=$?
    if [ "$got" != "$status" ]; then failed "$*: status $got, expected $status"
    elif [ -n "$words" ] && ! grep -qF -e "$words" .printed; then failed "$*: '$words' is not in what it prints"
    else passed; fi
}

quiet() {
    "$@" > .printed 2>&1 < /dev/null
    got=$?
    if [ "$got" != 0 ]; then failed "$*: status $got"
    elif [ -s .printed ]; then failed "$*: prints something"
    else passed; fi
}

check() {
    name=$1
    shift
    if "$@" > .printed 2>&1 < /dev/null; then passed; else failed "$name: $*"; fi
}

same() { check "the same bytes" cmp "$1" "$2"; }

json() {
    file=$1
    shift
    if command -v python3 > /dev/null && python3 -c '' 2> /dev/null; then
        check "$file is JSON" python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$file"
    elif command -v node > /dev/null; then
        check "$file is JSON" node -e 'JSON.parse(require("fs").readFileSync(process.argv[1]))' "$file"
    fi
    for key; do check "$file has the key $key" grep -q "\"$key\"" "$file"; done
}

# A .npy file on stdout: npy '<f4' '(1, 1, 8, 8)' < the bytes
npy() {
    header="{'descr': '$1', 'fortran_order': False, 'shape': $2, }"
    printf '\223NUMPY\1\0\166\0%-117s\n' "$header"
    cat
}

# What follows the header of a .npy file.
npy_data() {
    tail -c +$((11 + $(od -An -t u2 -j 8 -N 2 "$1"))) "$1"
}
