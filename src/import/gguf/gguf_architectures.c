// gguf_architectures.c - the architectures of GGUF files: which family describes each, what its tensors are called, and
// what the file has otherwise than the family's authors.
#include "import/gguf/gguf_model.h"

// ---- names

// Layers of LLaMA's kind, and the names that most decoders share.
const HoloGgufName holo_gguf_common_names[] = {
    {.wanted = "embed_tokens", .tensor = "token_embd"},
    {.wanted = "norm", .tensor = "output_norm"},
    {.wanted = "final_layernorm", .tensor = "output_norm"},
    {.wanted = "lm_head", .tensor = "output"},
    {.wanted = "layers.#.input_layernorm", .tensor = "blk.#.attn_norm"},
    {.wanted = "layers.#.self_attn.q_proj", .tensor = "blk.#.attn_q"},
    {.wanted = "layers.#.self_attn.k_proj", .tensor = "blk.#.attn_k"},
    {.wanted = "layers.#.self_attn.v_proj", .tensor = "blk.#.attn_v"},
    {.wanted = "layers.#.self_attn.q_proj", .tensor = "blk.#.attn_qkv", .part = HOLO_GGUF_QUERIES},
    {.wanted = "layers.#.self_attn.k_proj", .tensor = "blk.#.attn_qkv", .part = HOLO_GGUF_KEYS},
    {.wanted = "layers.#.self_attn.v_proj", .tensor = "blk.#.attn_qkv", .part = HOLO_GGUF_VALUES},
    {.wanted = "layers.#.self_attn.qkv_proj", .tensor = "blk.#.attn_qkv"},
    {.wanted = "layers.#.self_attn.o_proj", .tensor = "blk.#.attn_output"},
    {.wanted = "layers.#.self_attn.dense", .tensor = "blk.#.attn_output"},
    {.wanted = "layers.#.self_attn.q_norm", .tensor = "blk.#.attn_q_norm"},
    {.wanted = "layers.#.self_attn.k_norm", .tensor = "blk.#.attn_k_norm"},
    {.wanted = "layers.#.post_attention_layernorm", .tensor = "blk.#.ffn_norm"},
    {.wanted = "layers.#.mlp.gate_proj", .tensor = "blk.#.ffn_gate"},
    {.wanted = "layers.#.mlp.up_proj", .tensor = "blk.#.ffn_up"},
    {.wanted = "layers.#.mlp.gate_up_proj", .tensor = "blk.#.ffn_up"},
    {.wanted = "layers.#.mlp.down_proj", .tensor = "blk.#.ffn_down"},
    {.wanted = "layers.#.mlp.fc1", .tensor = "blk.#.ffn_up"},
    {.wanted = "layers.#.mlp.fc2", .tensor = "blk.#.ffn_down"},
    {.wanted = "layers.#.mlp.c_fc", .tensor = "blk.#.ffn_up"},
    {.wanted = "layers.#.mlp.c_proj", .tensor = "blk.#.ffn_down"},
    {.wanted = "layers.#.mlp.gate", .tensor = "blk.#.ffn_gate_inp"},
    {.wanted = "layers.#.mlp.gate.e_score_correction_bias", .tensor = "blk.#.exp_probs_b.bias"},
    {.wanted = "layers.#.mlp.experts.#.gate_proj", .tensor = "blk.#.ffn_gate_exps", .part = HOLO_GGUF_ITEM},
    {.wanted = "layers.#.mlp.experts.#.up_proj", .tensor = "blk.#.ffn_up_exps", .part = HOLO_GGUF_ITEM},
    {.wanted = "layers.#.mlp.experts.#.gate_proj", .tensor = "blk.#.ffn_gate_up_exps", .part = HOLO_GGUF_FIRST},
    {.wanted = "layers.#.mlp.experts.#.up_proj", .tensor = "blk.#.ffn_gate_up_exps", .part = HOLO_GGUF_SECOND},
    {.wanted = "layers.#.mlp.experts.#.down_proj", .tensor = "blk.#.ffn_down_exps", .part = HOLO_GGUF_ITEM},
    {0},
};

