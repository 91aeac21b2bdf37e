// program.c - reading, printing and plain evaluation of pointwise programs.
#include "ops/hologram/program.h"

#include "base/math/math.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the functions

static const struct {
    const char *name;
    int         operands;
} functions[HOLO_MAP_OPS] = {
#define HOLO_MAP_OP(id, name, operands) [id] = {#name, operands},
#include "format/map_ops.def"
#undef HOLO_MAP_OP
};

int holo_map_operands(uint32_t op)
{
    return functions[op].operands;
}

// Primitives, and of the others what is computed more exactly.
#define FUNCTIONS(F)                               \
    F(add, a + b)                                  \
    F(sub, a - b)                                  \
    F(mul, a *b)                                   \
    F(div, a / b)                                  \
    F(max, a != a || b != b ? NAN : a > b ? a : b) \
    F(min, a != a || b != b ? NAN : a < b ? a : b) \
    F(at_least, a < b ? b : a)                     \
    F(at_most, a > b ? b : a)                      \
    F(neg, -a)                                     \
    F(abs, fabsf(a))                               \
    F(sqrt, sqrtf(a))                              \
    F(exp, (float)holo_exp((double)a))             \
    F(sigmoid, (float)holo_sigmoid((double)a))     \
    F(tanh, (float)holo_tanh((double)a))           \
    F(erf, (float)holo_erf((double)a))             \
    F(log, (float)holo_log((double)a))             \
    F(softplus, (float)holo_softplus((double)a))   \
    F(pow, (float)holo_pow((double)a, (double)b))  \
    F(sin, (float)holo_sin((double)a))             \
    F(cos, (float)holo_cos((double)a))             \
    F(tan, (float)holo_tan((double)a))             \
    F(asin, (float)holo_asin((double)a))           \
    F(acos, (float)holo_acos((double)a))           \
    F(atan, (float)holo_atan((double)a))           \
    F(floor, floorf(a))                            \
    F(ceil, ceilf(a))                              \
    F(round, nearbyintf(a))                        \
    F(sign, a > 0 ? 1 : a < 0 ? -1 : a)

#define F(name, expression)                   \
    static float map_##name(float a, float b) \
    {                                         \
        (void)b;                              \
        return expression;                    \
    }
FUNCTIONS(F)
#undef F

// Formulas of primitives.
#define LT                      <
#define GT                      >
#define EQ                      ==
#define INF                     INFINITY
#define N(number)               (float)(number)
#define LET1(r, name, x)        float r = map_##name(x, 0);
#define LET2(r, name, x, y)     float r = map_##name(x, y);
#define PICK(r, is, x, y, u, v) float r = (x)is(y) ? (u) : (v);
#define GIVE(r)                 return r;
#define HOLO_MAP_OP(...)
#define HOLO_MAP_SPECIAL(...)
#define HOLO_MAP_FORMULA(id, name, operands, ...) \
    static float map_##name(float a, float b)     \
    {                                             \
        (void)b;                                  \
        __VA_ARGS__                               \
    }
#include "format/map_ops.def"
#undef HOLO_MAP_OP

static float (*const meanings[HOLO_MAP_OPS])(float, float) = {
#define HOLO_MAP_OP(id, name, operands) [id] = map_##name,
#include "format/map_ops.def"
#undef HOLO_MAP_OP
};

// ---- validity

bool holo_program_is_valid(const HoloProgram *program, uint32_t *out_inputs)
{
    *out_inputs = program->count ? 0 : 1;
    if (program->count > HOLO_MAP_STEPS || program->zero) return false;
    for (uint32_t i = 0; i < program->count; i++) {
        const HoloMapStep *s = &program->step[i];
        if (s->op >= HOLO_MAP_OPS || s->zero) return false;
        for (int k = 0; k < functions[s->op].operands; k++) {
            uint32_t operand = k ? s->b : s->a;
            if (operand < HOLO_MAP_INPUTS)
                *out_inputs |= 1u << operand;
            else if (operand != HOLO_MAP_NUMBER && operand >= HOLO_MAP_INPUTS + i)
                return false;
        }
    }
    return true;
}

// ---- text

// A program of the longest names, operands and numbers has no more than 30 bytes a step.
void holo_program_print(const HoloProgram *program, HoloProgramText *out)
{
    size_t at = 0;
    *out      = (HoloProgramText){0};
    for (uint32_t i = 0; i < program->count; i++) {
        const HoloMapStep *s = &program->step[i];
        at += (size_t)snprintf(out->text + at, sizeof out->text - at, "%s%s", i ? "; " : "", functions[s->op].name);
        bool has_number = false;
        for (int k = 0; k < functions[s->op].operands; k++) {
            uint32_t operand   = k ? s->b : s->a;
            bool     is_number = operand == HOLO_MAP_NUMBER, is_input = operand < HOLO_MAP_INPUTS;
            at += (size_t)snprintf(out->text + at, sizeof out->text - at, " %c%u",
                                   is_number  ? 'n'
                                   : is_input ? 'x'
                                              : 'r',
                                   is_number  ? (unsigned)out->number_count
                                   : is_input ? operand
                                              : operand - HOLO_MAP_INPUTS);
            has_number = has_number || is_number;
        }
        if (has_number) out->number[out->number_count++] = s->number;
    }
}

