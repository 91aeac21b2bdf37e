# embed_test.sh - hologram embed: the vectors of texts, by every way to pool, from folders and archives.
. "$CHECKS"

python3 "$ROOT/tests/support/text_models.py" made || exit 1
gives 0 '2 4 5 8 7 3' hologram tokenize made/plain 'the cats sat'
ids() { printf '\2\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\10\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0' | npy '<i8' '(1, 6)'; }
ids > ids.npy
hologram run -q made/plain --input input_ids=ids.npy --output plain

# What the model gives for tokens, pooled by another program, is what the command gives.
for mode in mean cls max last mean_sqrt weighted mean,last; do
    quiet hologram embed made/plain 'the cats sat' --pooling $mode -o $mode.npy
    check "$mode" python3 "$ROOT/tests/support/vectors.py" $mode.npy plain/last_hidden_state.npy $mode
done
quiet hologram embed made/plain 'the cats sat' -o default.npy
same default.npy mean.npy
quiet hologram embed made/plain 'the cats sat' --normalize -o unit.npy
check 'of length 1' python3 "$ROOT/tests/support/vectors.py" unit.npy plain/last_hidden_state.npy mean normalize

# The files of sentence-transformers say how, and five tokens are the most: the special ones around stay.
printf '\2\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\10\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0' | npy '<i8' '(1, 5)' > five.npy
hologram run -q made/plain --input input_ids=five.npy --output five
quiet hologram embed made/sentence 'the cats sat . good' -o five.npy
check 'as the folder says' python3 "$ROOT/tests/support/vectors.py" five.npy five/last_hidden_state.npy cls,max normalize
quiet hologram embed made/sentence 'the cats sat' --no-normalize --pooling cls -o long.npy
check 'as the options say' python3 "$ROOT/tests/support/vectors.py" long.npy five/last_hidden_state.npy cls
quiet hologram embed made/named 'the cats sat' -o named.npy
same named.npy last.npy
quiet hologram compile -q made/sentence -o sentence.holo
gives 0 'cls,max' hologram inspect sentence.holo
quiet hologram embed sentence.holo 'the cats sat . good' -o archive.npy
same archive.npy five.npy
quiet hologram embed made/plain 'the cats sat . good' --max-length 5 --pooling cls,max --normalize -o cut.npy
same cut.npy five.npy

# A model of a fixed number of tokens gets padding, which is not pooled.
quiet hologram compile -q made/plain -o fixed.holo --input-shape input_ids:1,9 --input-shape attention_mask:1,9 --input-shape token_type_ids:1,9
quiet hologram embed fixed.holo 'the cats sat' -o fixed.npy
check 'with padding' python3 "$ROOT/tests/support/vectors.py" fixed.npy plain/last_hidden_state.npy mean
quiet hologram embed fixed.holo 'the cats sat' --pooling last -o fixed.npy
check 'the last is none of the padding' python3 "$ROOT/tests/support/vectors.py" fixed.npy plain/last_hidden_state.npy last

# A GGUF file has its vocabulary and says how to pool.
python3 "$ROOT/tests/support/gguf_maker.py" convert made/for_gguf model.gguf f32
quiet hologram embed model.gguf 'the cats sat' -o gguf.npy
check 'of a GGUF file' python3 "$ROOT/tests/support/vectors.py" gguf.npy plain/last_hidden_state.npy cls normalize

# Each text by itself, in order, from arguments and from lines.
hologram embed made/plain 'the cat' 'bad dogs.' 'good' > three
for text in 'the cat' 'bad dogs.' 'good'; do hologram embed made/plain "$text"; done > each
same three each
check 'a line each' test "$(wc -l < three)" = 3
check 'eight numbers' test "$(head -n 1 three | wc -w)" = 8
printf 'bad dogs.\r\ngood' > lines
check 'lines of the standard input' sh -c '"$HOLOGRAM" embed made/plain "the cat" - < lines | cmp - three'
check 'and without a dash' sh -c '"$HOLOGRAM" embed made/plain < lines > two && tail -n 2 three | cmp - two'
hologram embed made/plain 'the cat' --json > out.json
json out.json file pooling normalized size texts text tokens embedding
gives 0 '"tokens": 4' cat out.json

gives 1 'the model has no tokenizer' hologram embed made/silent x
gives 1 'models.Dense, which is not supported' hologram embed made/dense x
quiet hologram embed made/dense x --pooling mean -o dense.npy
gives 1 "it has no input 'input_ids'" hologram embed "$MODEL" x
gives 1 'there is no text' hologram embed made/plain
gives 2 "no way to pool named 'median'" hologram embed made/plain x --pooling median
gives 2 'normalize' hologram embed made/plain x --normalize --no-normalize
gives 2 'max-length' hologram embed made/plain x --max-length 0
gives 2 'embed' hologram embed
