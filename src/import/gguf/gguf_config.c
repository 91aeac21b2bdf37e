// gguf_config.c - the metadata of a GGUF file as the config that families read.
//
// A table has the keys that mean the same under another name. What follows from tensors, or from several keys, is
// computed. Of a key that is put twice the first counts: what an architecture puts comes before the table.
#include "import/gguf/gguf_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 4, KEY_ROOM = 256, LIST_MAX = 4096 };

// ---- values

const HoloGgufValue *holo_gguf_own(const HoloGgufModel *model, const char *key)
{
    char full[KEY_ROOM];
    bool fits = snprintf(full, sizeof full, "%s.%s", model->architecture_name, key) < (int)sizeof full;
    return fits ? holo_gguf_find(&model->file, full) : NULL;
}

// Some numbers are given layer by layer. If they are all the same, that one counts.
static bool same_int(const HoloGgufValue *value, int64_t *out)
{
    HoloGgufValue walk = *value, item;
    int64_t       number;
    if (value->kind != HOLO_GGUF_ARRAY) return holo_gguf_int(value, out);
    for (bool is_first = true; holo_gguf_next(&walk, &item); is_first = false) {
        if (!holo_gguf_int(&item, &number) || (!is_first && number != *out)) return false;
        *out = number;
    }
    return value->count > 0;
}

int64_t holo_gguf_own_int(const HoloGgufModel *model, const char *key, int64_t otherwise)
{
    const HoloGgufValue *value = holo_gguf_own(model, key);
    int64_t              out   = otherwise;
    return value && same_int(value, &out) ? out : otherwise;
}

double holo_gguf_own_real(const HoloGgufModel *model, const char *key, double otherwise)
{
    const HoloGgufValue *value = holo_gguf_own(model, key);
    double               out   = otherwise;
    return value && holo_gguf_real(value, &out) ? out : otherwise;
}

static HoloStatus put(HoloGgufModel *model, const HoloAttr *attr)
{
    for (int i = 0; i < model->config_count; i++)
        if (!strcmp(model->config[i].name, attr->name)) return HOLO_OK;
    if (!HOLO_GROW(model->import->arena, model->config, model->config_count, model->config_room))
        return holo_fail_memory(model->import->error);
    model->config[model->config_count++] = *attr;
    return HOLO_OK;
}

HoloStatus holo_gguf_put_int(HoloGgufModel *model, const char *key, int64_t value)
{
    return put(model, &(HoloAttr){.name = key, .kind = HOLO_ATTR_INT, .count = 1, .i = value});
}

HoloStatus holo_gguf_put_real(HoloGgufModel *model, const char *key, double value)
{
    return put(model, &(HoloAttr){.name = key, .kind = HOLO_ATTR_FLOAT, .count = 1, .f = value});
}

HoloStatus holo_gguf_put_text(HoloGgufModel *model, const char *key, const char *value)
{
    return put(model, &(HoloAttr){.name = key, .kind = HOLO_ATTR_STRING, .count = 1, .s = {value, strlen(value)}});
}

// ---- keys with another name

static const struct {
    const char *key;
    const char *names[NAMES_MAX];
} same[] = {
    {"block_count", {"num_hidden_layers", "n_layer", "n_layers"}},
    {"embedding_length", {"hidden_size", "n_embd", "d_model"}},
    {"ssm.inner_size", {"intermediate_size"}}, // such files have 0 for the next
    {"feed_forward_length", {"intermediate_size", "n_inner", "ffn_hidden_size"}},
    {"attention.head_count", {"num_attention_heads", "n_head", "n_heads"}},
    {"attention.head_count_kv", {"num_key_value_heads", "num_kv_heads"}},
    {"attention.layer_norm_rms_epsilon", {"rms_norm_eps", "layer_norm_epsilon"}},
    {"attention.layer_norm_epsilon", {"layer_norm_eps", "layer_norm_epsilon", "norm_epsilon"}},
    {"attention.clamp_kqv", {"clip_qkv"}},
    {"attention.max_alibi_bias", {"alibi_bias_max"}},
    {"attention.sliding_window", {"sliding_window"}},
    {"attention.scale", {"attention_multiplier"}},
    {"attention.q_lora_rank", {"q_lora_rank"}},
    {"attention.kv_lora_rank", {"kv_lora_rank"}},
    {"attn_logit_softcapping", {"attn_logit_softcapping"}},
    {"final_logit_softcapping", {"final_logit_softcapping"}},
    {"logit_scale", {"logit_scale", "logits_scaling"}},
    {"embedding_scale", {"embedding_multiplier"}},
    {"residual_scale", {"residual_multiplier"}},
    {"use_parallel_residual", {"use_parallel_residual"}},
    {"expert_count", {"num_experts", "num_local_experts", "n_routed_experts"}},
    {"expert_used_count", {"num_experts_per_tok"}},
    {"expert_feed_forward_length", {"moe_intermediate_size"}},
    {"expert_shared_feed_forward_length", {"shared_expert_intermediate_size"}},
    {"expert_shared_count", {"n_shared_experts"}},
    {"expert_weights_scale", {"routed_scaling_factor"}},
    {"expert_weights_norm", {"norm_topk_prob"}},
    {"expert_group_count", {"n_group"}},
    {"expert_group_used_count", {"topk_group"}},
    {"leading_dense_block_count", {"first_k_dense_replace"}},
    {"ssm.conv_kernel", {"conv_kernel"}},
    {"ssm.state_size", {"state_size"}},
    {"ssm.time_step_rank", {"time_step_rank"}},
};

