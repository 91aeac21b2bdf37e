"""text_models.py OUT - HuggingFace folders of tiny models that read texts, with random weights and a vocabulary.

OUT/plain is a BERT, OUT/sentence the same with the files of sentence-transformers; the others have heads that
classify.
"""
import json
import os
import random
import struct
import sys

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "dog", "sat", "##s", "good", "bad", "."]
HIDDEN, INNER, PLACES, KINDS, LAYERS = 8, 12, 10, 2, 1


class Weights:
    def __init__(self, seed):
        self.dice, self.all = random.Random(seed), {}

    def add(self, name, *shape):
        count = 1
        for n in shape:
            count *= n
        self.all[name] = (shape, [self.dice.uniform(-1, 1) for _ in range(count)])

    def linear(self, name, inner, outer):
        self.add(name + ".weight", outer, inner)
        self.add(name + ".bias", outer)

    def norm(self, name):
        self.add(name + ".weight", HIDDEN)
        self.add(name + ".bias", HIDDEN)

    def save(self, path):
        header, data = {}, b""
        for name, (shape, floats) in self.all.items():
            header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * len(floats)]}
            data += struct.pack("<%df" % len(floats), *floats)
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(path, "wb") as out:
            out.write(struct.pack("<Q", len(text)) + text + data)


def bert(prefix, pooler=True):
    w = Weights(7)
    for name, rows in (("word", len(WORDS)), ("position", PLACES), ("token_type", KINDS)):
        w.add(prefix + "embeddings.%s_embeddings.weight" % name, rows, HIDDEN)
    w.norm(prefix + "embeddings.LayerNorm")
    for layer in range(LAYERS):
        at = prefix + "encoder.layer.%d." % layer
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            w.linear(at + "attention." + name, HIDDEN, HIDDEN)
        w.norm(at + "attention.output.LayerNorm")
        w.linear(at + "intermediate.dense", HIDDEN, INNER)
        w.linear(at + "output.dense", INNER, HIDDEN)
        w.norm(at + "output.LayerNorm")
    if pooler:
        w.linear(prefix + "pooler.dense", HIDDEN, HIDDEN)
    return w