// One word, ended by a blank, a semicolon or the end. False: none.
static bool word_read(const char **at, const char *end, char *out, size_t size)
{
    size_t n = 0;
    while (*at < end && **at == ' ') ++*at;
    for (; *at < end && **at != ' ' && **at != ';'; ++*at) {
        if (n + 1 >= size) return false;
        out[n++] = **at;
    }
    out[n] = 0;
    return n > 0;
}

typedef struct Numbers {
    const float *data;
    int          count;
} Numbers;

// "x0", "r0" or "n0".
static bool operand_read(const char **at, const char *end, Numbers numbers, HoloMapStep *step, uint8_t *out)
{
    char word[8], *rest;
    if (!word_read(at, end, word, sizeof word) || word[1] < '0' || word[1] > '9') return false;
    long i = strtol(word + 1, &rest, 10);
    if (*rest) return false;
    if (*word == 'n') {
        *out = HOLO_MAP_NUMBER;
        if (i < numbers.count) step->number = numbers.data[i];
        return i < numbers.count;
    }
    *out = (uint8_t)(*word == 'x' ? i : HOLO_MAP_INPUTS + i);
    return (*word == 'x' && i < HOLO_MAP_INPUTS) || (*word == 'r' && i < HOLO_MAP_STEPS);
}

static bool step_read(const char **at, const char *end, Numbers numbers, HoloMapStep *out)
{
    char word[32];
    *out = (HoloMapStep){0};
    if (!word_read(at, end, word, sizeof word)) return false;
    while (out->op < HOLO_MAP_OPS && strcmp(functions[out->op].name, word)) out->op++;
    if (out->op == HOLO_MAP_OPS || !operand_read(at, end, numbers, out, &out->a)) return false;
    if (functions[out->op].operands > 1 && !operand_read(at, end, numbers, out, &out->b)) return false;
    while (*at < end && **at == ' ') ++*at;
    if (*at == end) return true;
    return *(*at)++ == ';';
}

HoloStatus holo_program_read(const HoloCall *call, HoloProgram *out)
{
    HoloString      text = holo_attr_string(call, "program", "");
    const char     *at = text.data, *end = text.data + text.size;
    uint32_t        inputs;
    const HoloAttr *list    = holo_attr_find(call, "numbers");
    Numbers         numbers = {0};
    if (list && list->kind == HOLO_ATTR_FLOATS) numbers = (Numbers){list->floats, list->count};
    *out = (HoloProgram){0};
    while (at < end) {
        if (out->count == HOLO_MAP_STEPS || !step_read(&at, end, numbers, &out->step[out->count]))
            return holo_call_fail(call, HOLO_BAD_MODEL, "step %u of the program cannot be read", out->count);
        out->count++;
    }
    if (!holo_program_is_valid(out, &inputs))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the program uses a result before it is computed");
    return HOLO_OK;
}

// ---- evaluation

static float element(const HoloProgram *program, const float *x)
{
    float result[HOLO_MAP_INPUTS + HOLO_MAP_STEPS];
    memcpy(result, x, HOLO_MAP_INPUTS * sizeof *x);
    for (uint32_t i = 0; i < program->count; i++) {
        const HoloMapStep *s = &program->step[i];
        float              a = s->a == HOLO_MAP_NUMBER ? s->number : result[s->a];
        float              b = functions[s->op].operands < 2 ? 0 : s->b == HOLO_MAP_NUMBER ? s->number : result[s->b];
        result[HOLO_MAP_INPUTS + i] = meanings[s->op](a, b);
    }
    return program->count ? result[HOLO_MAP_INPUTS + program->count - 1] : x[0];
}

void holo_program_eval(const HoloProgram *program, const HoloTensor *const *in, HoloTensor *out)
{
    int64_t  stride[HOLO_MAP_INPUTS][HOLO_MAX_RANK] = {{0}}, at[HOLO_MAP_INPUTS] = {0}, index[HOLO_MAX_RANK] = {0};
    int64_t  count = holo_tensor_count(out);
    uint32_t inputs;
    if (!holo_program_is_valid(program, &inputs)) return;
    for (int i = 0; i < HOLO_MAP_INPUTS; i++)
        if (inputs >> i & 1) holo_strides_broadcast(in[i], out->rank, out->dim, stride[i]);
    for (int64_t n = 0; n < count; n++) {
        float x[HOLO_MAP_INPUTS] = {0};
        for (int i = 0; i < HOLO_MAP_INPUTS; i++)
            if (inputs >> i & 1) x[i] = ((const float *)in[i]->data)[at[i]];
        ((float *)out->data)[n] = element(program, x);
        for (int d = out->rank - 1; d >= 0; d--) {
            for (int i = 0; i < HOLO_MAP_INPUTS; i++) at[i] += stride[i][d];
            if (++index[d] < out->dim[d]) break;
            for (int i = 0; i < HOLO_MAP_INPUTS; i++) at[i] -= stride[i][d] * out->dim[d];
            index[d] = 0;
        }
    }
}
