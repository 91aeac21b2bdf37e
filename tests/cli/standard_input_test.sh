# standard_input_test.sh - a model, an archive or a tensor from the standard input, be it a file or a pipe.
. "$CHECKS"

from() { _file=$1; shift; "$HOLOGRAM" "$@" < "$_file"; } # the standard input is a file
pipe() { _file=$1; shift; cat "$_file" | "$HOLOGRAM" "$@"; }
stdin_gives() { # STATUS WORDS HOW FILE COMMAND...
    _status=$1 _words=$2
    shift 2
    "$@" > .printed 2>&1
    _got=$?
    if [ "$_got" != "$_status" ]; then failed "$*: status $_got, expected $_status"
    elif ! grep -qF -e "$_words" .printed; then failed "$*: '$_words' is not in what it prints"
    else passed; fi
}

quiet hologram compile "$MODEL" -o d.holo -q
for how in from pipe; do
    stdin_gives 0 'verified' $how "$MODEL" compile - -o $how.holo
    same d.holo $how.holo
    stdin_gives 2 'the output file is missing: give -o' $how "$MODEL" compile -
    stdin_gives 0 'probabilities f32[1, 10]' $how "$MODEL" run - --input "$SEVEN"
    stdin_gives 0 'probabilities f32[1, 10]' $how d.holo run - --input "$SEVEN"
    stdin_gives 0 '0.99994' $how "$SEVEN" run d.holo --input -
    stdin_gives 0 '0.99994' $how "$SEVEN" run d.holo --input image=-
    stdin_gives 0 'f32[batch, 1, 8, 8]' $how "$MODEL" inspect -
    stdin_gives 0 'Hologram archive' $how d.holo inspect -
    stdin_gives 0 'a run' $how "$MODEL" bench - --seconds 0.01
    stdin_gives 0 'agrees' $how "$MODEL" bisect -
    stdin_gives 0 'a.svg' $how "$MODEL" graph - -o a.svg
    stdin_gives 0 'steps per run' $how d.holo explain -
    stdin_gives 0 'good' $how d.holo verify -
    stdin_gives 0 'they agree' $how d.holo compare - "$MODEL"
    stdin_gives 0 'they agree' $how "$MODEL" compare d.holo - --compile
    stdin_gives 0 'they agree' $how "$SEVEN" compare d.holo "$MODEL" --input -
    stdin_gives 2 'can be used only once' $how d.holo compare - -
    stdin_gives 1 'can be used only once' $how "$MODEL" run - --input image=-
    stdin_gives 1 'looks like a text file' $how "$DEMO/run.sh" compile - -o a.holo
    stdin_gives 1 '/dev/stdin' $how /dev/null compile - -o a.holo
done
check 'one that is closed' sh -c '! "$HOLOGRAM" compile - -o a.holo 2> told <&- && grep -q "standard input, which is closed" told'
check 'one that is a folder' sh -c '! "$HOLOGRAM" inspect - 2> told < . && grep -q "cannot read the standard input" told'
