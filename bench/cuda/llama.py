#!/usr/bin/env python3
"""llama.py - a HuggingFace folder of TinyLlama-1.1B's shape, with bf16 weights from a seed: for `hologram bench --prompt 512 --generate 128`.

    python3 bench/cuda/llama.py FOLDER [LAYERS]
"""
import json, os, sys
import numpy

folder, layers = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 22
wide, inner, heads, shared_heads, words = 2048, 5632, 32, 4, 32000
narrow = wide // heads * shared_heads
shapes = {"model.embed_tokens.weight": (words, wide), "model.norm.weight": (wide,), "lm_head.weight": (words, wide)}
for i in range(layers):
    for name, shape in (("self_attn.q_proj", (wide, wide)), ("self_attn.k_proj", (narrow, wide)), ("self_attn.v_proj", (narrow, wide)),
                        ("self_attn.o_proj", (wide, wide)), ("mlp.gate_proj", (inner, wide)), ("mlp.up_proj", (inner, wide)),
                        ("mlp.down_proj", (wide, inner)), ("input_layernorm", (wide,)), ("post_attention_layernorm", (wide,))):
        shapes[f"model.layers.{i}.{name}.weight"] = shape
head, at = {}, 0
for name, shape in shapes.items():
    size = 2 * int(numpy.prod(shape))
    head[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + size]}
    at += size
text = json.dumps(head).encode()
text += b" " * (-len(text) % 64 + 56)
os.makedirs(folder, exist_ok=True)
random = numpy.random.default_rng(1).standard_normal((1 << 24) + 43, "f4") * numpy.float32(0.02) # again and again
with open(os.path.join(folder, "model.safetensors"), "wb") as file:
    file.write(len(text).to_bytes(8, "little") + text)
    for i, shape in enumerate(shapes.values()):
        values = numpy.ones(shape, "f4") if len(shape) == 1 else numpy.resize(numpy.roll(random, 977 * i), shape)
        file.write((values.view("u4") >> 16).astype("u2").tobytes())
with open(os.path.join(folder, "config.json"), "w") as file:
    json.dump({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": wide, "intermediate_size": inner,
               "num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": shared_heads, "vocab_size": words,
               "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu",
               "tie_word_embeddings": False, "torch_dtype": "bfloat16", "bos_token_id": 1, "eos_token_id": 2}, file)
