# classify_test.sh - hologram classify: labels and scores of texts and of tokens, from folders and archives.
. "$CHECKS"

python3 "$ROOT/tests/support/text_models.py" made || exit 1
printf '\2\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\10\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0' | npy '<i8' '(1, 6)' > ids.npy

scores() { # FOLDER HOW LABEL...: as another program computes them from what the model gives
    _folder=$1
    shift
    hologram run -q "made/$_folder" --input input_ids=ids.npy --output "$_folder"
    hologram classify "made/$_folder" 'the cats flew' --json > "$_folder.json"
    check "$_folder" python3 "$ROOT/tests/support/scores.py" "$_folder.json" "$_folder/logits.npy" "$@"
}
scores mood softmax bad 'very good' mixed
scores topics sigmoid bad 'very good' mixed
scores rating none stars
scores sure sigmoid toxic
scores unnamed softmax LABEL_0 LABEL_1 LABEL_2 LABEL_3 LABEL_4 LABEL_5 LABEL_6
scores tags softmax O NOUN VERB
json mood.json file problem inputs text labels label id score
json tags.json tokens token

check 'five labels' test "$(hologram classify made/unnamed 'the cat' | wc -l)" = 5
check 'as many as asked for' test "$(hologram classify made/unnamed 'the cat' --top 2 | wc -l)" = 2
check 'all' test "$(hologram classify made/unnamed 'the cat' --top 99 | wc -l)" = 7
hologram classify made/mood 'the cat' > one
check 'the best first' sh -c 'sort -rn one | cmp - one'
hologram classify made/mood 'the cat' 'dogs' > two
check 'a heading each' test "$(grep -cx -e 'the cat' -e dogs two)" = 2
check 'lines of the standard input' sh -c 'printf "the cat\ndogs\n" | "$HOLOGRAM" classify made/mood - | cmp - two'
quiet hologram compile -q made/mood -o mood.holo
hologram classify mood.holo 'the cat' 'dogs' > archive
same archive two
check 'a line for each token' test "$(hologram classify made/tags 'the cats sat.' | wc -l)" = 5
check 'cut to three of them' test "$(hologram classify made/tags 'the cats sat.' --max-length 5 | wc -l)" = 3

gives 1 'gives no scores of labels' hologram classify made/plain x
gives 1 '3 scores for each token, but has 0 labels' hologram classify made/tags_unnamed x
gives 1 'there is nothing to classify' hologram classify made/mood
gives 2 '--top' hologram classify made/mood x --top 0
gives 2 'classify' hologram classify
