# What language models keep: caches of f32, f16 and int8, saved and loaded, and stored for a prefix; and models that keep
# states instead.
. "$CHECKS"
MAKER=$ROOT/tests/support
GREEDY=$MAKER/greedy.py

# ---- narrow caches: their bytes, and how far the logits are from those with f32

python3 "$MAKER/gguf_maker.py" random llama folder
for type in f32 f16 int8; do
    hologram compile folder -o $type.holo --cache $type -q || failed "compile --cache $type"
    hologram run $type.holo -i 'input_ids=[[3,17,5,40,8,1,2,3,9,30,22,11]]' --quiet -o logits_$type
    hologram generate $type.holo --tokens 3,17,5,40 --max-tokens 9 --temperature 0 --save-cache $type.kept > /dev/null || failed "save $type"
done
gives 0 '3 models generate what whole runs give' python3 "$GREEDY" "$HOLOGRAM" f32.holo f16.holo int8.holo
cat > compare.py << 'END'
import array, pathlib
def logits(name):
    data = pathlib.Path(f"logits_{name}/logits.npy").read_bytes()
    return array.array("f", data[10 + int.from_bytes(data[8:10], "little"):])
plain = logits("f32")
top = max(map(abs, plain))
for name, least, most in (("f16", 1e-9, 4e-3), ("int8", 1e-6, 5e-2)):
    off = max(abs(a - b) for a, b in zip(plain, logits(name))) / top
    assert least < off < most, (name, off)
size = {t: pathlib.Path(t + ".kept").stat().st_size for t in ("f32", "f16", "int8")}
rows = 4 * 12   # two layers, keys and values, of 12 tokens
head = size["f32"] - rows * 16 * 4
assert size["f16"] == head + rows * 16 * 2, size
assert size["int8"] == head + rows * (16 + 2 * 4), size
END
check 'narrow caches are near those of f32, and take less' python3 compare.py
gives 2 'must be f32, f16 or int8' hologram compile folder -o x.holo --cache q4
gives 1 'the model has no caches' hologram compile "$MODEL" -o x.holo --cache f16

# ---- inputs that have a default are left out of samples, too

python3 - << 'END'
import pathlib, struct
def npy(path, rows):
    head = "{'descr': '<i8', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    data = b"".join(struct.pack("<q", n) for row in rows for n in row)
    pathlib.Path(path).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)
npy("ids.npy", [[1, 2, 3, 4], [5, 6, 7, 8]])
END
gives 0 '1 sample given' hologram compile folder -o given.holo --verify-with ids.npy
gives 0 '1 sample given' hologram compile folder -o given.holo --verify-with input_ids=ids.npy
gives 0 'q8_0' hologram compile folder -o given.holo --quantize q8_0 --calibrate ids.npy --accuracy 0.5

# ---- saved and loaded

text() { sed '/seconds/d; /"file"/d; /cached/d'; }
hologram generate f16.holo --tokens 3,17,5,40,8 --max-tokens 6 --temperature 0 --json > plain.json
hologram generate f16.holo --tokens 3,17,5,40,8 --max-tokens 6 --temperature 0 --json --load-cache f16.kept > loaded.json
text < plain.json > a.txt
text < loaded.json > b.txt
same a.txt b.txt
check 'four tokens need not be read' grep -q '"cached_tokens": 4' loaded.json
gives 1 'its state 0 is not that of the model' hologram generate f32.holo --tokens 3 --max-tokens 3 --load-cache f16.kept
gives 1 'not a cache' hologram generate f32.holo --tokens 3 --max-tokens 3 --load-cache f32.holo
gives 1 'cannot open' hologram generate f32.holo --tokens 3 --max-tokens 3 --load-cache none.kept
head -c 300 f16.kept > short.kept
gives 1 'damaged' hologram generate f16.holo --tokens 3 --max-tokens 3 --load-cache short.kept
{ head -c 400 f16.kept; printf x; tail -c +402 f16.kept; } > other.kept
gives 1 'damaged' hologram generate f16.holo --tokens 3 --max-tokens 3 --load-cache other.kept

# ---- a prefix in the archive

