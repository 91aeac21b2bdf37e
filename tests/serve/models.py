"""models.py - small models with random weights, to serve: made by the makers of the other tests."""
import json, os, subprocess, sys
from support import ROOT, HOLOGRAM

MAKER = os.path.join(ROOT, "tests", "support", "gguf_maker.py")


def tokenizer(ids):
    letters = list('abcdefghijklmnopqrstuvwxyz {}[]":,\n0123456789')
    vocab = {"<s>": 0, "</s>": 1, "<u>": 2} | {c: i + 3 for i, c in enumerate(letters)}
    vocab = {t: i for t, i in vocab.items() if i < ids}
    added = [{"id": i, "content": t, "special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False} for t, i in list(vocab.items())[:3]]
    model = {"type": "BPE", "vocab": vocab, "merges": [], "unk_token": "<u>", "dropout": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False}
    around = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
              "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}], "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": {"type": "Lowercase"}, "pre_tokenizer": None,
            "post_processor": around, "decoder": {"type": "Fuse"}, "model": model}


def language(folder, name="talker", family="llama"):
    """A language model of 48 tokens; returns the path of its archive."""
    made = os.path.join(folder, name + "-made")
    subprocess.run([sys.executable, MAKER, "random", family, made], check=True, stdout=subprocess.DEVNULL)
    path = os.path.join(made, "config.json")
    config = json.load(open(path)) | {"max_position_embeddings": 1 << 16}  # so that a text can be long
    json.dump(config, open(path, "w"))
    json.dump(tokenizer(48), open(os.path.join(made, "tokenizer.json"), "w"))
    template = "{{ bos_token }}{% for t in tools or [] %}{{ t.function.name }}\n{% endfor %}{% for m in messages %}{{ m['role'] }} {{ m['content'] }}\n{% endfor %}"
    json.dump({"chat_template": template, "bos_token": "<s>"}, open(os.path.join(made, "tokenizer_config.json"), "w"))
    json.dump({"eos_token_id": [1]}, open(os.path.join(made, "generation_config.json"), "w"))
    out = os.path.join(folder, name + ".holo")
    subprocess.run([HOLOGRAM, "compile", made, "-o", out, "-q"], check=True)
    return out


def embedder(folder, name="vectors"):
    """A model that makes vectors of texts."""
    made = os.path.join(folder, name + "-made")
    subprocess.run([sys.executable, MAKER, "random", "nomic_bert", made], check=True, stdout=subprocess.DEVNULL)
    config = json.load(open(os.path.join(made, "config.json")))
    json.dump(tokenizer(config["vocab_size"]), open(os.path.join(made, "tokenizer.json"), "w"))
    out = os.path.join(folder, name + ".holo")
    subprocess.run([HOLOGRAM, "compile", made, "-o", out, "-q"], check=True)
    return out
