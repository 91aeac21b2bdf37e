# generate and chat: tokens by caches beside whole runs of the text, text with a tokenizer and a template, how tokens are chosen, and
# what is said of models that do not continue texts.
. "$CHECKS"
MAKER=$ROOT/tests/support/gguf_maker.py
GREEDY=$ROOT/tests/support/greedy.py

# ---- every family of decoders reads on from its caches

for name in $(python3 "$MAKER" types | grep -v nomic_bert); do
    python3 "$MAKER" random "$name" "folder_$name"
    hologram compile "folder_$name" -o "$name.holo" -q || failed "compile $name"
done
count=$(ls ./*.holo | wc -l)
gives 0 "$count models generate what whole runs give" python3 "$GREEDY" "$HOLOGRAM" ./*.holo
gives 0 '1 models generate' python3 "$GREEDY" "$HOLOGRAM" llama.holo -- --lookup 3
gives 0 '1 models generate' python3 "$GREEDY" "$HOLOGRAM" llama.holo -- --threads 1

# ---- encoders with decoders: the prompt is what the encoder reads

for name in $(python3 "$ROOT/tests/support/pair_maker.py" types); do
    python3 "$ROOT/tests/support/pair_maker.py" "$name" "pair_$name"
    hologram compile "pair_$name" -o "pair_$name.holo" -q || failed "compile $name"
done
gives 0 '3 models generate what whole runs give' python3 "$GREEDY" "$HOLOGRAM" pair_bart.holo pair_marian.holo pair_t5.holo
gives 0 '3 models generate' python3 "$GREEDY" "$HOLOGRAM" pair_bart.holo pair_marian.holo pair_t5.holo -- --lookup 3
gives 0 '4 models search as whole runs do' python3 "$ROOT/tests/support/beam_search.py" "$HOLOGRAM" pair_bart.holo pair_marian.holo \
    pair_t5.holo llama.holo
gives 2 '--beams and --temperature exclude each other' hologram generate llama.holo --tokens 1,2 --max-tokens 3 --beams 2 --temperature 1
gives 2 'must be likely, first or never' hologram generate llama.holo --tokens 1,2 --max-tokens 3 --beams 2 --beam-stop soon
gives 1 'its encoder reads input_features' hologram generate pair_whisper.holo --tokens 1,2 --max-tokens 3
gives 0 'inputs of entry decoder' hologram inspect pair_t5.holo
gives 0 'cross.1.value f32' hologram run pair_t5.holo --entry encoder -i input_ids=[[1,2,3]]
gives 1 'has no entry nobody' hologram run pair_t5.holo --entry nobody -i input_ids=[[1,2,3]]
python3 "$ROOT/tools/holo_dump.py" --check pair_t5.holo || failed 'the second reader'
gives 0 '7 outputs' hologram compile pair_t5 -o narrow.holo --quantize f16
gives 0 '1 models generate' python3 "$GREEDY" "$HOLOGRAM" narrow.holo
python3 - pair_bart/config.json << 'END'
import json, sys
config = json.load(open(sys.argv[1]))
json.dump(config | {"forced_bos_token_id": 21, "suppress_tokens": [-1, 11, 9], "bad_words_ids": [[8], [1, 2]]}, open(sys.argv[1], "w"))
END
hologram generate pair_bart --tokens 1,2 --max-tokens 20 --json > forced.json
python3 -c 'import json; t = json.load(open("forced.json"))["tokens"]; raise SystemExit(t[0] != 21 or bool({8, 9, 11} & set(t)))' || failed 'forced and banned tokens'

# ---- tokens

gives 2 'with --max-tokens' hologram generate llama.holo --tokens 1,2
gives 1 'the model has no tokenizer' hologram generate llama.holo 'text' --max-tokens 3
check 'ids where there is no text' sh -c '"$HOLOGRAM" generate llama.holo --tokens 1,2 --max-tokens 3 --temperature 0 | grep -xE "[0-9]+,[0-9]+,[0-9]+"'
gives 2 "must be ids with commas" hologram generate llama.holo --tokens 1,x --max-tokens 3
gives 1 'the model knows tokens below 48' hologram generate llama.holo --tokens 1,48 --max-tokens 3
gives 2 'give one of them' hologram generate llama.holo text --tokens 1 --max-tokens 3
gives 2 "--max-tokens is '2.5', but must be a whole number" hologram generate llama.holo --tokens 1 --max-tokens 2.5
gives 2 '--temperature is' hologram generate llama.holo --tokens 1 --max-tokens 3 --temperature warm
gives 1 'does not continue texts' hologram generate "$MODEL" --tokens 1 --max-tokens 3
gives 1 'the model can read 8' hologram generate llama.holo --tokens 1,2,3,4,5,6,7,8,9 --max-tokens 3 --context 8
sample() { hologram generate llama.holo --tokens 1,2,3 --max-tokens 12 --temperature 1 --json "$@" | sed '/seconds/d'; }
sample --seed 5 > a.json
sample --seed 5 --threads 1 > b.json
sample --seed 6 > c.json
same a.json b.json
check 'another seed gives another text' sh -c '! cmp -s a.json c.json'
hologram generate llama.holo --tokens 1,2,3 --max-tokens 12 --json --logprobs > whole.json
json whole.json tokens text finish prompt_tokens generated_tokens logprobs
sample --top-k 1 > d.json
hologram generate llama.holo --tokens 1,2,3 --max-tokens 12 --temperature 0 --json | sed '/seconds/d' > e.json
same d.json e.json
gives 0 '"guessed_right"' hologram generate llama.holo --tokens 1,2,1,2,1,2 --max-tokens 12 --temperature 0 --lookup 4 --json
gives 0 'tokens a second' hologram bench llama.holo --prompt 16 --generate 8
gives 0 '"prompt_tokens_s"' hologram bench llama.holo --prompt 16 --generate 8 --json

# ---- text: a folder with a tokenizer of 48 tokens and a chat template

python3 - folder_llama << 'END'
import json, sys
letters = list("abcdefghijklmnopqrstuvwxyz .,!?'\n0123456789")
vocab = {"<s>": 0, "</s>": 1, "<u>": 2} | {c: i + 3 for i, c in enumerate(letters)}
added = [{"id": i, "content": t, "special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False} for t, i in list(vocab.items())[:3]]
model = {"type": "BPE", "vocab": vocab, "merges": [], "unk_token": "<u>", "dropout": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False}
tokenizer = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": {"type": "Lowercase"}, "pre_tokenizer": None,
             "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}], "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}], "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}},
             "decoder": {"type": "Fuse"}, "model": model}
json.dump(tokenizer, open(sys.argv[1] + "/tokenizer.json", "w"))
json.dump({"chat_template": "{{ bos_token }}{% for m in messages %}{{ m['role'] }} {{ m['content'] }}\n{% endfor %}", "bos_token": "<s>"}, open(sys.argv[1] + "/tokenizer_config.json", "w"))
json.dump({"eos_token_id": [1, 4711], "temperature": 0.7, "do_sample": True}, open(sys.argv[1] + "/generation_config.json", "w"))
END
hologram compile folder_llama -o talk.holo -q
gives 0 'text.eos' hologram inspect talk.holo
hologram generate talk.holo --plain 'hello' --max-tokens 20 --ignore-end > plain.txt
hologram generate folder_llama --plain 'hello' --max-tokens 20 --ignore-end > folder.txt
same plain.txt folder.txt
hologram generate talk.holo 'hello' --max-tokens 20 --ignore-end --json > chat.json
check 'the template is used' grep -q '"prompt_tokens": 12' chat.json
printf 'hello' | hologram generate talk.holo --max-tokens 20 --ignore-end --json - | sed '/seconds/d' > stdin.json
sed '/seconds/d' chat.json > chat2.json
same stdin.json chat2.json
gives 0 '' hologram generate talk.holo 'a' --regex '[0-9]{4}' --temperature 0
hologram generate talk.holo 'a' --regex '[0-9]{4}' --temperature 0 > digits.txt
check 'four digits' grep -qx '[0-9][0-9][0-9][0-9]' digits.txt
gives 0 '"finish": "stop"' hologram generate talk.holo 'a' --regex 'xyz[ab]{5}' --stop 'zb' --stop 'za' --json
gives 1 'person.json' hologram generate talk.holo 'a' --json-schema person.json
gives 2 '' hologram generate talk.holo 'a' --regex a --grammar b

# ---- a conversation

printf 'hi\n/save talk.txt\n/nonsense\n/new\n/load talk.txt\nmore\n/help\n/bye\n' | hologram chat talk.holo --max-tokens 6 > talk.out 2>&1
check 'it is saved' grep -q '"role": "user", "content": "hi"' talk.txt
check 'what is unknown is told' grep -q 'there is no command /nonsense' talk.out
check 'help' grep -q '^/system' talk.out
gives 1 'no chat template' hologram chat llama.holo

# ---- inputs in lists: a row of numbers for each text

gives 0 'logits f32[2, 3, 48]' hologram run llama.holo -i 'input_ids=[[3, 17, 5], [1, 2, 3]]'
gives 0 'logits f32[1, 6, 48]' hologram run llama.holo -i 'input_ids=[3, 17, 5, 1, 2, 3]'
gives 1 'the lists differ in length or depth' hologram run llama.holo -i 'input_ids=[[3, 17], [1, 2, 3]]'

# ---- large weights of any floats can be quantized; what a config says in two places

for type in F16 BF16 F32; do
    python3 "$ROOT/tests/support/wide_llama.py" "$type" "wide_$type"
    gives 0 'layers to q8_0' hologram compile "wide_$type" -o wide.holo --quantize q8_0
    gives 0 '1 models generate' python3 "$GREEDY" "$HOLOGRAM" wide.holo
done
# ---- a table of words that is also the last product is stored once: an archive is as large as its model, and 32 KiB for the rest

smaller() { check "$1 is about as large as $2" test "$(wc -c < "$1")" -le $(($(wc -c < "$2") * 105 / 100 + 32768)); }
for type in F16 BF16 F32; do
    python3 "$ROOT/tests/support/wide_llama.py" "$type" "tied_$type" tie_word_embeddings=true words=2000
    quiet hologram compile "tied_$type" -o tied.holo -q --strict
    smaller tied.holo "tied_$type/model.safetensors"
    gives 0 '1 models generate' python3 "$GREEDY" "$HOLOGRAM" tied.holo
done
python3 "$ROOT/tests/support/gguf_maker.py" convert tied_F32 tied.gguf q8_0
quiet hologram compile tied.gguf -o tied.holo -q --strict
smaller tied.holo tied.gguf
gives 1 'index 2000 is outside a dimension of 2000' hologram run tied.holo -i input_ids=1999,2000

# The encoder of a translator looks words up in the table that the decoder's product has packed.
for kind in bart t5; do
    mkdir "tied_$kind" && python3 -c '
import json, pathlib, sys
sys.path.insert(0, sys.argv[1])
import pair_maker
pair_maker.WORDS = 2000
weights, folder = pair_maker.Weights(), pathlib.Path(sys.argv[3])
config = getattr(pair_maker, sys.argv[2])(weights)
config["tie_word_embeddings"] = True
(folder / "config.json").write_text(json.dumps(config))
weights.write(folder / "model.safetensors")' "$ROOT/tests/support" $kind "tied_$kind"
    quiet hologram compile "tied_$kind" -o tied.holo -q
    check "the table of $kind is there once" test "$(hologram inspect tied.holo --values | grep -c 'shared.weight')" = 1
    gives 0 tokens hologram generate tied.holo --tokens 5,1999,7 --max-tokens 4 --temperature 0 --json
done

python3 "$ROOT/tests/support/wide_llama.py" F32 two_places rope_theta=10000.0 'rope_parameters={"rope_type": "default", "rope_theta": 500.0}'
python3 "$ROOT/tests/support/wide_llama.py" F32 one_place 'rope_parameters={"rope_type": "default", "rope_theta": 500.0}'
for name in two_places one_place; do hologram run "$name" -i input_ids=5,6,7,8 -o "$name.out" -q; done
cmp two_places.out/logits.npy one_place.out/logits.npy || failed 'rope_parameters goes before rope_theta'
python3 "$ROOT/tests/support/wide_llama.py" F32 longer 'rope_scaling={"type": "dynamic", "factor": 2.0}'
hologram compile longer -o longer.holo -q
gives 0 '"text.context": "128"' hologram inspect longer.holo --json
gives 0 '1 models generate' python3 "$GREEDY" "$HOLOGRAM" longer.holo
