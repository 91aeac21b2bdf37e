# --json: what commands print, and how they fail.
. "$CHECKS"
hologram compile "$MODEL" -o digits.holo -q

hologram run digits.holo --input "$SEVEN" --json > run.json
json run.json file outputs name dtype shape data
check "ten numbers" test "$(tr -d ' \n' < run.json | grep -o '"data":\[[^]]*\]' | tr ',' '\n' | wc -l)" = 10
hologram run digits.holo --input "$SEVEN" --json --quiet > brief.json
json brief.json outputs shape
check "no elements" sh -c '! grep -q data brief.json'
hologram version --json > version.json
json version.json version cpu
hologram verify digits.holo --json > verify.json
json verify.json files good verified

cp digits.holo broken.holo
printf 'xxxxxxxx' | dd of=broken.holo bs=1 seek=$(($(wc -c < broken.holo) - 4096)) conv=notrunc 2> /dev/null
hologram verify digits.holo broken.holo none.holo --json > two.json 2> two.err
check "it fails" test $? = 1
json two.json good error
check "each file is listed" test "$(grep -c '"file"' two.json)" = 3
check "and nothing else is said" test ! -s two.err

# Several runs are one document, too, with a trace of all and a memo of what they computed.
hologram run digits.holo --input random --times 2 --json --profile runs_trace.json --memo 1M --save-memo runs.holo > runs.json
json runs.json file device runs outputs
check "each run is listed" test "$(grep -c '"outputs"' runs.json)" = 2
check "the trace and the memo are written" test -s runs_trace.json -a -s runs.holo

# A failure is one document on the standard output, whatever fails, and stderr is empty.
fails() { # STATUS WORDS COMMAND...
    _want=$1 _text=$2
    shift 2
    "$@" > failure.json 2> failure.err < /dev/null
    check "$*: status" test $? = "$_want"
    json failure.json exit errors message next
    check "$*: $_text" grep -q "$_text" failure.json
    check "$*: stderr is empty" test ! -s failure.err
}
fails 1 'no-such.holo' hologram run no-such.holo --json
fails 1 'no tensor\|README' hologram run digits.holo --input "image=$ROOT/README.md" --json
fails 2 'unknown\|no option' hologram run digits.holo --json --no-such-option
fails 2 'there is no command' hologram rum --json
fails 1 'no-such.onnx' hologram compile no-such.onnx -o x.holo --json
fails 1 'no-such' hologram bench no-such --json
fails 1 'no-such' hologram inspect no-such --json
fails 1 'no-such' hologram explain no-such --json
fails 2 'no-such' hologram compare no-such digits.holo --json
fails 2 'json' hologram graph digits.holo --json
check "the next step is told" grep -q '"next": "' failure.json
