"""gguf_maker.py - makes GGUF files of HuggingFace folders, and such folders with random weights, for tests.

  gguf_maker.py convert FOLDER OUT.gguf [TYPE] [PARTS]   TYPE of matrices: f32, f16, bf16, q8_0, or TYPE=f32:
                                                         f32 that holds what that type keeps; PARTS: files to write
  gguf_maker.py random MODEL_TYPE FOLDER                 a small folder of that model type
  gguf_maker.py types                                    the model types that `random` knows

What llama.cpp's converter does to names and weights is written down here once more, apart from the importer, so that the two
check each other. Only small models: everything is lists in memory.
"""

import array
import json
import math
import pathlib
import random
import re
import struct
import sys

KINDS = {"u32": 4, "i32": 5, "f32": 6, "bool": 7, "text": 8, "array": 9}
TYPES = {"f32": 0, "f16": 1, "q8_0": 8, "bf16": 30}


class Tensor:
    def __init__(self, shape, data):
        self.shape, self.data = tuple(shape), data

    def rows(self):
        size = math.prod(self.shape[1:])
        return [self.data[i * size : (i + 1) * size] for i in range(self.shape[0])]


def joined(rows, shape):
    data = array.array("f")
    for row in rows:
        data.extend(row)
    return Tensor(shape, data)


def mapped(tensor, function):
    return Tensor(tensor.shape, array.array("f", map(function, tensor.data)))


def transposed(tensor):
    rows = tensor.rows()
    return joined(([row[i] for row in rows] for i in range(tensor.shape[1])), tensor.shape[::-1])


# ---- folders


def read_folder(folder):
    config = json.loads((folder / "config.json").read_text())
    data = (folder / "model.safetensors").read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if name == "__metadata__":
            continue
        if entry["dtype"] != "F32":
            raise ValueError(f"{name} is of type {entry['dtype']}")
        begin, end = entry["data_offsets"]
        tensors[name] = Tensor(entry["shape"], array.array("f", data[8 + size + begin : 8 + size + end]))
    return config, tensors


def write_folder(folder, config, shapes, seed=7):
    source, header, data = random.Random(seed), {}, array.array("f")
    for name, shape in shapes.items():
        count, begin = math.prod(shape), 4 * len(data)
        center = 1.0 if "norm" in name and name.endswith("weight") and config["model_type"][:5] != "gemma" else 0.0
        data.extend(center + source.uniform(-0.3, 0.3) for _ in range(count))
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [begin, begin + 4 * count]}
    text = json.dumps(header).encode()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data.tobytes())


# ---- GGUF files


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def value_bytes(value):
    if isinstance(value, bool):
        return KINDS["bool"], struct.pack("<B", value)
    if isinstance(value, int):
        return KINDS["u32"], struct.pack("<I", value)
    if isinstance(value, float):
        return KINDS["f32"], struct.pack("<f", value)
    if isinstance(value, str):
        return KINDS["text"], text(value)
    items = [value_bytes(item) for item in value]
    return KINDS["array"], struct.pack("<IQ", items[0][0], len(items)) + b"".join(item[1] for item in items)


def encode_q8_0(row):
    out = b""
    for i in range(0, len(row), 32):
        block = row[i : i + 32]
        scale = max(abs(x) for x in block) / 127
        stored = struct.unpack("<e", struct.pack("<e", scale))[0]
        out += struct.pack("<e", scale) + bytes(round(x / stored) & 255 if stored else 0 for x in block)
    return out


def encode(tensor, kind):
    if kind == "f16":
        return struct.pack(f"<{len(tensor.data)}e", *tensor.data)
    if kind == "bf16":
        return b"".join(struct.pack("<f", x)[2:] for x in tensor.data)
    if kind == "q8_0":
        rows = Tensor((math.prod(tensor.shape[:-1]), tensor.shape[-1]), tensor.data).rows()
        return b"".join(encode_q8_0(row) for row in rows)
    return tensor.data.tobytes()


def decode(data, kind):
    """What a type keeps, as f32."""
    if kind == "f16":
        return array.array("f", struct.unpack(f"<{len(data) // 2}e", data))
    if kind == "bf16":
        return array.array("f", b"".join(b"\0\0" + data[i : i + 2] for i in range(0, len(data), 2)))
    out = array.array("f")
    for i in range(0, len(data), 34):
        scale, *numbers = struct.unpack("<e32b", data[i : i + 34])
        out.extend(scale * n for n in numbers)
    return out


def kind_of(name, tensor, kind):
    """Vectors stay f32, as do the weights of convolutions, states and routers, and rows that are not whole blocks."""
    plain = len(tensor.shape) < 2 or "ssm_conv1d" in name or name.endswith("ssm_a") or "ffn_gate_inp" in name
    if plain or "_norm" in name or (kind == "q8_0" and tensor.shape[-1] % 32):
        return "f32"
    return kind


def write_file(path, meta, tensors, kind, version=3):
    infos, data = b"", b""
    kind, _, kept = kind.partition("=")
    for name, tensor in tensors:
        own = kind_of(name, tensor, kind)
        if kept and own != "f32":
            tensor, own = Tensor(tensor.shape, decode(encode(tensor, own), own)), "f32"
        data += bytes(-len(data) % 32)
        infos += text(name) + struct.pack("<I", len(tensor.shape))
        infos += b"".join(struct.pack("<Q", size) for size in reversed(tensor.shape))
        infos += struct.pack("<IQ", TYPES[own], len(data))
        data += encode(tensor, own)
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(meta))
    for key, value in meta.items():
        number, stored = value_bytes(value)
        head += text(key) + struct.pack("<I", number) + stored
    head += infos
    path.write_bytes(head + bytes(-len(head) % 32) + data)