static const HoloGgufName mixtral_names[] = {
    {.wanted = "layers.#.block_sparse_moe.gate", .tensor = "blk.#.ffn_gate_inp"},
    {.wanted = "layers.#.block_sparse_moe.experts.#.w1", .tensor = "blk.#.ffn_gate_exps", .part = HOLO_GGUF_ITEM},
    {.wanted = "layers.#.block_sparse_moe.experts.#.w2", .tensor = "blk.#.ffn_down_exps", .part = HOLO_GGUF_ITEM},
    {.wanted = "layers.#.block_sparse_moe.experts.#.w3", .tensor = "blk.#.ffn_up_exps", .part = HOLO_GGUF_ITEM},
    {.wanted = "layers.#.block_sparse_moe.experts.#.w1", .tensor = "blk.#.ffn_gate_up_exps", .part = HOLO_GGUF_FIRST},
    {.wanted = "layers.#.block_sparse_moe.experts.#.w3", .tensor = "blk.#.ffn_gate_up_exps", .part = HOLO_GGUF_SECOND},
    // Older files have a tensor for each expert.
    {.wanted = "layers.#.block_sparse_moe.experts.#.w1", .tensor = "blk.#.ffn_gate.#"},
    {.wanted = "layers.#.block_sparse_moe.experts.#.w2", .tensor = "blk.#.ffn_down.#"},
    {.wanted = "layers.#.block_sparse_moe.experts.#.w3", .tensor = "blk.#.ffn_up.#"},
    {0},
};

static const HoloGgufName qwen2_moe_names[] = {
    {.wanted = "layers.#.mlp.shared_expert.gate_proj", .tensor = "blk.#.ffn_gate_shexp"},
    {.wanted = "layers.#.mlp.shared_expert.up_proj", .tensor = "blk.#.ffn_up_shexp"},
    {.wanted = "layers.#.mlp.shared_expert.down_proj", .tensor = "blk.#.ffn_down_shexp"},
    {.wanted = "layers.#.mlp.shared_expert_gate", .tensor = "blk.#.ffn_gate_inp_shexp", .rank = 2, .one_at = 0},
    {0},
};

static const HoloGgufName deepseek_names[] = {
    {.wanted = "layers.#.self_attn.q_a_proj", .tensor = "blk.#.attn_q_a"},
    {.wanted = "layers.#.self_attn.q_a_layernorm", .tensor = "blk.#.attn_q_a_norm"},
    {.wanted = "layers.#.self_attn.q_b_proj", .tensor = "blk.#.attn_q_b"},
    {.wanted = "layers.#.self_attn.kv_a_proj_with_mqa", .tensor = "blk.#.attn_kv_a_mqa"},
    {.wanted = "layers.#.self_attn.kv_a_layernorm", .tensor = "blk.#.attn_kv_a_norm"},
    {.wanted = "layers.#.self_attn.kv_b_proj", .tensor = "blk.#.attn_kv_b"},
    {.wanted = "layers.#.self_attn.k_b_proj", .tensor = "blk.#.attn_k_b"},
    {.wanted = "layers.#.self_attn.v_b_proj", .tensor = "blk.#.attn_v_b"},
    {.wanted = "layers.#.mlp.shared_experts.gate_proj", .tensor = "blk.#.ffn_gate_shexp"},
    {.wanted = "layers.#.mlp.shared_experts.up_proj", .tensor = "blk.#.ffn_up_shexp"},
    {.wanted = "layers.#.mlp.shared_experts.down_proj", .tensor = "blk.#.ffn_down_shexp"},
    {0},
};

// Normalization before and behind each part.
static const HoloGgufName gemma2_names[] = {
    {.wanted = "layers.#.post_attention_layernorm", .tensor = "blk.#.post_attention_norm"},
    {.wanted = "layers.#.pre_feedforward_layernorm", .tensor = "blk.#.ffn_norm"},
    {.wanted = "layers.#.post_feedforward_layernorm", .tensor = "blk.#.post_ffw_norm"},
    {0},
};

static const HoloGgufName stablelm_names[] = {
    {.wanted = "layers.#.self_attn.q_layernorm.norms.#", .tensor = "blk.#.attn_q_norm", .part = HOLO_GGUF_ITEM},
    {.wanted = "layers.#.self_attn.k_layernorm.norms.#", .tensor = "blk.#.attn_k_norm", .part = HOLO_GGUF_ITEM},
    {0},
};

static const HoloGgufName gpt2_names[] = {
    {.wanted = "wte", .tensor = "token_embd"},
    {.wanted = "wpe", .tensor = "position_embd"},
    {.wanted = "ln_f", .tensor = "output_norm"},
    {.wanted = "h.#.ln_1", .tensor = "blk.#.attn_norm"},
    {.wanted = "h.#.attn.c_attn", .tensor = "blk.#.attn_qkv"},
    {.wanted = "h.#.attn.c_proj", .tensor = "blk.#.attn_output"},
    {.wanted = "h.#.ln_2", .tensor = "blk.#.ffn_norm"},
    {.wanted = "h.#.mlp.c_fc", .tensor = "blk.#.ffn_up"},
    {.wanted = "h.#.mlp.c_proj", .tensor = "blk.#.ffn_down"},
    {0},
};

