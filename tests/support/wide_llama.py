#!/usr/bin/env python3
"""Writes a small LLaMA of random weights, whose products are large enough to be read as they are stored.

usage: wide_llama.py F16|BF16|F32 FOLDER [KEY=VALUE...]    further keys of config.json, as JSON

With tie_word_embeddings=true there is no lm_head, and with words=N the vocabulary has N words.
"""
import json
import pathlib
import random
import struct
import sys

SIZE, INNER, WORDS = 128, 384, 320


def number(kind, x):
    if kind == "F16":
        return struct.pack("<e", x)
    bits = struct.pack("<f", x)
    return bits[2:] if kind == "BF16" else bits


def main():
    kind, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    keys = {key: json.loads(value) for key, value in (word.split("=", 1) for word in sys.argv[3:])}
    words = keys.pop("words", WORDS)
    at, draw = "model.layers.0.", random.Random(5)
    shapes = {"model.embed_tokens.weight": (words, SIZE), "model.norm.weight": (SIZE,), "lm_head.weight": (words, SIZE),
              at + "input_layernorm.weight": (SIZE,), at + "post_attention_layernorm.weight": (SIZE,),
              at + "mlp.gate_proj.weight": (INNER, SIZE), at + "mlp.up_proj.weight": (INNER, SIZE), at + "mlp.down_proj.weight": (SIZE, INNER)}
    shapes |= {f"{at}self_attn.{x}_proj.weight": (SIZE, SIZE) for x in "qkvo"}
    if keys.get("tie_word_embeddings"):
        del shapes["lm_head.weight"]
    header, data = {}, b""
    for name, shape in shapes.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        block = b"".join(number(kind, 1.0 if len(shape) == 1 else draw.gauss(0, 0.1)) for _ in range(count))
        header[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [len(data), len(data) + len(block)]}
        data += block
    text = json.dumps(header).encode()
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": SIZE, "intermediate_size": INNER,
              "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": words, "max_position_embeddings": 64}
    config |= keys
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    (folder / "config.json").write_text(json.dumps(config))


if __name__ == "__main__":
    main()
