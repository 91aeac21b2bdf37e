// words.c - the functions of the language.

#include "lang/words.h"

#include <string.h>

const HoloWordRow holo_words[HOLO_WORDS] = {
#define X(id, name, group, count, op) {name, HOLO_GROUP_##group, count, HOLO_ISA_##op},
    HOLO_WORD_MAP(X)
#undef X
};

// Other spellings: C's functions of floats, and names of earlier kernels.
static const struct {
    const char *name;
    HoloWord    word;
} spellings[] = {
    {"expf", HOLO_WORD_EXP},
    {"logf", HOLO_WORD_LOG},
    {"log2f", HOLO_WORD_LOG2},
    {"log10f", HOLO_WORD_LOG10},
    {"sqrtf", HOLO_WORD_SQRT},
    {"rsqrtf", HOLO_WORD_RSQRT},
    {"sinf", HOLO_WORD_SIN},
    {"cosf", HOLO_WORD_COS},
    {"tanf", HOLO_WORD_TAN},
    {"tanhf", HOLO_WORD_TANH},
    {"erff", HOLO_WORD_ERF},
    {"floorf", HOLO_WORD_FLOOR},
    {"ceilf", HOLO_WORD_CEIL},
    {"roundf", HOLO_WORD_ROUND},
    {"truncf", HOLO_WORD_TRUNC},
    {"powf", HOLO_WORD_POW},
    {"fmaf", HOLO_WORD_FMA},
    {"fabs", HOLO_WORD_ABS},
    {"fabsf", HOLO_WORD_ABS},
    {"fmin", HOLO_WORD_MIN},
    {"fminf", HOLO_WORD_MIN},
    {"fmax", HOLO_WORD_MAX},
    {"fmaxf", HOLO_WORD_MAX},
    {"global_id", HOLO_WORD_GLOBAL_ID},
    {"get_local_id", HOLO_WORD_LOCAL_ID},
    {"get_block_id", HOLO_WORD_BLOCK_ID},
    {"atomic_add_f32", HOLO_WORD_ATOMIC_ADD},
    {"atomic_add_u32", HOLO_WORD_ATOMIC_ADD},
    {"atomic_add_i32", HOLO_WORD_ATOMIC_ADD},
};

int holo_lang_word(const char *name)
{
    for (int i = 0; i < HOLO_WORDS; i++)
        if (!strcmp(holo_words[i].name, name)) return i;
    for (int i = 0; i < HOLO_COUNT(spellings); i++)
        if (!strcmp(spellings[i].name, name)) return spellings[i].word;
    return -1;
}

bool holo_lang_is_word(const char *name)
{
    static const char *const others[] = {"DeviceArray",
                                         "kernel",
                                         "atlas_kernel",
                                         "inline",
                                         "types",
                                         "local",
                                         "shared",
                                         "inf",
                                         "nan",
                                         "pi",
                                         "parallel_map_unary",
                                         "parallel_map_binary",
                                         "parallel_reduce"};
    if (holo_lang_word(name) >= 0 || holo_lang_type(name) != HOLO_NONE) return true;
    for (int i = 0; i < HOLO_COUNT(others); i++)
        if (!strcmp(others[i], name)) return true;
    return false;
}

static size_t common(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && a[n] == b[n]) n++;
    return n;
}

const char *holo_lang_nearest(const char *name)
{
    const char *best = "";
    size_t      most = 2; // fewer letters in common say nothing
    for (int i = 0; i < HOLO_WORDS; i++) {
        size_t n = common(name, holo_words[i].name);
        if (n <= most) continue;
        most = n;
        best = holo_words[i].name;
    }
    return best;
}