def write_json(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as out:
        json.dump(value, out)


def folder(top, name, architecture, weights, vocabulary=True, **more):
    path = os.path.join(top, name)
    os.makedirs(path)
    config = {"architectures": [architecture], "model_type": "bert", "vocab_size": len(WORDS), "hidden_size": HIDDEN,
              "num_hidden_layers": LAYERS, "num_attention_heads": 2, "intermediate_size": INNER, "pad_token_id": 0,
              "max_position_embeddings": PLACES, "type_vocab_size": KINDS, "hidden_act": "gelu"}
    write_json(os.path.join(path, "config.json"), dict(config, **more))
    weights.save(os.path.join(path, "model.safetensors"))
    if vocabulary:
        with open(os.path.join(path, "vocab.txt"), "w") as out:
            out.write("\n".join(WORDS) + "\n")
    return path


def modules(path, *types):
    write_json(path + "/modules.json", [{"idx": i, "name": str(i), "path": "%d_%s" % (i, t) if i else "",
                                         "type": "sentence_transformers.models." + t} for i, t in enumerate(types)])


def pooling(path, *modes):
    write_json(path + "/1_Pooling/config.json", {"word_embedding_dimension": HIDDEN, "pooling_mode_mean_tokens": False,
                                                 **{"pooling_mode_" + mode: True for mode in modes}})


def save_embedders(top):
    folder(top, "plain", "BertModel", bert(""))
    tokens = [word[2:] if word[:2] == "##" else word if word[0] == "[" else "\u2581" + word for word in WORDS]
    kinds = [3 if word[0] == "[" else 1 for word in WORDS]
    folder(top, "for_gguf", "BertModel", bert(""), layer_norm_eps=1e-12, gguf_keys={
        "bert.pooling_type": 2, "tokenizer.ggml.model": "bert", "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": kinds,
        "tokenizer.ggml.unknown_token_id": 1, "tokenizer.ggml.padding_token_id": 0, "tokenizer.ggml.cls_token_id": 2,
        "tokenizer.ggml.bos_token_id": 2, "tokenizer.ggml.seperator_token_id": 3, "tokenizer.ggml.eos_token_id": 3})
    folder(top, "silent", "BertModel", bert(""), vocabulary=False)
    path = folder(top, "sentence", "BertModel", bert(""))
    modules(path, "Transformer", "Pooling", "Normalize")
    pooling(path, "cls_token", "max_tokens")
    write_json(path + "/sentence_bert_config.json", {"max_seq_length": 5, "do_lower_case": False})
    path = folder(top, "named", "BertModel", bert(""))
    modules(path, "Transformer", "Pooling", "Dropout")
    write_json(path + "/1_Pooling/config.json", {"embedding_dimension": HIDDEN, "pooling_mode": "lasttoken"})
    path = folder(top, "dense", "BertModel", bert(""))
    modules(path, "Transformer", "Pooling", "Dense")
    pooling(path, "mean_tokens")


MOODS = {"2": "mixed", "0": "bad", "1": "very\ngood"}


def headed(labels, pooler=True):
    w = bert("bert.", pooler)
    w.linear("classifier", HIDDEN, labels)
    return w


def save_classifiers(top):
    kind = "BertForSequenceClassification"
    folder(top, "mood", kind, headed(3), id2label=MOODS)
    folder(top, "topics", kind, headed(3), id2label=MOODS, problem_type="multi_label_classification")
    folder(top, "rating", kind, headed(1), id2label={"0": "stars"}, problem_type="regression")
    folder(top, "sure", kind, headed(1), id2label={"0": "toxic"})
    folder(top, "unnamed", kind, headed(7))
    folder(top, "tags", "BertForTokenClassification", headed(3, False), id2label={"0": "O", "1": "NOUN", "2": "VERB"})
    folder(top, "tags_unnamed", "BertForTokenClassification", headed(3, False))


def vit(size, patch, labels):
    w, at = Weights(9), "vit.encoder.layer.0."
    w.add("vit.embeddings.cls_token", 1, 1, HIDDEN)
    w.add("vit.embeddings.position_embeddings", 1, (size // patch) ** 2 + 1, HIDDEN)
    w.add("vit.embeddings.patch_embeddings.projection.weight", HIDDEN, 3, patch, patch)
    w.add("vit.embeddings.patch_embeddings.projection.bias", HIDDEN)
    for name in ("attention.query", "attention.key", "attention.value", "output.dense"):
        w.linear(at + "attention." + name, HIDDEN, HIDDEN)
    w.linear(at + "intermediate.dense", HIDDEN, INNER)
    w.linear(at + "output.dense", INNER, HIDDEN)
    for name in (at + "layernorm_before", at + "layernorm_after", "vit.layernorm"):
        w.norm(name)
    w.linear("classifier", HIDDEN, labels)
    return w


FULL = {"do_resize": True, "do_rescale": True, "do_normalize": True, "image_mean": [0.5, 0.4, 0.3], "image_std": [0.5, 0.25, 0.2],
        "rescale_factor": 1 / 255}


def save_seeing(top):
    """Models of pictures of 8x8, each with another preprocessor_config.json."""
    prepared = {
        "square": dict(FULL, size={"height": 8, "width": 8}, resample=2),
        "old": {"size": 8, "do_resize": True, "do_normalize": False, "resample": 0},
        "crop": dict(FULL, size={"shortest_edge": 9}, crop_size={"height": 8, "width": 8}, do_center_crop=True, resample=3),
        "small": dict(FULL, size=4, crop_size=8, do_center_crop=True, resample=2),
        "share": dict(FULL, size={"shortest_edge": 8}, crop_pct=0.8, resample=3),
        "lanczos": dict(FULL, size={"height": 8, "width": 8}, resample=1),
        "unsized": None,
    }
    for name, config in prepared.items():
        path = folder(top, "seeing_" + name, "ViTForImageClassification", vit(8, 4, 3), vocabulary=False, model_type="vit",
                      image_size=8, patch_size=4, num_channels=3, id2label={"0": "cat", "1": "dog", "2": "car"})
        if config:
            write_json(path + "/preprocessor_config.json", config)


def main(top):
    save_embedders(top)
    save_classifiers(top)
    save_seeing(top)


main(sys.argv[1])