static HoloStatus put_same(HoloGgufModel *model)
{
    for (int i = 0; i < HOLO_COUNT(same); i++) {
        const HoloGgufValue *value = holo_gguf_own(model, same[i].key);
        int64_t              whole = 0;
        double               real  = 0;
        if (!value) continue;
        bool is_int = same_int(value, &whole);
        if (!is_int && !holo_gguf_real(value, &real))
            return holo_fail(model->import->error, HOLO_UNSUPPORTED,
                             "the metadata '%s.%s' is not one number: layers that differ cannot be read",
                             model->architecture_name, same[i].key);
        for (int k = 0; k < NAMES_MAX && same[i].names[k]; k++)
            HOLO_TRY(is_int ? holo_gguf_put_int(model, same[i].names[k], whole)
                            : holo_gguf_put_real(model, same[i].names[k], real));
    }
    return HOLO_OK;
}

// ---- what follows from tensors

static HoloStatus put_rows(HoloGgufModel *model, const char *tensor, const char *key)
{
    const HoloGgufWeight *weight = holo_gguf_weight_find(model, tensor);
    if (!weight || weight->tensor->rank != 2) return HOLO_OK;
    return holo_gguf_put_int(model, key, weight->tensor->dim[0]);
}

static HoloStatus put_sizes(HoloGgufModel *model)
{
    int64_t length = holo_gguf_own_int(model, "context_length", 0);
    HOLO_TRY(put_rows(model, "token_embd.weight", "vocab_size"));
    HOLO_TRY(put_rows(model, "position_embd.weight", "max_position_embeddings"));
    HOLO_TRY(put_rows(model, "position_embd.weight", "n_positions"));
    HOLO_TRY(put_rows(model, "token_types.weight", "type_vocab_size"));
    HOLO_TRY(holo_gguf_put_int(model, "type_vocab_size", holo_gguf_weight_find(model, "token_types.weight") != NULL));
    return length > 0 ? holo_gguf_put_int(model, "max_position_embeddings", length) : HOLO_OK;
}

static void read_heads(HoloGgufModel *model)
{
    int64_t size     = holo_gguf_own_int(model, "embedding_length", 0);
    model->heads     = holo_gguf_own_int(model, "attention.head_count", 0);
    model->key_heads = holo_gguf_own_int(model, "attention.head_count_kv", model->heads);
    model->head_size = holo_gguf_own_int(model, "attention.key_length", model->heads > 0 ? size / model->heads : 0);
}

// How much of a head turns, as a factor; floor(head_size * factor) must be `turned` again.
static HoloStatus put_turned(HoloGgufModel *model)
{
    int64_t turned = holo_gguf_own_int(model, "rope.dimension_count", model->head_size);
    double  size   = (double)model->head_size;
    if (model->head_size <= 0 || turned <= 0 || turned > model->head_size) return HOLO_OK;
    double factor = (double)turned / size;
    while (floor(size * factor) < (double)turned) factor = nextafter(factor, 2);
    HOLO_TRY(holo_gguf_put_real(model, "partial_rotary_factor", factor));
    HOLO_TRY(holo_gguf_put_real(model, "rotary_pct", factor));
    return holo_gguf_put_int(model, "rotary_dim", turned);
}

// ---- positions that turn

// A tensor of f32 as a list. Missing, and too long ones, are left out.
static HoloStatus put_list(HoloGgufModel *model, const char *tensor, const char *key)
{
    HoloGgufWeight *weight = holo_gguf_weight_find(model, tensor);
    bool            fits   = weight && weight->dtype == HOLO_F32 && !weight->blocks && weight->tensor->count > 0 &&
                weight->tensor->count <= LIST_MAX;
    if (!fits) return HOLO_OK;
    weight->is_used = true;
    return put(model, &(HoloAttr){.name   = key,
                                  .kind   = HOLO_ATTR_FLOATS,
                                  .count  = (int32_t)weight->tensor->count,
                                  .floats = weight->data});
}