def write_files(path, meta, tensors, kind, parts):
    tensors = list(tensors.items())
    if parts == 1:
        return write_file(path, meta, tensors, kind)
    each = -(-len(tensors) // parts)
    for part in range(parts):
        own = dict(meta) if part == 0 else {}
        own.update({"split.no": part, "split.count": parts, "split.tensors.count": len(tensors)})
        name = f"{path.stem}-{part + 1:05}-of-{parts:05}.gguf"
        write_file(path.with_name(name), own, tensors[part * each : (part + 1) * each], kind)


# ---- names

LLAMA = [
    (r"(model\.)?embed_tokens", "token_embd"), (r"model\.norm", "output_norm"), (r"model\.final_layernorm", "output_norm"),
    (r"lm_head", "output"),
    (r"input_layernorm", "attn_norm"), (r"post_attention_layernorm", "ffn_norm"),
    (r"self_attn\.([qkv])_proj", r"attn_\1"), (r"self_attn\.(o_proj|dense)", "attn_output"),
    (r"self_attn\.qkv_proj", "attn_qkv"), (r"self_attn\.([qk])_(layer)?norm", r"attn_\1_norm"),
    (r"mlp\.gate_up_proj", "ffn_up"), (r"mlp\.(fc1|c_fc)", "ffn_up"), (r"mlp\.(fc2|c_proj)", "ffn_down"),
    (r"mlp\.shared_experts?\.(gate|up|down)_proj", r"ffn_\1_shexp"), (r"mlp\.shared_expert_gate", "ffn_gate_inp_shexp"),
    (r"mlp\.experts\.(gate|up|down)_proj", r"ffn_\1_exps"), (r"mlp\.(gate|up|down)_proj", r"ffn_\1"),
    (r"mlp\.gate\.e_score_correction_bias", "exp_probs_b.bias"), (r"mlp\.gate", "ffn_gate_inp"),
    (r"block_sparse_moe\.gate", "ffn_gate_inp"), (r"block_sparse_moe\.experts\.(gate|up|down)_proj", r"ffn_\1_exps"),
    (r"self_attn\.q_a_proj", "attn_q_a"), (r"self_attn\.q_a_layernorm", "attn_q_a_norm"), (r"self_attn\.q_b_proj", "attn_q_b"),
    (r"self_attn\.kv_a_proj_with_mqa", "attn_kv_a_mqa"), (r"self_attn\.kv_a_layernorm", "attn_kv_a_norm"),
    (r"self_attn\.kv_b_proj", "attn_kv_b"), (r"self_attn\.([kv])_b_proj", r"attn_\1_b"),
]
BEHIND = [
    (r"post_attention_layernorm", "post_attention_norm"), (r"pre_feedforward_layernorm", "ffn_norm"),
    (r"post_feedforward_layernorm", "post_ffw_norm"),
]
GPT = [
    (r"(transformer\.)?wte", "token_embd"), (r"(transformer\.)?wpe", "position_embd"), (r"(transformer\.)?ln_f", "output_norm"),
    (r"lm_head", "output"), (r"ln_1", "attn_norm"), (r"ln_2", "ffn_norm"), (r"attn\.c_attn", "attn_qkv"),
    (r"attn\.(c_proj|out_proj)", "attn_output"), (r"attn\.([qkv])_proj", r"attn_\1"),
    (r"mlp\.(c_fc|fc_in)", "ffn_up"), (r"mlp\.(c_proj|fc_out)", "ffn_down"),
    (r"(transformer\.)?norm_f", "output_norm"), (r"norm_1", "attn_norm"), (r"norm_2", "ffn_norm"), (r"attn\.Wqkv", "attn_qkv"),
    (r"ffn\.(up|down)_proj", r"ffn_\1"),
]
BLOOM = [
    (r"(transformer\.)?word_embeddings", "token_embd"), (r"(transformer\.)?word_embeddings_layernorm", "token_embd_norm"),
    (r"(transformer\.)?ln_f", "output_norm"), (r"lm_head", "output"), (r"gpt_neox\.embed_in", "token_embd"), (r"embed_out", "output"),
    (r"gpt_neox\.final_layer_norm", "output_norm"), (r"(input_layernorm|ln_mlp)", "attn_norm"), (r"ln_attn", "attn_norm_2"),
    (r"(self_attention|attention)\.query_key_value", "attn_qkv"), (r"(self_attention|attention)\.dense", "attn_output"),
    (r"post_attention_layernorm", "ffn_norm"), (r"mlp\.dense_h_to_4h", "ffn_up"), (r"mlp\.dense_4h_to_h", "ffn_down"),
]
MAMBA = [
    (r"backbone\.embeddings", "token_embd"), (r"backbone\.norm_f", "output_norm"), (r"lm_head", "output"), (r"norm", "attn_norm"),
    (r"mixer\.(in|x|dt|out)_proj", r"ssm_\1"), (r"mixer\.conv1d", "ssm_conv1d"), (r"mixer\.A_log", "ssm_a"), (r"mixer\.D", "ssm_d"),
]
BERT = [
    (r"embeddings\.word_embeddings", "token_embd"), (r"embeddings\.position_embeddings", "position_embd"),
    (r"embeddings\.token_type_embeddings", "token_types"), (r"(embeddings\.LayerNorm|emb_ln)", "token_embd_norm"),
    (r"attention\.self\.query", "attn_q"), (r"attention\.self\.key", "attn_k"), (r"attention\.self\.value", "attn_v"),
    (r"attention\.output\.dense", "attn_output"), (r"attention\.output\.LayerNorm", "attn_output_norm"),
    (r"intermediate\.dense", "ffn_up"), (r"output\.dense", "ffn_down"), (r"output\.LayerNorm", "layer_output_norm"),
    (r"attn\.Wqkv", "attn_qkv"), (r"attn\.out_proj", "attn_output"), (r"norm1", "attn_output_norm"), (r"norm2", "layer_output_norm"),
    (r"mlp\.fc11", "ffn_up"), (r"mlp\.fc12", "ffn_gate"), (r"mlp\.fc2", "ffn_down"),
]
LAYER = re.compile(r"(?:(?:model|transformer|gpt_neox|backbone|encoder)\.)?(?:layers|layer|h|blocks)\.(\d+)\.(.*)")


def renamed(name, rules):
    match = LAYER.fullmatch(name)
    stem, front = (match[2], f"blk.{match[1]}.") if match else (name, "")
    end = next((end for end in (".weight", ".bias") if stem.endswith(end)), "")
    for pattern, new in rules:
        found = re.fullmatch(pattern, stem[: len(stem) - len(end)])
        if found:
            return front + found.expand(new) + end
    raise ValueError(f"there is no name for {name}")


# ---- what the converter does to weights


def neighbors(tensor, heads):
    """Rows so that the numbers of a head that turn together, one of each half, are neighbors."""
    rows, size = tensor.rows(), tensor.shape[0] // heads
    order = [h * size + half * (size // 2) + i for h in range(heads) for i in range(size // 2) for half in range(2)]
    return joined((rows[i] for i in order), tensor.shape)


def apart(tensor, groups, queries, size):
    """Rows of queries, keys and values that lie together for each group, as all queries, all keys and all values."""
    rows, order = tensor.rows(), []
    each = (queries + 2) * size
    for first, count in ((0, queries), (queries, 1), (queries + 1, 1)):
        order += [g * each + first * size + i for g in range(groups) for i in range(count * size)]
    return joined((rows[i] for i in order), tensor.shape)


def stacked(tensors, pattern, name, config):
    """Weights of experts, or of heads, as one tensor."""
    found = sorted(((int(m[2]), int(m[3])), n) for n in tensors if (m := re.fullmatch(pattern, n)))
    for layer in sorted({layer for (layer, _), _ in found}):
        own = [tensors.pop(n) for (other, _), n in found if other == layer]
        rows = [row for tensor in own for row in ([tensor.data] if len(tensor.shape) == 1 else tensor.rows())]
        shape = (len(own), *own[0].shape)
        tensors[name.format(layer)] = joined(rows, shape)


def stack_all(tensors, config):
    front = r"((?:model\.)?layers\.(\d+)\."
    for part in "gate_proj", "up_proj", "down_proj":
        stacked(tensors, front + r"mlp\.experts\.(\d+)\." + part + r"\.weight)", "model.layers.{}.mlp.experts." + part + ".weight", config)
    for part, old in ("gate_proj", "w1"), ("down_proj", "w2"), ("up_proj", "w3"):
        pattern = front + r"block_sparse_moe\.experts\.(\d+)\." + old + r"\.weight)"
        stacked(tensors, pattern, "model.layers.{}.block_sparse_moe.experts." + part + ".weight", config)
    for part in "q_layernorm", "k_layernorm":
        pattern = front + r"self_attn\." + part + r"\.norms\.(\d+)\.weight)"
        stacked(tensors, pattern, "model.layers.{}.self_attn." + part + ".weight", config)


def split_keys(tensors, config):
    """DeepSeek: keys and values of each head apart, those of keys turned round."""
    heads, plain, size = config["num_attention_heads"], config["qk_nope_head_dim"], config["v_head_dim"]
    for name in [name for name in tensors if name.endswith("kv_b_proj.weight")]:
        rows, rank = tensors[name].rows(), tensors[name].shape[1]
        del tensors[name]
        k, v = [], []
        for h in range(heads):
            own = rows[h * (plain + size) : (h + 1) * (plain + size)]
            k += transposed(joined(own[:plain], (plain, rank))).rows()
            v += own[plain:]
        tensors[name.replace("kv_b_proj", "k_b_proj")] = joined(k, (heads, rank, plain))
        tensors[name.replace("kv_b_proj", "v_b_proj")] = joined(v, (heads, size, rank))


def changed(name, tensor, config):
    """One weight, by the model type."""
    kind, heads = config["model_type"], config.get("num_attention_heads") or config.get("n_head") or 0
    keys = config.get("num_key_value_heads") or heads
    if kind in ("llama", "mistral", "mixtral", "smollm3", "granite", "olmo"):
        if re.search(r"q_proj\.(weight|bias)$", name):
            return neighbors(tensor, heads)
        if re.search(r"k_proj\.(weight|bias)$", name):
            return neighbors(tensor, keys)
    if kind in ("gemma", "gemma2", "gemma3_text") and name.endswith("norm.weight"):
        return mapped(tensor, lambda x: x + 1)
    if kind == "gpt2" and re.search(r"(c_attn|c_proj|c_fc)\.weight$", name):
        return transposed(tensor)
    if "query_key_value" in name:
        groups = heads if kind != "falcon" else config["num_kv_heads"]
        return apart(tensor, groups, heads // groups, config["hidden_size"] // heads)
    if kind == "mamba" and name.endswith("A_log"):
        return mapped(tensor, lambda x: -math.exp(x))
    if kind == "mamba" and name.endswith("conv1d.weight"):
        return Tensor((tensor.shape[0], tensor.shape[2]), tensor.data)
    if name.endswith("shared_expert_gate.weight"):
        return Tensor(tensor.shape[1:], tensor.data)
    return tensor


# ---- architectures: what the file calls it, the rules for names, and keys beside the usual ones

ARCHITECTURES = {
    "llama": ("llama", LLAMA), "mistral": ("llama", LLAMA), "mixtral": ("llama", LLAMA), "qwen2": ("qwen2", LLAMA),
    "qwen3": ("qwen3", LLAMA), "qwen2_moe": ("qwen2moe", LLAMA), "qwen3_moe": ("qwen3moe", LLAMA), "gemma": ("gemma", LLAMA),
    "gemma2": ("gemma2", BEHIND + LLAMA), "gemma3_text": ("gemma3", BEHIND + LLAMA), "phi": ("phi2", LLAMA), "phi3": ("phi3", LLAMA),
    "stablelm": ("stablelm", LLAMA), "starcoder2": ("starcoder2", LLAMA), "olmo": ("olmo", LLAMA), "olmo2": ("olmo2", BEHIND + LLAMA),
    "granite": ("granite", LLAMA), "cohere": ("command-r", LLAMA), "smollm3": ("smollm3", LLAMA), "deepseek_v2": ("deepseek2", LLAMA),
    "deepseek_v3": ("deepseek2", LLAMA), "gpt2": ("gpt2", GPT), "gptj": ("gptj", GPT), "mpt": ("mpt", GPT), "bloom": ("bloom", BLOOM),
    "falcon": ("falcon", BLOOM), "gpt_neox": ("gptneox", BLOOM), "mamba": ("mamba", MAMBA), "bert": ("bert", BERT),
    "nomic_bert": ("nomic-bert", BERT),
}
KEYS = [  # the file's key, and the config's
    ("block_count", int, "num_hidden_layers", "n_layer", "n_layers"), ("embedding_length", int, "hidden_size", "n_embd", "d_model"),
    ("feed_forward_length", int, "intermediate_size", "n_inner"), ("context_length", int, "max_position_embeddings", "n_positions"),
    ("attention.head_count", int, "num_attention_heads", "n_head", "n_heads"),
    ("attention.head_count_kv", int, "num_key_value_heads", "num_kv_heads"), ("attention.key_length", int, "head_dim"),
    ("attention.value_length", int, "head_dim"), ("attention.layer_norm_rms_epsilon", float, "rms_norm_eps"),
    ("attention.layer_norm_epsilon", float, "layer_norm_eps", "layer_norm_epsilon", "norm_epsilon"),
    ("attention.sliding_window", int, "sliding_window"), ("attention.clamp_kqv", float, "clip_qkv"),
    ("attention.scale", float, "attention_multiplier"), ("embedding_scale", float, "embedding_multiplier"),
    ("residual_scale", float, "residual_multiplier"), ("logit_scale", float, "logit_scale", "logits_scaling"),
    ("expert_count", int, "num_local_experts", "num_experts", "n_routed_experts"), ("expert_used_count", int, "num_experts_per_tok"),
    ("expert_feed_forward_length", int, "moe_intermediate_size"),
    ("expert_shared_feed_forward_length", int, "shared_expert_intermediate_size"), ("expert_shared_count", int, "n_shared_experts"),
    ("expert_weights_scale", float, "routed_scaling_factor"), ("expert_weights_norm", bool, "norm_topk_prob"),
    ("leading_dense_block_count", int, "first_k_dense_replace"), ("attention.q_lora_rank", int, "q_lora_rank"),
    ("attention.kv_lora_rank", int, "kv_lora_rank"), ("use_parallel_residual", bool, "use_parallel_residual"),
    ("final_logit_softcapping", float, "final_logit_softcapping"), ("rope.dimension_count", int, "rotary_dim"),
    ("ssm.conv_kernel", int, "conv_kernel"), ("ssm.inner_size", int, "intermediate_size"), ("ssm.state_size", int, "state_size"),
    ("ssm.time_step_rank", int, "time_step_rank"),
]


def metadata(config):
    kind = config["model_type"]
    name = ARCHITECTURES[kind][0]
    meta = {"general.architecture": name, "general.name": "a test"}
    for key, form, *names in KEYS:
        value = next((config[n] for n in names if config.get(n) is not None), None)
        if value is not None and (not key.startswith("ssm.") or kind == "mamba"):
            meta[f"{name}.{key}"] = form(value)
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    theta = rope.get("rope_theta", config.get("rope_theta", config.get("rotary_emb_base")))
    if theta:
        meta[f"{name}.rope.freq_base"] = float(theta)
    add_rotary(meta, name, config, rope)
    add_own(meta, name, config)
    meta.update(config.get("gguf_keys") or {})  # as they are, such as a vocabulary
    return meta


def add_rotary(meta, name, config, rope):
    heads = config.get("num_attention_heads") or config.get("n_head")
    part = rope.get("partial_rotary_factor", config.get("partial_rotary_factor", config.get("rotary_pct")))
    if part is not None:
        meta[f"{name}.rope.dimension_count"] = int(part * (config.get("head_dim") or config["hidden_size"] // heads))
    if rope.get("rope_type") == "longrope":
        length = rope["original_max_position_embeddings"]
        scale = config["max_position_embeddings"] / length
        meta[f"{name}.rope.scaling.original_context_length"] = length
        meta[f"{name}.rope.scaling.attn_factor"] = math.sqrt(1 + math.log(scale) / math.log(length))
    if rope.get("rope_type") in ("linear", "yarn"):
        meta[f"{name}.rope.scaling.type"] = rope["rope_type"]
        meta[f"{name}.rope.scaling.factor"] = float(rope["factor"])
        if "original_max_position_embeddings" in rope:
            meta[f"{name}.rope.scaling.original_context_length"] = rope["original_max_position_embeddings"]


def add_own(meta, name, config):
    kind = config["model_type"]
    if kind == "gemma2":  # PyTorch's own attention, which made the answers, does not keep scores small
        meta["gemma2.attn_logit_softcapping"] = 0.0
    if kind == "mamba":
        meta["mamba.attention.layer_norm_rms_epsilon"] = meta.pop("mamba.attention.layer_norm_epsilon")
        meta.update({"mamba.feed_forward_length": 0, "mamba.attention.head_count": 0, "mamba.ssm.dt_b_c_rms": False})
    if kind == "mpt":
        meta["mpt.attention.max_alibi_bias"] = 8.0
    if kind in ("deepseek_v2", "deepseek_v3"):
        turned, plain = config["qk_rope_head_dim"], config["qk_nope_head_dim"]
        meta["deepseek2.attention.head_count_kv"] = 1
        meta["deepseek2.attention.key_length"] = config["kv_lora_rank"] + turned
        meta["deepseek2.attention.value_length"] = config["kv_lora_rank"]
        meta["deepseek2.attention.key_length_mla"] = plain + turned
        meta["deepseek2.attention.value_length_mla"] = config["v_head_dim"]
        meta["deepseek2.rope.dimension_count"] = turned
    if kind == "deepseek_v3":
        meta["deepseek2.expert_gating_func"] = 2


def rope_factors(config):
    """Llama 3: what each frequency is divided by."""
    rope = config.get("rope_parameters") or {}
    size = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    length, low, high = rope["original_max_position_embeddings"], rope["low_freq_factor"], rope["high_freq_factor"]
    out = array.array("f")
    for i in range(0, size, 2):
        wave = 2 * math.pi * rope["rope_theta"] ** (i / size)
        smooth = min(max((length / wave - low) / (high - low), 0), 1)
        out.append(1 / ((1 - smooth) / rope["factor"] + smooth))
    return Tensor((len(out),), out)


def fuse(tensors):
    """As older files have it: queries, keys and values in one tensor."""
    for name in [name for name in tensors if re.search(r"\.attn_q\.", name)]:
        parts = [tensors.pop(name.replace("attn_q.", f"attn_{part}.")) for part in "qkv"]
        rows = [row for part in parts for row in part.rows()]
        tensors[name.replace("attn_q.", "attn_qkv.")] = joined(rows, (len(rows), *parts[0].shape[1:]))


def unstack(tensors):
    """As older files have it: a tensor for each expert."""
    for name in [name for name in tensors if "_exps." in name]:
        stack = tensors.pop(name)
        for i, data in enumerate(stack.rows()):
            tensors[name.replace("_exps.", f".{i}.")] = Tensor(stack.shape[1:], data)


def convert(folder, path, kind="f32", parts=1):
    config, tensors = read_folder(folder)
    if config["model_type"] not in ARCHITECTURES:
        raise ValueError(f"there is no architecture for {config['model_type']}")
    rules = ARCHITECTURES[config["model_type"]][1]
    tensors = {name: changed(name, tensor, config) for name, tensor in tensors.items() if not name.startswith("pooler.")}
    stack_all(tensors, config)
    if config["model_type"] in ("deepseek_v2", "deepseek_v3"):
        split_keys(tensors, config)
    tensors = {renamed(name, rules): tensor for name, tensor in tensors.items()}
    if config.get("file_is_old") == "fused":
        fuse(tensors)
    if config.get("file_is_old") == "experts":
        unstack(tensors)
    if (config.get("rope_parameters") or {}).get("rope_type") == "llama3":
        tensors["rope_freqs.weight"] = rope_factors(config)
    for length in "long", "short":
        factors = (config.get("rope_parameters") or {}).get(f"{length}_factor")
        if factors:
            tensors[f"rope_factors_{length}.weight"] = Tensor((len(factors),), array.array("f", factors))
    write_files(path, metadata(config), tensors, kind, parts)


# ---- random folders

BASE = {"vocab_size": 48, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 64}
RMS, EPS = {"rms_norm_eps": 1e-6}, {"layer_norm_eps": 1e-5}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
LATENT = {"q_lora_rank": 16, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8, "n_routed_experts": 4,
          "n_shared_experts": 1, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "first_k_dense_replace": 1,
          "routed_scaling_factor": 1.5, "n_group": 1, "topk_group": 1}
GPT_SIZES = {"vocab_size": 48, "n_embd": 32, "n_layer": 2, "n_head": 4, "layer_norm_epsilon": 1e-5}
ROPE3 = {"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
         "original_max_position_embeddings": 32}
LONG = {"rope_type": "longrope", "rope_theta": 10000.0, "long_factor": [1.0, 2.0, 3.0, 5.0], "short_factor": [1.0, 1.0, 1.5, 2.0],
        "original_max_position_embeddings": 8}
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 16}

# name: architecture, config, parts of a layer beside the usual ones ("-" takes one away)
RANDOM = {
    "llama": ("LlamaForCausalLM", BASE | RMS | {"rope_parameters": ROPE3}, ""),
    "llama_bias": ("LlamaForCausalLM", BASE | RMS | {"rope_parameters": {"rope_type": "linear", "factor": 2.0}}, "qkv_bias"),
    "mixtral": ("MixtralForCausalLM", BASE | RMS | {"rope_theta": 500.0, "num_local_experts": 4, "num_experts_per_tok": 2, "head_dim": 8}, "mixtral -mlp"),
    "mixtral_old": ("MixtralForCausalLM", BASE | RMS | {"rope_theta": 500.0, "num_local_experts": 2, "num_experts_per_tok": 1,
                                                        "file_is_old": "experts"}, "mixtral -mlp"),
    "qwen2": ("Qwen2ForCausalLM", BASE | RMS | {"rope_parameters": YARN}, "qkv_bias"),
    "qwen3": ("Qwen3ForCausalLM", BASE | RMS | {"head_dim": 16}, "head_norms"),
    "qwen2_moe": ("Qwen2MoeForCausalLM", BASE | RMS | EXPERTS | {"shared_expert_intermediate_size": 32}, "qkv_bias experts shared_expert -mlp"),
    "qwen3_moe": ("Qwen3MoeForCausalLM", BASE | RMS | EXPERTS | {"norm_topk_prob": True}, "head_norms experts -mlp"),
    "gemma": ("GemmaForCausalLM", BASE | RMS, "tied"),
    "gemma2": ("Gemma2ForCausalLM", BASE | RMS | {"query_pre_attn_scalar": 8, "sliding_window": 4, "final_logit_softcapping": 3.0},
               "tied behind"),
    "gemma3_text": ("Gemma3ForCausalLM", BASE | RMS | {"query_pre_attn_scalar": 8, "sliding_window": 4, "num_hidden_layers": 7,
                                                       "rope_theta": 50000.0}, "tied behind head_norms"),
    "phi": ("PhiForCausalLM", BASE | EPS | {"partial_rotary_factor": 0.5}, "all_bias norm_bias fc dense final head_bias -post"),
    "phi_fused": ("PhiForCausalLM", BASE | EPS | {"partial_rotary_factor": 0.5, "file_is_old": "fused"},
                  "all_bias norm_bias fc dense final head_bias -post"),
    "phi3_long": ("Phi3ForCausalLM", BASE | RMS | {"rope_parameters": LONG}, "fused"),
    "phi3": ("Phi3ForCausalLM", BASE | RMS | {"original_max_position_embeddings": 64}, "fused"),
    "stablelm": ("StableLmForCausalLM", BASE | EPS | {"partial_rotary_factor": 0.25, "qk_layernorm": True}, "norm_bias each_head"),
    "starcoder2": ("Starcoder2ForCausalLM", BASE | {"norm_epsilon": 1e-5}, "all_bias norm_bias c_fc tied"),
    "olmo": ("OlmoForCausalLM", BASE | {"clip_qkv": 0.5}, "-norms"),
    "olmo2": ("Olmo2ForCausalLM", BASE | RMS, "wide_norms behind -pre"),
    "granite": ("GraniteForCausalLM", BASE | RMS | {"embedding_multiplier": 2.0, "logits_scaling": 3.0, "residual_multiplier": 0.5,
                                                    "attention_multiplier": 0.2}, "tied"),
    "cohere": ("CohereForCausalLM", BASE | EPS | {"logit_scale": 0.25, "use_qk_norm": True}, "tied cohere_norms -post"),
    "smollm3": ("SmolLM3ForCausalLM", BASE | RMS | {"num_hidden_layers": 4, "rope_theta": 20000.0}, "tied"),
    "deepseek_v2": ("DeepseekV2ForCausalLM", BASE | RMS | LATENT, "latent"),
    "deepseek_v3": ("DeepseekV3ForCausalLM", BASE | RMS | LATENT | {"norm_topk_prob": True}, "latent correction"),
    "gptj": ("GPTJForCausalLM", GPT_SIZES | {"rotary_dim": 4}, "gptj"),
    "mpt": ("MptForCausalLM", {"vocab_size": 48, "d_model": 32, "n_layers": 2, "n_heads": 4, "layer_norm_epsilon": 1e-5}, "mpt"),
    "falcon": ("FalconForCausalLM", BASE | {"num_kv_heads": 2, "new_decoder_architecture": True, "layer_norm_epsilon": 1e-5}, "falcon"),
    "falcon_7b": ("FalconForCausalLM", BASE | {"num_kv_heads": 1, "layer_norm_epsilon": 1e-5}, "falcon"),
    "nomic_bert": ("NomicBertModel", BASE | {"layer_norm_eps": 1e-12, "type_vocab_size": 2, "rope_theta": 1000.0,
                                             "num_key_value_heads": None, "head_dim": None}, "nomic"),
}


class Shapes(dict):
    def linear(self, name, inputs, outputs, bias=False):
        self[name + ".weight"] = [outputs, inputs]
        if bias:
            self[name + ".bias"] = [outputs]

    def norm(self, name, size, bias=False):
        self[name + ".weight"] = [size]
        if bias:
            self[name + ".bias"] = [size]


def experts_of(s, at, c, words):
    inner = c.get("moe_intermediate_size", c["intermediate_size"])
    count = c.get("num_experts") or c.get("n_routed_experts")
    s.linear(f"{at}.mlp.gate", c["hidden_size"], count)
    if "correction" in words:
        s[f"{at}.mlp.gate.e_score_correction_bias"] = [count]
    for i in range(count):
        gated(s, f"{at}.mlp.experts.{i}", c["hidden_size"], inner)


def gated(s, at, size, inner, names=("gate_proj", "up_proj", "down_proj")):
    s.linear(f"{at}.{names[0]}", size, inner)
    s.linear(f"{at}.{names[1]}", size, inner)
    s.linear(f"{at}.{names[2]}", inner, size)


def attention_of(s, at, c, words):
    size, queries = c["hidden_size"], c["num_attention_heads"] * c["head_dim"]
    keys, both = c["num_key_value_heads"] * c["head_dim"], "all_bias" in words
    if "fused" in words:
        s.linear(f"{at}.qkv_proj", size, queries + 2 * keys)
    else:
        s.linear(f"{at}.q_proj", size, queries, both or "qkv_bias" in words)
        s.linear(f"{at}.k_proj", size, keys, both or "qkv_bias" in words)
        s.linear(f"{at}.v_proj", size, keys, both or "qkv_bias" in words)
    s.linear(f"{at}.{'dense' if 'dense' in words else 'o_proj'}", queries, size, both)
    for part, count in ("q", c["num_attention_heads"]), ("k", c["num_key_value_heads"]):
        if "head_norms" in words:
            s.norm(f"{at}.{part}_norm", c["head_dim"])
        if "wide_norms" in words:
            s.norm(f"{at}.{part}_norm", count * c["head_dim"])
        if "cohere_norms" in words:
            s[f"{at}.{part}_norm.weight"] = [count, c["head_dim"]]
        for head in range(count if "each_head" in words else 0):
            s.norm(f"{at}.{part}_layernorm.norms.{head}", c["head_dim"])


def latent_of(s, at, c):
    size, heads = c["hidden_size"], c["num_attention_heads"]
    wide = c["qk_nope_head_dim"] + c["qk_rope_head_dim"]
    s.linear(f"{at}.q_a_proj", size, c["q_lora_rank"])
    s.norm(f"{at}.q_a_layernorm", c["q_lora_rank"])
    s.linear(f"{at}.q_b_proj", c["q_lora_rank"], heads * wide)
    s.linear(f"{at}.kv_a_proj_with_mqa", size, c["kv_lora_rank"] + c["qk_rope_head_dim"])
    s.norm(f"{at}.kv_a_layernorm", c["kv_lora_rank"])
    s.linear(f"{at}.kv_b_proj", c["kv_lora_rank"], heads * (c["qk_nope_head_dim"] + c["v_head_dim"]))
    s.linear(f"{at}.o_proj", heads * c["v_head_dim"], size)


def products_of(s, at, c, words, layer):
    size, inner = c["hidden_size"], c["intermediate_size"]
    if "latent" in words and layer >= c["first_k_dense_replace"]:
        experts_of(s, at, c, words)
        gated(s, f"{at}.mlp.shared_experts", size, c["moe_intermediate_size"] * c["n_shared_experts"])
    elif "experts" in words:
        experts_of(s, at, c, words)
        if "shared_expert" in words:
            gated(s, f"{at}.mlp.shared_expert", size, c["shared_expert_intermediate_size"])
            s.linear(f"{at}.mlp.shared_expert_gate", size, 1)
    elif "mixtral" in words:
        s.linear(f"{at}.block_sparse_moe.gate", size, c["num_local_experts"])
        for i in range(c["num_local_experts"]):
            gated(s, f"{at}.block_sparse_moe.experts.{i}", size, inner, ("w1", "w3", "w2"))
    elif "fc" in words or "c_fc" in words:
        first, second = ("fc1", "fc2") if "fc" in words else ("c_fc", "c_proj")
        s.linear(f"{at}.mlp.{first}", size, inner, True)
        s.linear(f"{at}.mlp.{second}", inner, size, True)
    elif "fused" in words:
        s.linear(f"{at}.mlp.gate_up_proj", size, 2 * inner)
        s.linear(f"{at}.mlp.down_proj", inner, size)
    else:
        gated(s, f"{at}.mlp", size, inner)


def like_llama(c, words):
    s, size, bias = Shapes(), c["hidden_size"], "norm_bias" in words
    s["model.embed_tokens.weight"] = [c["vocab_size"], size]
    for layer in range(c["num_hidden_layers"]):
        at = f"model.layers.{layer}"
        if "latent" in words:
            latent_of(s, f"{at}.self_attn", c)
        else:
            attention_of(s, f"{at}.self_attn", c, words)
        products_of(s, at, c, words, layer)
        if "-norms" in words:
            continue
        if "-pre" not in words:
            s.norm(f"{at}.input_layernorm", size, bias)
        if "-post" not in words:
            s.norm(f"{at}.post_attention_layernorm", size, bias)
        if "behind" in words:
            s.norm(f"{at}.post_feedforward_layernorm", size)
        if "behind" in words and "-pre" not in words:
            s.norm(f"{at}.pre_feedforward_layernorm", size)
    if "-norms" not in words:
        s.norm("model.final_layernorm" if "final" in words else "model.norm", size, bias)
    if "tied" not in words:
        s.linear("lm_head", size, c["vocab_size"], "head_bias" in words)
    return s


def like_gptj(c, words):
    s, size = Shapes(), c["n_embd"]
    s["transformer.wte.weight"] = [c["vocab_size"], size]
    for layer in range(c["n_layer"]):
        at = f"transformer.h.{layer}"
        s.norm(f"{at}.ln_1", size, True)
        for part in "q_proj", "k_proj", "v_proj", "out_proj":
            s.linear(f"{at}.attn.{part}", size, size)
        s.linear(f"{at}.mlp.fc_in", size, 4 * size, True)
        s.linear(f"{at}.mlp.fc_out", 4 * size, size, True)
    s.norm("transformer.ln_f", size, True)
    s.linear("lm_head", size, c["vocab_size"], True)
    return s


def like_mpt(c, words):
    s, size = Shapes(), c["d_model"]
    s["transformer.wte.weight"] = [c["vocab_size"], size]
    for layer in range(c["n_layers"]):
        at = f"transformer.blocks.{layer}"
        s.norm(f"{at}.norm_1", size)
        s.linear(f"{at}.attn.Wqkv", size, 3 * size)
        s.linear(f"{at}.attn.out_proj", size, size)
        s.norm(f"{at}.norm_2", size)
        s.linear(f"{at}.ffn.up_proj", size, 4 * size)
        s.linear(f"{at}.ffn.down_proj", 4 * size, size)
    s.norm("transformer.norm_f", size)
    return s


def like_falcon(c, words):
    s, size, head = Shapes(), c["hidden_size"], c["hidden_size"] // c["num_attention_heads"]
    s["transformer.word_embeddings.weight"] = [c["vocab_size"], size]
    for layer in range(c["num_hidden_layers"]):
        at = f"transformer.h.{layer}"
        for name in ("ln_attn", "ln_mlp") if c.get("new_decoder_architecture") else ("input_layernorm",):
            s.norm(f"{at}.{name}", size, True)
        s.linear(f"{at}.self_attention.query_key_value", size, size + 2 * c["num_kv_heads"] * head)
        s.linear(f"{at}.self_attention.dense", size, size)
        s.linear(f"{at}.mlp.dense_h_to_4h", size, 4 * size)
        s.linear(f"{at}.mlp.dense_4h_to_h", 4 * size, size)
    s.norm("transformer.ln_f", size, True)
    return s


def like_nomic(c, words):
    s, size, inner = Shapes(), c["hidden_size"], c["intermediate_size"]
    s["embeddings.word_embeddings.weight"] = [c["vocab_size"], size]
    s["embeddings.token_type_embeddings.weight"] = [c["type_vocab_size"], size]
    s.norm("emb_ln", size, True)
    for layer in range(c["num_hidden_layers"]):
        at = f"encoder.layers.{layer}"
        s.linear(f"{at}.attn.Wqkv", size, 3 * size)
        s.linear(f"{at}.attn.out_proj", size, size)
        gated(s, f"{at}.mlp", size, inner, ("fc11", "fc12", "fc2"))
        s.norm(f"{at}.norm1", size, True)
        s.norm(f"{at}.norm2", size, True)
    return s


def make_random(name, folder):
    architecture, config, words = RANDOM[name]
    words = words.split()
    makers = {"gptj": like_gptj, "mpt": like_mpt, "falcon": like_falcon, "nomic": like_nomic}
    maker = next((makers[word] for word in words if word in makers), like_llama)
    kind = {"llama_bias": "llama", "falcon_7b": "falcon", "phi_fused": "phi", "phi3_long": "phi3", "mixtral_old": "mixtral"}.get(name, name)
    config = {key: value for key, value in config.items() if value is not None}
    if maker is like_falcon:
        config = {k: v for k, v in config.items() if k not in ("intermediate_size", "head_dim", "num_key_value_heads")}
    config = {"architectures": [architecture], "model_type": kind} | config
    write_folder(folder, config, maker(config, words))


def main():
    command, *rest = sys.argv[1:]
    if command == "types":
        print("\n".join(RANDOM))
    elif command == "random":
        make_random(rest[0], pathlib.Path(rest[1]))
    else:
        convert(pathlib.Path(rest[0]), pathlib.Path(rest[1]), *rest[2:3], *map(int, rest[3:4]))


if __name__ == "__main__":
    main()
