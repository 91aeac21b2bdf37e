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
