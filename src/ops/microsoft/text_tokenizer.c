// text_tokenizer.c - Tokenizer (com.microsoft): strings cut into tokens, by what separates them, by what they look
// like, or into characters. The tokens lie where the text does; nothing is copied.
#include "ops/op.h"
#include "ops/regex.h"
#include "ops/utf8.h"

#include <string.h>

typedef struct Tokens { // a list with room for every character of a text
    HoloString *item;
    int64_t     count;
} Tokens;

typedef struct Cutter {
    int64_t     least; // characters of a token
    HoloRegex **regex;
    int         regex_count; // 0: cut into characters
    bool        separates;   // the expressions match what is between tokens
    Tokens      work;        // between two separators
} Cutter;

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HoloDim           dim[HOLO_MAX_RANK + 1];
    HOLO_TRY(holo_expect_rank(call, 0, 1, 2));
    memcpy(dim, x->dim, sizeof x->dim);
    dim[x->rank] = HOLO_DIM_UNKNOWN;
    return holo_out_type(call, 0, HOLO_STRING, x->rank + 1, dim);
}

static int64_t count_characters(HoloString text)
{
    int64_t count = 0;
    for (size_t at = 0; at < text.size; count++) holo_utf8_next(text.data, text.size, &at);
    return count;
}

// Adds a token unless it is too short; an empty one always is.
static bool add_token(const Cutter *c, Tokens *tokens, const char *from, size_t size)
{
    HoloString token = {from, size};
    if (size == 0 || count_characters(token) < c->least) return false;
    tokens->item[tokens->count++] = token;
    return true;
}

// The position behind the character at `at`; behind the end of the text, the next byte.
static size_t skip_character(HoloString text, size_t at)
{
    if (at >= text.size) return at + 1;
    holo_utf8_next(text.data, text.size, &at);
    return at;
}

static void cut_characters(HoloString text, Tokens *out)
{
    for (size_t at = 0; at < text.size;) {
        size_t start = at;
        at           = skip_character(text, at);

        out->item[out->count++] = (HoloString){text.data + start, at - start};
    }
}

static void cut_at(const Cutter *c, HoloRegex *separator, HoloString text, Tokens *out)
{
    size_t at = 0, begin, end;
    while (at <= text.size && holo_regex_find(separator, text, at, &begin, &end)) {
        add_token(c, out, text.data + at, begin - at);
        at = end > begin ? end : skip_character(text, begin);
    }
    if (at < text.size) add_token(c, out, text.data + at, text.size - at);
}

static void cut_at_all(Cutter *c, HoloString text, Tokens *out)
{
    out->item[0] = text;
    out->count   = 1;
    for (int i = 0; i < c->regex_count && out->count > 0; i++) {
        c->work.count = 0;
        for (int64_t k = 0; k < out->count; k++) cut_at(c, c->regex[i], out->item[k], &c->work);
        memcpy(out->item, c->work.item, (size_t)c->work.count * sizeof *out->item);
        out->count = c->work.count;
    }
}

static void take_matches(const Cutter *c, HoloString text, Tokens *out)
{
    size_t at = 0, begin, end;
    while (at <= text.size && holo_regex_find(c->regex[0], text, at, &begin, &end))
        at = add_token(c, out, text.data + begin, end - begin) ? end : skip_character(text, begin);
}

static void cut(Cutter *c, HoloString text, Tokens *out)
{
    out->count = 0;
    if (text.size == 0) return;
    if (c->regex_count == 0)
        cut_characters(text, out);
    else if (c->separates)
        cut_at_all(c, text, out);
    else
        take_matches(c, text, out);
}

static HoloStatus read_cutter(const HoloCall *call, HoloArena *arena, Cutter *out)
{
    const HoloAttr *separators = holo_attr_find(call, "separators");
    HoloString      expression = holo_attr_string(call, "tokenexp", "");
    HoloError       why        = {0};
    bool            given      = separators && separators->kind == HOLO_ATTR_STRINGS && separators->count > 0;
    int             count      = given ? separators->count : 1;
    out->least                 = holo_attr_int(call, "mincharnum", 1);
    out->separates             = given;
    if (!given && expression.size == 0)
        return holo_call_fail(call, HOLO_BAD_MODEL, "neither separators nor tokenexp is given");
    if (out->least < 1) return holo_call_fail(call, HOLO_BAD_MODEL, "mincharnum is %lld", (long long)out->least);
    if (given ? count == 1 && separators->strings[0].size == 0 : holo_string_equal(expression, (HoloString){".", 1}))
        return HOLO_OK;
    out->regex = HOLO_NEW(arena, HoloRegex *, count);
    if (!out->regex) return holo_call_fail(call, HOLO_NO_MEMORY, "no memory for the expressions");
    out->regex_count = count;
    for (int i = 0; i < count; i++) {
        HoloStatus status = holo_regex_create(arena, given ? separators->strings[i] : expression, &out->regex[i], &why);
        if (status) return holo_call_fail(call, status, "%s", why.text);
    }
    return HOLO_OK;
}

static HoloStatus take_tokens(const HoloCall *call, size_t room, Tokens *out)
{
    void *memory;
    HOLO_TRY(holo_call_temp(call, room + 1, sizeof(HoloString), &memory));
    out->item = memory;
    return HOLO_OK;
}

static void write_row(const Tokens *tokens, int64_t width, bool mark, HoloString pad, HoloString *to)
{
    int64_t at = 0;
    if (mark) to[at++] = (HoloString){"\x02", 1};
    for (int64_t k = 0; k < tokens->count; k++) to[at++] = tokens->item[k];
    if (mark) to[at++] = (HoloString){"\x03", 1};
    while (at < width) to[at++] = pad;
}

static HoloStatus tokenize(HoloCall *call, Cutter *c)
{
    const HoloTensor *x     = call->in[0];
    HoloTensor       *y     = call->out[0];
    const HoloString *text  = x->data;
    int64_t           count = holo_tensor_count(x), widest = 0;
    bool              mark    = holo_attr_int(call, "mark", 0) != 0;
    HoloString        pad     = holo_attr_string(call, "pad_value", "");
    size_t            longest = 0;
    Tokens            tokens  = {0};
    for (int64_t i = 0; i < count; i++) longest = text[i].size > longest ? text[i].size : longest;
    HOLO_TRY(take_tokens(call, longest, &tokens));
    HOLO_TRY(take_tokens(call, longest, &c->work));
    for (int64_t i = 0; i < count; i++) {
        cut(c, text[i], &tokens);
        if (tokens.count > widest) widest = tokens.count;
    }
    int64_t width       = widest > 0 ? widest + (mark ? 2 : 0) : 0;
    y->dim[y->rank - 1] = width;
    HOLO_TRY(holo_out_alloc(call, 0));
    for (int64_t i = 0; i < count && width > 0; i++) {
        cut(c, text[i], &tokens);
        write_row(&tokens, width, mark, pad, (HoloString *)y->data + i * width);
    }
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    HoloArena  arena  = {0};
    Cutter     cutter = {0};
    HoloStatus status = read_cutter(call, &arena, &cutter);
    if (!status) status = tokenize(call, &cutter);
    holo_arena_deinit(&arena);
    return status;
}

const HoloOp holo_ops_text_tokenizer[] = {
    {.name    = "Tokenizer",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(STRING),
     .flags   = HOLO_OP_DYNAMIC,
     .infer   = infer,
     .eval    = eval},
    {0},
};
