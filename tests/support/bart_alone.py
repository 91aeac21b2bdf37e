#!/usr/bin/env python3
"""bart_alone.py PROGRAM FOLDER - BartForCausalLM beside BartForConditionalGeneration with the same weights.

What the encoder adds is 0 in the whole model, and the normalization behind it changes nothing, so both give the same scores.
"""
import array
import pathlib
import sys

import families

SIZE, INNER, WORDS, PLACES = 8, 12, 24, 40
CONFIG = {"model_type": "bart", "vocab_size": WORDS, "d_model": SIZE, "encoder_layers": 1, "decoder_layers": 2, "encoder_attention_heads": 2,
          "decoder_attention_heads": 2, "encoder_ffn_dim": INNER, "decoder_ffn_dim": INNER, "max_position_embeddings": PLACES}


def linear(name, inputs, outputs):
    return {name + ".weight": [outputs, inputs], name + ".bias": [outputs]}


def norm(name):
    return {name + ".weight": [SIZE], name + ".bias": [SIZE]}


def same(name):
    """A normalization that scales by 1 and adds 0."""
    return {name + ".weight": ([SIZE], array.array("f", [1] * SIZE)), name + ".bias": ([SIZE], array.array("f", [0] * SIZE))}


def attention(name):
    return {key: shape for part in "qkv" for key, shape in linear(f"{name}.{part}_proj", SIZE, SIZE).items()}


def side(name, layers):
    weights = {f"model.{name}.embed_positions.weight": [PLACES + 2, SIZE], **norm(f"model.{name}.layernorm_embedding")}
    for i in range(layers):
        at = f"model.{name}.layers.{i}"
        weights.update({**attention(f"{at}.self_attn"), **linear(f"{at}.self_attn.out_proj", SIZE, SIZE)})
        weights.update({**linear(f"{at}.fc1", SIZE, INNER), **linear(f"{at}.fc2", INNER, SIZE), **norm(f"{at}.final_layer_norm")})
        weights.update(norm(f"{at}.self_attn_layer_norm") if name == "encoder" else same(f"{at}.self_attn_layer_norm"))
    return weights


def main():
    program, top = sys.argv[1], pathlib.Path(sys.argv[2])
    alone = {"model.decoder.embed_tokens.weight": ([WORDS, SIZE], families.weight("words", [WORDS, SIZE])), **side("decoder", 2)}
    whole = dict(alone, **side("encoder", 1))
    for i in range(2):
        at = f"model.decoder.layers.{i}.encoder_attn"
        whole.update({**attention(at), **same(at + "_layer_norm")})
        whole[at + ".out_proj.weight"] = ([SIZE, SIZE], array.array("f", [0] * (SIZE * SIZE)))
        whole[at + ".out_proj.bias"] = ([SIZE], array.array("f", [0] * SIZE))
    whole["model.encoder.embed_tokens.weight"] = alone["model.decoder.embed_tokens.weight"]
    ids = ("i64", [2, 6], "5 9 13 3 21 7 4 4 19 11 6 23".split())
    families.write_model(top / "alone", dict(CONFIG, architectures=["BartForCausalLM"], is_decoder=True, is_encoder_decoder=False), alone)
    families.write_model(top / "whole", dict(CONFIG, architectures=["BartForConditionalGeneration"]), whole)
    families.write_inputs(top / "alone", {"input_ids": ids})
    families.write_inputs(top / "whole", {"input_ids": ids, "decoder_input_ids": ids})
    wrong = families.run(program, top / "alone", ["input_ids"]) or families.run(program, top / "whole", ["input_ids", "decoder_input_ids"])
    if not wrong:
        shape, scores = families.hf.read_npy(top / "whole" / "out" / "logits.npy")
        wanted = {"logits": (list(shape), 1, list(scores), max(map(abs, scores)))}
        answer = {"inputs": {"input_ids": ids}, "generated": greedy(program, top / "whole", ids)}
        wrong = families.compare(top / "alone", wanted) or families.generated(program, top / "alone", answer)
    print(wrong or "the same scores")
    return 1 if wrong else 0


def greedy(program, folder, ids, count=6):
    """The tokens that the whole model gives, each from a run of its own."""
    text = list(ids[2][: ids[1][1]])
    start = len(text)
    while len(text) < start + count:
        again = ("i64", [1, len(text)], text)
        (folder / "inputs").rename(folder / f"inputs{len(text)}")
        families.write_inputs(folder, {"input_ids": again, "decoder_input_ids": again})
        if families.run(program, folder, ["input_ids", "decoder_input_ids"]):
            return []
        scores = families.hf.read_npy(folder / "out" / "logits.npy")[1][-WORDS:]
        text.append(str(max(range(WORDS), key=lambda i: scores[i])))
    return [int(x) for x in text[start:]]


if __name__ == "__main__":
    sys.exit(main())
