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
    _status=$1 _words=$2
    shift 2
    "$@" > .printed 2>&1 < /dev/null
    _got=$?
    if [ "$_got" != "$_status" ]; then failed "$*: status $_got, expected $_status"
    elif [ -n "$_words" ] && ! grep -qF -e "$_words" .printed; then failed "$*: '$_words' is not in what it prints"
    else passed; fi
}

quiet() {
    "$@" > .printed 2>&1 < /dev/null
    _got=$?
    if [ "$_got" != 0 ]; then failed "$*: status $_got"
    elif [ -s .printed ]; then failed "$*: prints something"
    else passed; fi
}

check() {
    _name=$1
    shift
    if "$@" > .printed 2>&1 < /dev/null; then passed; else failed "$_name: $*"; fi
}

same() { check "the same bytes" cmp "$1" "$2"; }

json() {
    _file=$1
    shift
    if command -v python3 > /dev/null && python3 -c '' 2> /dev/null; then
        check "$_file is JSON" python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$_file"
    elif command -v node > /dev/null; then
        check "$_file is JSON" node -e 'JSON.parse(require("fs").readFileSync(process.argv[1]))' "$_file"
    fi
    for _key; do check "$_file has the key $_key" grep -q "\"$_key\"" "$_file"; done
}

# A .npy file on stdout: npy '<f4' '(1, 1, 8, 8)' < the bytes
npy() {
    _header="{'descr': '$1', 'fortran_order': False, 'shape': $2, }"
    printf '\223NUMPY\1\0\166\0%-117s\n' "$_header"
    cat
}

# What follows the header of a .npy file.
npy_data() {
    tail -c +$((11 + $(od -An -t u2 -j 8 -N 2 "$1"))) "$1"
}