static const HoloGgufName gptj_names[] = {
    {.wanted = "wte", .tensor = "token_embd"},
    {.wanted = "ln_f", .tensor = "output_norm"},
    {.wanted = "h.#.ln_1", .tensor = "blk.#.attn_norm"},
    {.wanted = "h.#.attn.q_proj", .tensor = "blk.#.attn_q"},
    {.wanted = "h.#.attn.k_proj", .tensor = "blk.#.attn_k"},
    {.wanted = "h.#.attn.v_proj", .tensor = "blk.#.attn_v"},
    {.wanted = "h.#.attn.out_proj", .tensor = "blk.#.attn_output"},
    {.wanted = "h.#.mlp.fc_in", .tensor = "blk.#.ffn_up"},
    {.wanted = "h.#.mlp.fc_out", .tensor = "blk.#.ffn_down"},
    {0},
};

static const HoloGgufName gpt_neox_names[] = {
    {.wanted = "embed_in", .tensor = "token_embd"},
    {.wanted = "embed_out", .tensor = "output"},
    {.wanted = "final_layer_norm", .tensor = "output_norm"},
    {.wanted = "layers.#.attention.query_key_value", .tensor = "blk.#.attn_qkv"},
    {.wanted = "layers.#.attention.dense", .tensor = "blk.#.attn_output"},
    {.wanted = "layers.#.mlp.dense_h_to_4h", .tensor = "blk.#.ffn_up"},
    {.wanted = "layers.#.mlp.dense_4h_to_h", .tensor = "blk.#.ffn_down"},
    {0},
};

// Of BLOOM and of Falcon. A Falcon with two normalizations has that of attention as the second.
static const HoloGgufName bloom_names[] = {
    {.wanted = "word_embeddings", .tensor = "token_embd"},
    {.wanted = "word_embeddings_layernorm", .tensor = "token_embd_norm"},
    {.wanted = "ln_f", .tensor = "output_norm"},
    {.wanted = "h.#.input_layernorm", .tensor = "blk.#.attn_norm"},
    {.wanted = "h.#.ln_mlp", .tensor = "blk.#.attn_norm"},
    {.wanted = "h.#.ln_attn", .tensor = "blk.#.attn_norm_2"},
    {.wanted = "h.#.self_attention.query_key_value", .tensor = "blk.#.attn_qkv"},
    {.wanted = "h.#.self_attention.dense", .tensor = "blk.#.attn_output"},
    {.wanted = "h.#.post_attention_layernorm", .tensor = "blk.#.ffn_norm"},
    {.wanted = "h.#.mlp.dense_h_to_4h", .tensor = "blk.#.ffn_up"},
    {.wanted = "h.#.mlp.dense_4h_to_h", .tensor = "blk.#.ffn_down"},
    {0},
};

static const HoloGgufName mpt_names[] = {
    {.wanted = "wte", .tensor = "token_embd"},
    {.wanted = "norm_f", .tensor = "output_norm"},
    {.wanted = "blocks.#.norm_1", .tensor = "blk.#.attn_norm"},
    {.wanted = "blocks.#.attn.Wqkv", .tensor = "blk.#.attn_qkv"},
    {.wanted = "blocks.#.attn.out_proj", .tensor = "blk.#.attn_output"},
    {.wanted = "blocks.#.norm_2", .tensor = "blk.#.ffn_norm"},
    {.wanted = "blocks.#.ffn.up_proj", .tensor = "blk.#.ffn_up"},
    {.wanted = "blocks.#.ffn.down_proj", .tensor = "blk.#.ffn_down"},
    {0},
};

