"""tiny_language.py - a small language model with random weights, a tokenizer of letters and a chat template, for tests.

  tiny_language.py FOLDER     writes it as a HuggingFace folder
"""

import json
import os
import pathlib
import sys

import gguf_maker

LETTERS = " abcdefghijklmnopqrstuvwxyz0123456789.,:\"{}[]"
SPECIAL = ["<end>", "<user>", "<model>"]
TOKENS = SPECIAL + list(LETTERS)
END = 0
TEMPLATE = "{% for m in messages %}<user>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<model>{% endif %}"


def tokenizer():
    added = [{"id": i, "content": t, "special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
             for i, t in enumerate(SPECIAL)]
    return {"version": "1.0", "added_tokens": added, "normalizer": None, "pre_tokenizer": None, "post_processor": None,
            "decoder": {"type": "Fuse"},
            "model": {"type": "BPE", "vocab": {t: i for i, t in enumerate(TOKENS)}, "merges": [], "fuse_unk": False}}


def shapes(hidden=16, inner=32, layers=2, kv=8):
    yield "model.embed_tokens.weight", (len(TOKENS), hidden)
    for i in range(layers):
        at = f"model.layers.{i}."
        yield at + "input_layernorm.weight", (hidden,)
        yield at + "self_attn.q_proj.weight", (hidden, hidden)
        yield at + "self_attn.k_proj.weight", (kv, hidden)
        yield at + "self_attn.v_proj.weight", (kv, hidden)
        yield at + "self_attn.o_proj.weight", (hidden, hidden)
        yield at + "post_attention_layernorm.weight", (hidden,)
        yield at + "mlp.gate_proj.weight", (inner, hidden)
        yield at + "mlp.up_proj.weight", (inner, hidden)
        yield at + "mlp.down_proj.weight", (hidden, inner)
    yield "model.norm.weight", (hidden,)
    yield "lm_head.weight", (len(TOKENS), hidden)


def write(folder, chat=True, text=True):
    """Writes the folder: with a chat template, with a tokenizer."""
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": len(TOKENS), "hidden_size": 16,
              "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "rms_norm_eps": 1e-5,
              "max_position_embeddings": 256, "rope_theta": 10000.0, "hidden_act": "silu", "tie_word_embeddings": False,
              "bos_token_id": None, "eos_token_id": END}
    gguf_maker.write_folder(pathlib.Path(folder), config, dict(shapes()))
    if text:
        with open(os.path.join(folder, "tokenizer.json"), "w", encoding="utf-8") as file:
            json.dump(tokenizer(), file)
    if chat:
        with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf-8") as file:
            json.dump({"chat_template": TEMPLATE, "eos_token": "<end>"}, file)
    return folder


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(sys.argv[1])
