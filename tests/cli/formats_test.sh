# Formats: folders as models, and what is said of files that cannot be read. docs/formats.md names every architecture.
. "$CHECKS"

# A BERT of one layer, whose weights are all 0.5, as a folder with a dot in its name.
python3 - <<'PYTHON'
import json, os, struct
os.mkdir("bert-v1.5")
size, inner, words, places = 4, 6, 7, 8
config = {"architectures": ["BertModel"], "model_type": "bert", "hidden_size": size, "num_hidden_layers": 1, "num_attention_heads": 2,
          "intermediate_size": inner, "vocab_size": words, "max_position_embeddings": places}
json.dump(config, open("bert-v1.5/config.json", "w"))
shapes = {"embeddings.word_embeddings.weight": [words, size], "embeddings.position_embeddings.weight": [places, size],
          "embeddings.token_type_embeddings.weight": [2, size]}
def linear(name, inputs, outputs):
    shapes[name + ".weight"], shapes[name + ".bias"] = [outputs, inputs], [outputs]
def norm(name):
    shapes[name + ".weight"], shapes[name + ".bias"] = [size], [size]
norm("embeddings.LayerNorm")
for part in "attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense":
    linear("encoder.layer.0." + part, size, size)
norm("encoder.layer.0.attention.output.LayerNorm")
linear("encoder.layer.0.intermediate.dense", size, inner)
linear("encoder.layer.0.output.dense", inner, size)
norm("encoder.layer.0.output.LayerNorm")
header, data = {}, b""
for name, shape in shapes.items():
    count = shape[0] * (shape[1] if len(shape) > 1 else 1)
    header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * count]}
    data += struct.pack("<f", 0.5) * count
text = json.dumps(header).encode()
open("bert-v1.5/model.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data)
PYTHON

gives 0 'bert-v1.5.holo' hologram compile bert-v1.5
check 'a folder keeps its whole name' test -s bert-v1.5.holo
gives 0 'bert-v1.5.holo' hologram compile bert-v1.5/
gives 0 'HuggingFace' hologram inspect bert-v1.5
gives 0 'BertModel' hologram inspect bert-v1.5.holo
gives 0 'last_hidden_state f32[1, 3, 4] = 0.5' hologram run bert-v1.5 -i input_ids='[[1,2,3]]' -i attention_mask='[[1,1,1]]' -i token_type_ids='[[0,0,1]]'
gives 0 'they agree' hologram compare bert-v1.5.holo bert-v1.5
gives 0 '' hologram graph bert-v1.5 -o bert.svg
gives 0 '' hologram bench bert-v1.5.holo --seconds 0.01

# What cannot be read is named, with what to do.
gives 1 'a safetensors file: weights without a graph, which cannot be read yet: give its folder' hologram compile bert-v1.5/model.safetensors
sed -i 's/BertModel/OtherModel/' bert-v1.5/config.json
gives 1 'no description of the architecture OtherModel (model type bert); the nearest that is known is' hologram compile bert-v1.5
printf '\34\0\0\0TFL3' > model.onnx
gives 1 'the file is damaged' hologram compile model.onnx
mkdir saved above
touch saved/saved_model.pb
gives 1 'the SavedModel has no graph' hologram compile saved
mv bert-v1.5 above
gives 1 'give the folder: above/bert-v1.5' hologram inspect above

# The page has every architecture, and every format that is read.
for name in $(sed -n 's/^architectures //p' "$ROOT"/src/models/*.family | tr -d ,); do
    check "docs/formats.md: $name" grep -q "[ ,]$name[ ,]" "$ROOT"/docs/formats.md
done