static const HoloGgufName mamba_names[] = {
    {.wanted = "embeddings", .tensor = "token_embd"},
    {.wanted = "norm_f", .tensor = "output_norm"},
    {.wanted = "layers.#.norm", .tensor = "blk.#.attn_norm"},
    {.wanted = "layers.#.mixer.in_proj", .tensor = "blk.#.ssm_in"},
    {.wanted = "layers.#.mixer.conv1d.weight", .tensor = "blk.#.ssm_conv1d.weight", .rank = 3, .one_at = 1},
    {.wanted = "layers.#.mixer.conv1d.bias", .tensor = "blk.#.ssm_conv1d.bias"},
    {.wanted = "layers.#.mixer.x_proj", .tensor = "blk.#.ssm_x"},
    {.wanted = "layers.#.mixer.dt_proj", .tensor = "blk.#.ssm_dt"},
    {.wanted = "layers.#.mixer.A", .tensor = "blk.#.ssm_a"},
    {.wanted = "layers.#.mixer.D", .tensor = "blk.#.ssm_d"},
    {.wanted = "layers.#.mixer.out_proj", .tensor = "blk.#.ssm_out"},
    {0},
};

static const HoloGgufName bert_names[] = {
    {.wanted = "embeddings.word_embeddings", .tensor = "token_embd"},
    {.wanted = "embeddings.position_embeddings", .tensor = "position_embd"},
    {.wanted = "embeddings.token_type_embeddings", .tensor = "token_types", .rank = 2, .one_at = 0},
    {.wanted = "embeddings.LayerNorm", .tensor = "token_embd_norm"},
    {.wanted = "encoder.layer.#.attention.self.query", .tensor = "blk.#.attn_q"},
    {.wanted = "encoder.layer.#.attention.self.key", .tensor = "blk.#.attn_k"},
    {.wanted = "encoder.layer.#.attention.self.value", .tensor = "blk.#.attn_v"},
    {.wanted = "encoder.layer.#.attention.self.query", .tensor = "blk.#.attn_qkv", .part = HOLO_GGUF_QUERIES},
    {.wanted = "encoder.layer.#.attention.self.key", .tensor = "blk.#.attn_qkv", .part = HOLO_GGUF_KEYS},
    {.wanted = "encoder.layer.#.attention.self.value", .tensor = "blk.#.attn_qkv", .part = HOLO_GGUF_VALUES},
    {.wanted = "encoder.layer.#.attention.output.dense", .tensor = "blk.#.attn_output"},
    {.wanted = "encoder.layer.#.attention.output.LayerNorm", .tensor = "blk.#.attn_output_norm"},
    {.wanted = "encoder.layer.#.intermediate.dense", .tensor = "blk.#.ffn_up"},
    {.wanted = "encoder.layer.#.output.dense", .tensor = "blk.#.ffn_down"},
    {.wanted = "encoder.layer.#.output.LayerNorm", .tensor = "blk.#.layer_output_norm"},
    {0},
};

static const HoloGgufName nomic_bert_names[] = {
    {.wanted = "embeddings.word_embeddings", .tensor = "token_embd"},
    {.wanted = "embeddings.token_type_embeddings", .tensor = "token_types", .rank = 2, .one_at = 0},
    {.wanted = "emb_ln", .tensor = "token_embd_norm"},
    {.wanted = "encoder.layers.#.attn.Wqkv", .tensor = "blk.#.attn_qkv"},
    {.wanted = "encoder.layers.#.attn.out_proj", .tensor = "blk.#.attn_output"},
    {.wanted = "encoder.layers.#.norm1", .tensor = "blk.#.attn_output_norm"},
    {.wanted = "encoder.layers.#.mlp.fc11", .tensor = "blk.#.ffn_up"},
    {.wanted = "encoder.layers.#.mlp.fc12", .tensor = "blk.#.ffn_gate"},
    {.wanted = "encoder.layers.#.mlp.fc2", .tensor = "blk.#.ffn_down"},
    {.wanted = "encoder.layers.#.norm2", .tensor = "blk.#.layer_output_norm"},
    {0},
};

// ---- config

// Rows of queries and keys lie so that the numbers that turn together are neighbors.
static const HoloGgufFixed turned_neighbors[] = {{"rope_interleave", 1}, {0}};
static const HoloGgufFixed gemma_fixed[]      = {{"norm_offset", 0}, {0}}; // 1 is added already
static const HoloGgufFixed gpt2_fixed[]       = {{"weights_turned", 0}, {0}};
static const HoloGgufFixed one_after_other[]  = {{"qkv_by_heads", 0}, {0}};
static const HoloGgufFixed qwen2_moe_fixed[]  = {{"norm_topk_prob", 0}, {0}};
static const HoloGgufFixed qwen3_moe_fixed[]  = {{"norm_topk_prob", 1}, {0}};

static bool has_experts(const HoloGgufModel *model)
{
    return holo_gguf_own_int(model, "expert_count", 0) > 0;
}

