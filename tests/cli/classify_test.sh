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

# Pictures, prepared as preprocessor_config.json says: another program prepares them, and the model answers the same.
seen() { # KIND WIDTH HEIGHT
    python3 "$ROOT/tests/support/png.py" "$2x$3.png" "$2" "$3"
    python3 "$ROOT/tests/support/prepare_picture.py" "$1.npy" "$2" "$3" "made/seeing_$1"
    hologram run -q "made/seeing_$1" --input "pixel_values=$1.npy" --output "seeing_$1"
    hologram classify "made/seeing_$1" "$2x$3.png" --json > "seeing_$1.json"
    check "$1 of $2x$3" python3 "$ROOT/tests/support/scores.py" "seeing_$1.json" "seeing_$1/logits.npy" softmax cat dog car
}
for kind in square old crop small share; do
    seen $kind 20 13
    seen $kind 5 11
done
json seeing_crop.json picture labels
quiet hologram compile -q made/seeing_crop -o seeing.holo
gives 0 'image.resample        bicubic' hologram inspect seeing.holo
hologram classify seeing.holo 5x11.png > archive
hologram classify made/seeing_crop 5x11.png > folder
same archive folder
check 'names in lines' sh -c 'printf "20x13.png\n5x11.png\n" | "$HOLOGRAM" classify seeing.holo | grep -cE "^(20x13|5x11).png$" | grep -x 2'
gives 0 "'lanczos', which is not supported" hologram classify made/seeing_lanczos 5x11.png
gives 0 'resized to 8x8' hologram classify made/seeing_unsized 5x11.png
gives 0 'then (x - mean) / std' hologram classify made/seeing_crop 5x11.png --mean 0.5 --std 0.5
gives 0 'LABEL_7' hologram classify "$MODEL" 20x13.png --top 10
gives 1 'no-such.png' hologram classify seeing.holo no-such.png
gives 1 'made/mood' hologram classify seeing.holo made/mood
gives 2 '--max-length is for texts' hologram classify seeing.holo 5x11.png --max-length 3
gives 2 '--mean is for pictures' hologram classify made/mood x --mean 0.5