static const char *scaling_of(const HoloGgufModel *model, double factor)
{
    static const char *const known[] = {"linear", "yarn", "longrope"};
    const HoloGgufValue     *value   = holo_gguf_own(model, "rope.scaling.type");
    HoloString               text    = {0};
    if (holo_gguf_weight_find(model, "rope_factors_long.weight")) return "longrope";
    if (!value || !holo_gguf_text(value, &text)) return factor > 0 && factor != 1 ? "linear" : "default";
    for (int i = 0; i < HOLO_COUNT(known); i++)
        if (text.size == strlen(known[i]) && !memcmp(text.data, known[i], text.size)) return known[i];
    return "default"; // "none"
}

static HoloStatus put_scaling(HoloGgufModel *model)
{
    static const struct {
        const char *key, *name;
    } reals[] = {
        {"rope.scaling.attn_factor", "rope_scale"},
        {"rope.scaling.yarn_attn_factor", "rope_scale"},
        {"rope.scaling.yarn_beta_fast", "rope_fast"},
        {"rope.scaling.yarn_beta_slow", "rope_slow"},
    };
    double      factor = holo_gguf_own_real(model, "rope.scaling.factor", 0);
    int64_t     length = holo_gguf_own_int(model, "rope.scaling.original_context_length", 0);
    const char *type;
    if (factor <= 0) factor = holo_gguf_own_real(model, "rope.scale_linear", 0); // of older files
    type = scaling_of(model, factor);
    if (!strcmp(type, "linear") && factor <= 0) type = "default";
    HOLO_TRY(holo_gguf_put_text(model, "rope_type", type));
    HOLO_TRY(holo_gguf_put_real(model, "rope_factor", factor > 0 ? factor : 0));
    if (length > 0) HOLO_TRY(holo_gguf_put_int(model, "rope_length", length));
    for (int i = 0; i < HOLO_COUNT(reals); i++)
        if (holo_gguf_own(model, reals[i].key))
            HOLO_TRY(holo_gguf_put_real(model, reals[i].name, holo_gguf_own_real(model, reals[i].key, 0)));
    HOLO_TRY(put_list(model, "rope_freqs.weight", "rope_factors"));
    HOLO_TRY(put_list(model, "rope_factors_long.weight", "rope_long"));
    HOLO_TRY(put_list(model, "rope_factors_short.weight", "rope_short"));
    return holo_gguf_put_real(model, "rope_theta", holo_gguf_own_real(model, "rope.freq_base", 10000));
}

// Which layers have a window: every so many have none, or a list says it.
static HoloStatus put_windows(HoloGgufModel *model)
{
    const HoloGgufValue *value = holo_gguf_own(model, "attention.sliding_window_pattern");
    HoloString          *types;
    HoloGgufValue        walk, item;
    int64_t              whole = 0, count = 0;
    if (!value) return HOLO_OK;
    if (holo_gguf_int(value, &whole)) return holo_gguf_put_int(model, "sliding_window_pattern", whole);
    if (value->kind != HOLO_GGUF_ARRAY || !value->count || value->count > LIST_MAX) return HOLO_OK;
    types = HOLO_NEW(model->import->arena, HoloString, value->count);
    if (!types) return holo_fail_memory(model->import->error);
    for (walk = *value; holo_gguf_next(&walk, &item); count++)
        types[count] = holo_gguf_int(&item, &whole) && whole ? (HoloString){"sliding_attention", 17}
                                                             : (HoloString){"full_attention", 14};
    return put(model, &(HoloAttr){
                          .name = "layer_types", .kind = HOLO_ATTR_STRINGS, .count = (int32_t)count, .strings = types});
}

HoloStatus holo_gguf_config(HoloGgufModel *model)
{
    const HoloGgufArchitecture *row = model->architecture;
    read_heads(model);
    for (const HoloGgufFixed *fixed = row->fixed; fixed && fixed->key; fixed++)
        HOLO_TRY(holo_gguf_put_real(model, fixed->key, fixed->value));
    if (row->config) HOLO_TRY(row->config(model));
    HOLO_TRY(put_sizes(model));
    HOLO_TRY(put_turned(model));
    HOLO_TRY(put_scaling(model));
    HOLO_TRY(put_windows(model));
    HOLO_TRY(put_same(model));
    if (model->head_size > 0) HOLO_TRY(holo_gguf_put_int(model, "head_dim", model->head_size));
    return model->key_heads > 0 ? holo_gguf_put_int(model, "num_key_value_heads", model->key_heads) : HOLO_OK;
}