static bool has_window(const HoloGgufModel *model)
{
    return holo_gguf_own_int(model, "attention.sliding_window", 0) > 0;
}

static bool has_sigmoid(const HoloGgufModel *model)
{
    enum { SIGMOID = 2 };
    return holo_gguf_own_int(model, "expert_gating_func", 0) == SIGMOID;
}

static bool has(const HoloGgufModel *model, const char *tensor)
{
    return holo_gguf_weight_find(model, tensor) != NULL;
}

// Files do not tell what scores are divided by: it is the size of a head, or in the largest model of each kind, which
// is known by its layers, the size that heads would have if they filled a token.
static HoloStatus config_gemma_scores(HoloGgufModel *model, int64_t layers_of_largest)
{
    int64_t size = holo_gguf_own_int(model, "embedding_length", 0), heads = model->heads;
    bool    is_27 = holo_gguf_own_int(model, "block_count", 0) == layers_of_largest && heads > 0;
    return holo_gguf_put_real(model, "query_pre_attn_scalar",
                              is_27 ? (double)size / (double)heads : (double)model->head_size);
}

static HoloStatus config_gemma2(HoloGgufModel *model)
{
    HOLO_TRY(holo_gguf_put_text(model, "attn_implementation", "eager"));
    HOLO_TRY(
        holo_gguf_put_real(model, "attn_logit_softcapping", holo_gguf_own_real(model, "attn_logit_softcapping", 50)));
    HOLO_TRY(
        holo_gguf_put_real(model, "final_logit_softcapping", holo_gguf_own_real(model, "final_logit_softcapping", 30)));
    return config_gemma_scores(model, 46);
}

static HoloStatus config_gemma3(HoloGgufModel *model)
{
    HOLO_TRY(holo_gguf_put_real(model, "rope_local_base_freq", holo_gguf_own_real(model, "rope.freq_base_swa", 10000)));
    if (!has_window(model)) HOLO_TRY(holo_gguf_put_int(model, "sliding_window", 0));
    return config_gemma_scores(model, 62);
}

static HoloStatus config_cohere(HoloGgufModel *model)
{
    return holo_gguf_put_int(model, "use_qk_norm", has(model, "blk.0.attn_q_norm.weight"));
}

static HoloStatus config_stablelm(HoloGgufModel *model)
{
    HOLO_TRY(holo_gguf_put_int(model, "qk_layernorm", has(model, "blk.0.attn_q_norm.weight")));
    return holo_gguf_put_int(model, "use_parallel_residual", !has(model, "blk.0.ffn_norm.weight"));
}

// The newest form of Falcon includes the one with a single key: that has one group and one normalization.
static HoloStatus config_falcon(HoloGgufModel *model)
{
    HOLO_TRY(holo_gguf_put_int(model, "new_decoder_architecture", 1));
    HOLO_TRY(holo_gguf_put_int(model, "num_ln_in_parallel_attn", has(model, "blk.0.attn_norm_2.weight") ? 2 : 1));
    HOLO_TRY(holo_gguf_put_int(model, "num_kv_heads", holo_gguf_own_int(model, "attention.head_count_kv", 1)));
    return holo_gguf_put_int(model, "qkv_by_heads", 0);
}

static HoloStatus config_mamba(HoloGgufModel *model)
{
    if (holo_gguf_own_int(model, "ssm.dt_b_c_rms", 0))
        return holo_fail(model->import->error, HOLO_UNSUPPORTED,
                         "the model is a Falcon Mamba (ssm.dt_b_c_rms), of which there is no description");
    return HOLO_OK;
}

// Files of this kind have the sizes of heads under two names: newer ones keep the plain names for narrow keys.
static HoloStatus config_deepseek(HoloGgufModel *model)
{
    int64_t turned = holo_gguf_own_int(model, "rope.dimension_count", 0);
    int64_t keys   = holo_gguf_own_int(model, "attention.key_length_mla", model->head_size);
    int64_t values = holo_gguf_own_int(model, "attention.value_length_mla",
                                       holo_gguf_own_int(model, "attention.value_length", model->head_size));
    double  scale  = 10 * holo_gguf_own_real(model, "rope.scaling.yarn_log_multiplier", 0);
    HOLO_TRY(holo_gguf_put_int(model, "qk_rope_head_dim", turned));
    HOLO_TRY(holo_gguf_put_int(model, "qk_nope_head_dim", keys - turned));
    HOLO_TRY(holo_gguf_put_int(model, "v_head_dim", values));
    HOLO_TRY(holo_gguf_put_real(model, "rope_mscale", scale));
    return holo_gguf_put_real(model, "rope_mscale_all", scale);
}

