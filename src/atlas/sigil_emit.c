// sigil_emit.c - the two meanings of a sigil expression: bytes and addresses, and words of operation.
//
// Both apply the transforms from the inside out: first what is written behind a class, then each prefix around it.
#include "atlas/sigil.h"

// Where the results of an expression are.
typedef struct Result {
    HoloSigil      sigil; // first: what the caller sees
    HoloArena      arena;
    HoloSigilLeaf *leaves;
    const char   **words;
    bool           no_memory;
} Result;

// ---- bytes

static HoloSigilLeaf leaf_of(const HoloSigilNode *node, HoloTransform around)
{
    HoloTransform transform = holo_transform_then(node->transform, around);
    int           class_id  = holo_transform_class(transform, node->class_id);
    HoloSigilLeaf leaf      = {.generator = holo_generator_names[node->generator],
                               .class_id  = (uint8_t)class_id,
                               .byte      = (uint8_t)holo_atlas_byte(class_id),
                               .page      = (int16_t)node->page,
                               .belt      = -1,
                               .transform = transform};
    if (node->page >= 0) leaf.belt = 256 * node->page + leaf.byte;
    return leaf;
}

static void emit_leaves(Result *r, const HoloSigilNode *node, HoloTransform around)
{
    if (node->kind == HOLO_SIGIL_LEAF) r->leaves[r->sigil.leaf_count++] = leaf_of(node, around);
    if (node->kind == HOLO_SIGIL_PREFIX) around = holo_transform_then(node->transform, around);
    for (const HoloSigilNode *child = node->first; child; child = child->next) emit_leaves(r, child, around);
}

// ---- words

enum { SCOPE, MODALITY, SLOT };

// What a generator becomes: a word, maybe with a part of its class, and maybe one more word.
typedef struct GeneratorWords {
    const char *name, *sign;
    int         part;
    const char *more;
} GeneratorWords;

static const GeneratorWords generator_words[HOLO_GENERATOR_COUNT] = {
    // clang-format off
    [HOLO_GENERATOR_MARK]     = {.name = "mark"},
    [HOLO_GENERATOR_COPY]     = {"copy",  "d",  MODALITY, NULL},
    [HOLO_GENERATOR_SWAP]     = {.name = "swap"},
    [HOLO_GENERATOR_MERGE]    = {"merge", "d",  MODALITY, NULL},
    [HOLO_GENERATOR_SPLIT]    = {"split", "ℓ",  SLOT,     NULL},
    [HOLO_GENERATOR_QUOTE]    = {"quote", "ℓ",  SLOT,     NULL},
    [HOLO_GENERATOR_EVALUATE] = {"phase", "h₂", SCOPE,    "evaluate"},
    // clang-format on
};

static void word(Result *r, const char *text)
{
    if (!text) r->no_memory = true;
    r->words[r->sigil.word_count++] = text;
}

static void leaf_words(Result *r, const HoloSigilNode *node, HoloTransform around)
{
    HoloAtlasParts p;
    (void)holo_atlas_parts(leaf_of(node, around).class_id, &p);
    const int             value[] = {p.scope, p.modality, p.slot};
    const GeneratorWords *g       = &generator_words[node->generator];
    word(r, g->sign ? holo_arena_format(&r->arena, "%s[%s=%d]", g->name, g->sign, value[g->part]) : g->name);
    if (g->more) word(r, g->more);
}

// The words before (arrow "→") or behind ("←") what a transform applies to; behind, in the opposite order.
static void transform_words(Result *r, HoloTransform t, bool behind)
{
    static const char *const sign[]   = {"ρ", "δ", "τ", "μ"};
    const int                amount[] = {t.r, t.d, t.t, t.m};
    const char              *arrow    = behind ? "←" : "→";
    for (int n = 0; n < HOLO_COUNT(sign); n++) {
        int i = behind ? HOLO_COUNT(sign) - 1 - n : n;
        if (!amount[i]) continue;
        word(r, i < 3 ? holo_arena_format(&r->arena, "%s%s[%d]", arrow, sign[i], amount[i])
                      : holo_arena_format(&r->arena, "%s%s", arrow, sign[i]));
    }
}

static void emit_words(Result *r, const HoloSigilNode *node, HoloTransform around)
{
    switch (node->kind) {
    case HOLO_SIGIL_LEAF: leaf_words(r, node, around); break;
    case HOLO_SIGIL_PREFIX:
        transform_words(r, node->transform, false);
        emit_words(r, node->first, holo_transform_then(node->transform, around));
        transform_words(r, node->transform, true);
        break;
    case HOLO_SIGIL_SEQUENCE: // composed like functions: the last one runs first
        for (const HoloSigilNode *child = node->last; child; child = child->previous) emit_words(r, child, around);
        break;
    case HOLO_SIGIL_PARALLEL:
        for (const HoloSigilNode *child = node->first; child; child = child->next) {
            word(r, child == node->first ? "⊗_begin" : "⊗_sep");
            emit_words(r, child, around);
        }
        word(r, "⊗_end");
        break;
    }
}

// ---- the whole

static HoloStatus evaluate(Result *r, const char *text, size_t size, size_t *out_at, HoloError *error)
{
    HoloSigilTree tree;
    HOLO_TRY(holo_sigil_tree(&r->arena, text, size, &tree, out_at, error));
    r->sigil.leaves = r->leaves = HOLO_NEW(&r->arena, HoloSigilLeaf, tree.leaf_count);
    r->sigil.words = r->words = HOLO_NEW(&r->arena, const char *, tree.word_count);
    if (!r->leaves || !r->words) return holo_fail_memory(error);
    emit_leaves(r, tree.root, (HoloTransform){0});
    emit_words(r, tree.root, (HoloTransform){0});
    return r->no_memory ? holo_fail_memory(error) : HOLO_OK;
}

HoloStatus holo_sigil_parse(const char *text, size_t size, HoloSigil **out_sigil, size_t *out_at, HoloError *error)
{
    *out_sigil     = NULL;
    Result *result = holo_realloc(NULL, sizeof *result);
    if (!result) return holo_fail_memory(error);
    *result           = (Result){0};
    HoloStatus status = evaluate(result, text, size, out_at, error);
    if (status)
        holo_sigil_destroy(&result->sigil);
    else
        *out_sigil = &result->sigil;
    return status;
}

void holo_sigil_destroy(HoloSigil *sigil)
{
    if (!sigil) return;
    Result *result = (Result *)sigil;
    holo_arena_deinit(&result->arena);
    holo_free(result);
}
