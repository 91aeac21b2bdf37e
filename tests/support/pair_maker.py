#!/usr/bin/env python3
"""Writes folders of small models of an encoder and a decoder, with random weights: bart, marian, t5, whisper.

usage: pair_maker.py types | pair_maker.py NAME FOLDER
"""
import json
import math
import pathlib
import random
import struct
import sys

SIZE, INNER, HEADS, LAYERS, WORDS, PLACES, MELS = 16, 24, 4, 2, 48, 32, 8


class Weights:
    """Tensors of f32 with numbers of a fixed seed."""

    def __init__(self):
        self.random, self.all = random.Random(7), {}

    def add(self, name, *shape, middle=0.0, width=None):
        count = math.prod(shape)
        width = width or 1.7 / math.sqrt(shape[-1])
        self.all[name] = (shape, [middle + width * self.random.uniform(-1, 1) for _ in range(count)])

    def linear(self, name, out, into, bias=True):
        self.add(name + ".weight", out, into)
        if bias:
            self.add(name + ".bias", out, width=0.2)

    def norm(self, name, bias=True):
        self.add(name + ".weight", SIZE, middle=1.0, width=0.3)
        if bias:
            self.add(name + ".bias", SIZE, width=0.2)

    def write(self, path):
        head, data = {}, b""
        for name, (shape, numbers) in self.all.items():
            raw = struct.pack(f"<{len(numbers)}f", *numbers)
            head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
            data += raw
        text = json.dumps(head).encode()
        text += b" " * (-len(text) % 8)
        path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def bart_layers(w, is_last_norm, prefix="model."):
    for side, parts in (("encoder", ["self_attn"]), ("decoder", ["self_attn", "encoder_attn"])):
        for layer in range(LAYERS):
            at = f"{prefix}{side}.layers.{layer}"
            for part in parts:
                for name in "qkv":
                    w.linear(f"{at}.{part}.{name}_proj", SIZE, SIZE, bias=not (is_last_norm and name == "k"))
                w.linear(f"{at}.{part}.out_proj", SIZE, SIZE)
                w.norm(f"{at}.{part}_layer_norm")
            w.linear(f"{at}.fc1", INNER, SIZE)
            w.linear(f"{at}.fc2", SIZE, INNER)
            w.norm(f"{at}.final_layer_norm")
        if is_last_norm:
            w.norm(f"{prefix}{side}.layer_norm")


def bart_config(architecture, **more):
    return {"architectures": [architecture], "vocab_size": WORDS, "d_model": SIZE, "encoder_layers": LAYERS, "decoder_layers": LAYERS,
            "encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS, "encoder_ffn_dim": INNER, "decoder_ffn_dim": INNER,
            "is_encoder_decoder": True, "decoder_start_token_id": 2, "eos_token_id": 2} | more


def bart(w):
    w.add("model.shared.weight", WORDS, SIZE, width=1)
    w.add("final_logits_bias", 1, WORDS, width=0.5)
    for side in ("encoder", "decoder"):
        w.add(f"model.{side}.embed_positions.weight", PLACES + 2, SIZE, width=1)
        w.norm(f"model.{side}.layernorm_embedding")
    bart_layers(w, False)
    return bart_config("BartForConditionalGeneration", model_type="bart", max_position_embeddings=PLACES)


def marian(w):
    w.add("model.shared.weight", WORDS, SIZE, width=1)
    w.add("final_logits_bias", 1, WORDS, width=0.5)
    bart_layers(w, False)
    return bart_config("MarianMTModel", model_type="marian", max_position_embeddings=PLACES, activation_function="swish", scale_embedding=True)


def whisper(w):
    w.add("model.encoder.conv1.weight", SIZE, MELS, 3)
    w.add("model.encoder.conv1.bias", SIZE)
    w.add("model.encoder.conv2.weight", SIZE, SIZE, 3)
    w.add("model.encoder.conv2.bias", SIZE)
    w.add("model.encoder.embed_positions.weight", PLACES, SIZE, width=1)
    w.add("model.decoder.embed_tokens.weight", WORDS, SIZE, width=1)
    w.add("model.decoder.embed_positions.weight", PLACES, SIZE, width=1)
    bart_layers(w, True)
    return bart_config("WhisperForConditionalGeneration", model_type="whisper", num_mel_bins=MELS, max_source_positions=PLACES, max_target_positions=PLACES)


def t5(w):
    w.add("shared.weight", WORDS, SIZE, width=1)
    for side, parts in (("encoder", ["SelfAttention"]), ("decoder", ["SelfAttention", "EncDecAttention"])):
        for layer in range(LAYERS):
            at = f"{side}.block.{layer}.layer"
            for number, part in enumerate(parts):
                for name in "qkvo":
                    w.linear(f"{at}.{number}.{part}.{name}", SIZE, SIZE, bias=False)
                w.norm(f"{at}.{number}.layer_norm", bias=False)
            number = len(parts)
            for name, shape in (("wi_0", (INNER, SIZE)), ("wi_1", (INNER, SIZE)), ("wo", (SIZE, INNER))):
                w.linear(f"{at}.{number}.DenseReluDense.{name}", *shape, bias=False)
            w.norm(f"{at}.{number}.layer_norm", bias=False)
        w.add(f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight", 8, HEADS, width=1)
        w.norm(f"{side}.final_layer_norm", bias=False)
    w.linear("lm_head", WORDS, SIZE, bias=False)
    return {"architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "vocab_size": WORDS, "d_model": SIZE, "d_kv": SIZE // HEADS,
            "d_ff": INNER, "num_layers": LAYERS, "num_heads": HEADS, "relative_attention_num_buckets": 8, "relative_attention_max_distance": 16,
            "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False, "is_encoder_decoder": True, "decoder_start_token_id": 0,
            "eos_token_id": 1, "n_positions": PLACES}


TYPES = {"bart": bart, "marian": marian, "t5": t5, "whisper": whisper}


def main():
    if sys.argv[1] == "types":
        print("\n".join(TYPES))
        return
    folder, weights = pathlib.Path(sys.argv[2]), Weights()
    folder.mkdir(parents=True)
    config = TYPES[sys.argv[1]](weights)
    weights.write(folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config))


if __name__ == "__main__":
    main()