python3 "$MAKER/tiny_language.py" tiny
hologram compile tiny -o tiny.holo -q
gives 1 'saved by another model' hologram generate tiny.holo --tokens 3 --max-tokens 3 --load-cache f32.kept
printf 'you are a helpful thing. say little.\n' > prefix.txt
for type in f32 int8; do
    hologram compile tiny -o without.holo --cache $type -q
    hologram compile tiny -o plain.holo --cache $type --prefix prefix.txt --prefix-plain -q || failed "a plain prefix, $type"
    hologram compile tiny -o chat.holo --cache $type --prefix prefix.txt -q || failed "a system prompt, $type"
    hologram generate without.holo "$(cat prefix.txt) go" --plain --max-tokens 9 --temperature 0 --ignore-end --json | text > a.txt
    hologram generate plain.holo "$(cat prefix.txt) go" --plain --max-tokens 9 --temperature 0 --ignore-end --json > plain.json
    text < plain.json > b.txt
    same a.txt b.txt
    check 'the prefix is not read' grep -q '"cached_tokens": 36' plain.json
    hologram generate without.holo hi --system "$(cat prefix.txt)" --max-tokens 9 --temperature 0 --ignore-end --json | text > a.txt
    hologram generate chat.holo hi --system "$(cat prefix.txt)" --max-tokens 9 --temperature 0 --ignore-end --json > chat.json
    text < chat.json > b.txt
    same a.txt b.txt
    check 'nor the system prompt' grep -q '"cached_tokens": 38' chat.json
done
hologram generate plain.holo 'you are not' --plain --max-tokens 3 --temperature 0 --ignore-end --json > part.json
check 'the beginning of a prefix is of use, too' grep -q '"cached_tokens": 8' part.json
gives 0 '' hologram verify plain.holo
gives 1 'the model has no tokenizer' hologram compile folder -o x.holo --prefix prefix.txt
gives 1 'does not continue texts' hologram compile "$MODEL" -o x.holo --prefix prefix.txt
: > empty.txt
gives 1 'the prefix is empty' hologram compile tiny -o x.holo --prefix empty.txt
gives 1 'none.txt' hologram compile tiny -o x.holo --prefix none.txt

# ---- models that keep states of another kind, and a cache with slopes

python3 - "$MAKER" << 'END'
import pathlib, sys
sys.path.insert(0, sys.argv[1])
import gguf_maker
shapes = {"backbone.embeddings.weight": (48, 16), "backbone.norm_f.weight": (16,)}
for i in range(2):
    at = f"backbone.layers.{i}."
    shapes |= {at + "norm.weight": (16,), at + "mixer.A_log": (32, 4), at + "mixer.D": (32,), at + "mixer.conv1d.weight": (32, 1, 4),
               at + "mixer.conv1d.bias": (32,), at + "mixer.in_proj.weight": (64, 16), at + "mixer.x_proj.weight": (10, 32),
               at + "mixer.dt_proj.weight": (32, 2), at + "mixer.dt_proj.bias": (32,), at + "mixer.out_proj.weight": (16, 32)}
config = {"model_type": "mamba", "architectures": ["MambaForCausalLM"], "vocab_size": 48, "hidden_size": 16, "state_size": 4,
          "num_hidden_layers": 2, "intermediate_size": 32, "time_step_rank": 2, "conv_kernel": 4}
gguf_maker.write_folder(pathlib.Path("mamba"), config, shapes)
shapes = {"transformer.word_embeddings.weight": (48, 24), "transformer.ln_f.weight": (24,), "transformer.ln_f.bias": (24,)}
for i in range(2):
    at = f"transformer.h.{i}."
    shapes |= {at + "self_attention.query_key_value.weight": (72, 24), at + "self_attention.dense.weight": (24, 24),
               at + "mlp.dense_h_to_4h.weight": (96, 24), at + "mlp.dense_4h_to_h.weight": (24, 96)}
    for norm in ("input_layernorm", "post_attention_layernorm"):
        shapes |= {at + norm + ".weight": (24,), at + norm + ".bias": (24,)}
config = {"model_type": "falcon", "architectures": ["FalconForCausalLM"], "vocab_size": 48, "hidden_size": 24, "num_hidden_layers": 2,
          "num_attention_heads": 3, "alibi": True, "multi_query": False, "parallel_attn": False, "new_decoder_architecture": False}
gguf_maker.write_folder(pathlib.Path("falcon"), config, shapes)
END
for name in mamba falcon; do hologram compile $name -o $name.holo -q || failed "compile $name"; done
gives 0 '2 models generate what whole runs give' python3 "$GREEDY" "$HOLOGRAM" mamba.holo falcon.holo
gives 0 '1 models generate what whole runs give' python3 "$GREEDY" "$HOLOGRAM" mamba.holo -- --lookup 3
hologram generate mamba.holo --tokens 3,17,5 --max-tokens 8 --temperature 0 --json > long.json
hologram generate mamba.holo --tokens 3,17,5 --max-tokens 3 --temperature 0 --save-cache mamba.kept > /dev/null
first=$(python3 -c "import json; print(','.join(map(str, [3, 17, 5] + json.load(open('long.json'))['tokens'][:3])))")
hologram generate mamba.holo --tokens "$first" --max-tokens 5 --temperature 0 --json --load-cache mamba.kept > rest.json
check 'it goes on where it was' python3 -c "
import json
rest, long = json.load(open('rest.json')), json.load(open('long.json'))
assert rest['tokens'] == long['tokens'][3:] and rest['cached_tokens'] == 5, rest"
