# tokenize_test.sh - hologram tokenize: text to ids and back, lines of JSON, folders, and what is called wrongly.
. "$CHECKS"

mkdir folder none
cat > folder/tokenizer.json <<'JSON'
{"version": "1.0",
 "added_tokens": [{"id": 0, "content": "[CLS]", "special": true}, {"id": 1, "content": "[SEP]", "special": true}],
 "normalizer": {"type": "Lowercase"},
 "pre_tokenizer": {"type": "BertPreTokenizer"},
 "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 1], "cls": ["[CLS]", 0]},
 "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
 "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
  "vocab": {"[CLS]": 0, "[SEP]": 1, "[UNK]": 2, "hello": 3, "world": 4, "##s": 5, ",": 6, "!": 7, "é": 8}}}
JSON
gives 0 '0 3 6 4 5 7 1' hologram tokenize folder/tokenizer.json 'Hello, worlds!'
gives 0 '0 3 2 1' hologram tokenize folder 'hello there'
check 'text from the standard input' sh -c 'printf "Hello\nworld" | "$HOLOGRAM" tokenize folder - | grep -x "0 3 4 1"'
check 'and without a dash' sh -c 'printf "Hello\nworld" | "$HOLOGRAM" tokenize folder | grep -x "0 3 4 1"'
gives 0 'hello, worlds!' hologram tokenize folder --decode '0 3 6 4 5 7 1'
gives 0 'hello' hologram tokenize folder --decode '[0, 3, 99, 1]'
printf '%s\n' '"Hello, worlds!"' '""' '"\u00e9 \ud83d\ude00 \"\\\n"' > lines
hologram tokenize folder --json < lines > out
cat > wanted <<'JSON'
{"ids": [0, 3, 6, 4, 5, 7, 1], "plain": [3, 6, 4, 5, 7], "text": "hello, worlds!"}
{"ids": [0, 1], "plain": [], "text": ""}
{"ids": [0, 8, 2, 2, 2, 1], "plain": [8, 2, 2, 2], "text": "\u00e9 [UNK] [UNK] [UNK]"}
JSON
check 'a line of JSON for each' cmp out wanted
check 'ids in lines' sh -c 'echo "[0, 3, 1]" | "$HOLOGRAM" tokenize folder --json --decode | grep -xF "{\"text\": \"hello\"}"'

gives 1 'no tokenizer' hologram tokenize none x
gives 1 'no-such' hologram tokenize no-such x
gives 1 'no tokenizer' hologram tokenize "$MODEL" x
gives 1 'something else than ids' hologram tokenize folder --decode 'a b'
gives 2 'tokenize' hologram tokenize
check 'a line that is no string' sh -c 'echo hello | "$HOLOGRAM" tokenize folder --json | grep -q "line 1 is no JSON string"'
echo '{"model": {"type": "BPE", "dropout": 0.1, "vocab": {}, "merges": []}}' > dropout.json
gives 1 'dropout' hologram tokenize dropout.json x
echo '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "pre_tokenizer": {"type": "Spilt"}}' > typo.json
gives 1 "a pre-tokenizer 'Spilt'" hologram tokenize typo.json x
echo '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "pre_tokenizer": {"type": "Split", "behavior": "Isolated", "pattern": {"Regex": "(a"}}}' > regex.json
gives 1 'a group has no end' hologram tokenize regex.json x

# Other formats, by what they hold and by what is in a folder.
mkdir bert gpt
printf '[UNK]\n[CLS]\n[SEP]\nhello\n##s\n' > bert/vocab.txt
gives 0 '1 3 4 0 2' hologram tokenize bert 'Hellos x'
printf '{"h": 0, "e": 1, "he": 2, "l": 3, "o": 4}' > gpt/vocab.json
gives 1 'merges.txt' hologram tokenize gpt hello
printf '#version: 0.2\nh e\n' > gpt/merges.txt
gives 0 '2 3 3 4' hologram tokenize gpt hello
gives 0 'hello' hologram tokenize gpt/vocab.json --decode '2 3 3 4'
printf '\012\016\012\005<unk>\025\000\000\000\000\030\002\012\010\012\001h\025\000\000\200\277\012\012\012\003\342\226\201\025\000\000\200\277' > tokenizer.model
gives 0 '2 1' hologram tokenize tokenizer.model h

# ---- Marian: pieces of source.spm, with the ids of vocab.json

mkdir marian
python3 - <<'PYTHON'
import json, struct
def piece(text, score, kind=1):
    body = b"\x0a" + bytes([len(text.encode())]) + text.encode() + b"\x15" + struct.pack("<f", score) + bytes([0x18, kind])
    return b"\x0a" + bytes([len(body)]) + body
pieces = [("</s>", 0, 3), ("<unk>", 0, 2), ("▁", -3), ("▁he", -2), ("llo", -2), ("h", -5), ("e", -5), ("l", -5), ("o", -5), ("x", -4), ("y", -4)]
open("marian/source.spm", "wb").write(b"".join(piece(*p) for p in pieces) + b"\x12\x02\x18\x01")
names = ["</s>", "<unk>", "▁", "llo", "▁he", "o", "▁haus", "h", "e", "l", ">>de<<", "y", "<pad>"]
json.dump({name: i for i, name in enumerate(names)}, open("marian/vocab.json", "w"))
json.dump({"tokenizer_class": "MarianTokenizer"}, open("marian/tokenizer_config.json", "w"))
PYTHON
gives 0 '4 3 0' hologram tokenize marian 'hello'
gives 0 '10 4 3 0' hologram tokenize marian '>>de<<hello'
check 'a piece without an id is unknown' sh -c 'test "$("$HOLOGRAM" tokenize marian "xy")" = "2 1 11 0"'
check 'a name of the other language is no piece' sh -c 'test "$("$HOLOGRAM" tokenize marian "haus" | cut -d " " -f 1)" = 2'
check 'and is decoded' sh -c 'test "$("$HOLOGRAM" tokenize marian --decode "2 6 4 3 2 0")" = "haus hello"'
rm marian/vocab.json
gives 1 'its ids are in vocab.json, which is not beside it' hologram tokenize marian 'hello'

# ---- the tokenizer of an archive

python3 "$ROOT/tests/support/tiny_language.py" tiny
quiet hologram compile -q tiny -o tiny.holo
hologram tokenize tiny 'a cat, 7' > of_folder
hologram tokenize tiny.holo 'a cat, 7' > of_archive
same of_folder of_archive
gives 0 'a cat' hologram tokenize tiny.holo --decode "$(hologram tokenize tiny 'a cat')"
rm tiny/tokenizer.json tiny/tokenizer_config.json
quiet hologram compile -q tiny -o mute.holo
gives 1 'the archive has no tokenizer' hologram tokenize mute.holo 'a'