// ---- the table

const HoloGgufArchitecture holo_gguf_architectures[] = {
    {.name   = "llama",
     .family = "mixtral",
     .graph  = "MixtralForCausalLM",
     .names  = mixtral_names,
     .fixed  = turned_neighbors,
     .fits   = has_experts},
    {.name   = "llama",
     .family = "mistral",
     .graph  = "MistralForCausalLM",
     .fixed  = turned_neighbors,
     .fits   = has_window},
    {.name = "llama", .family = "llama", .graph = "LlamaForCausalLM", .fixed = turned_neighbors},
    {.name = "smollm3", .family = "smollm3", .graph = "SmolLM3ForCausalLM", .fixed = turned_neighbors},
    {.name = "granite", .family = "granite", .graph = "GraniteForCausalLM", .fixed = turned_neighbors},
    {.name = "olmo", .family = "olmo", .graph = "OlmoForCausalLM", .fixed = turned_neighbors},
    {.name = "olmo2", .family = "olmo2", .graph = "Olmo2ForCausalLM", .names = gemma2_names},
    {.name = "qwen2", .family = "qwen2", .graph = "Qwen2ForCausalLM"},
    {.name = "qwen3", .family = "qwen3", .graph = "Qwen3ForCausalLM"},
    {.name   = "qwen2moe",
     .family = "qwen2_moe",
     .graph  = "Qwen2MoeForCausalLM",
     .names  = qwen2_moe_names,
     .fixed  = qwen2_moe_fixed},
    {.name = "qwen3moe", .family = "qwen3_moe", .graph = "Qwen3MoeForCausalLM", .fixed = qwen3_moe_fixed},
    {.name = "gemma", .family = "gemma", .graph = "GemmaForCausalLM", .fixed = gemma_fixed},
    {.name   = "gemma2",
     .family = "gemma2",
     .graph  = "Gemma2ForCausalLM",
     .names  = gemma2_names,
     .fixed  = gemma_fixed,
     .config = config_gemma2},
    {.name   = "gemma3",
     .family = "gemma3_text",
     .graph  = "Gemma3ForCausalLM",
     .names  = gemma2_names,
     .fixed  = gemma_fixed,
     .config = config_gemma3},
    {.name = "phi2", .family = "phi", .graph = "PhiForCausalLM"},
    {.name = "phi3", .family = "phi3", .graph = "Phi3ForCausalLM"},
    {.name = "gpt2", .family = "gpt2", .graph = "GPT2LMHeadModel", .names = gpt2_names, .fixed = gpt2_fixed},
    {.name = "gptj", .family = "gptj", .graph = "GPTJForCausalLM", .names = gptj_names},
    {.name   = "gptneox",
     .family = "gpt_neox",
     .graph  = "GPTNeoXForCausalLM",
     .names  = gpt_neox_names,
     .fixed  = one_after_other},
    {.name = "bloom", .family = "bloom", .graph = "BloomForCausalLM", .names = bloom_names, .fixed = one_after_other},
    {.name = "falcon", .family = "falcon", .graph = "FalconForCausalLM", .names = bloom_names, .config = config_falcon},
    {.name = "mpt", .family = "mpt", .graph = "MptForCausalLM", .names = mpt_names},
    {.name   = "stablelm",
     .family = "stablelm",
     .graph  = "StableLmForCausalLM",
     .names  = stablelm_names,
     .config = config_stablelm},
    {.name = "starcoder2", .family = "starcoder2", .graph = "Starcoder2ForCausalLM"},
    {.name = "command-r", .family = "cohere", .graph = "CohereForCausalLM", .config = config_cohere},
    {.name   = "deepseek2",
     .family = "deepseek_v3",
     .graph  = "DeepseekV3ForCausalLM",
     .names  = deepseek_names,
     .fits   = has_sigmoid,
     .config = config_deepseek},
    {.name   = "deepseek2",
     .family = "deepseek_v2",
     .graph  = "DeepseekV2ForCausalLM",
     .names  = deepseek_names,
     .config = config_deepseek},
    {.name = "mamba", .family = "mamba", .graph = "MambaForCausalLM", .names = mamba_names, .config = config_mamba},
    {.name = "bert", .family = "bert", .graph = "BertModel", .names = bert_names},
    {.name = "nomic-bert", .family = "nomic_bert", .graph = "NomicBertModel", .names = nomic_bert_names},
    {0},
};
