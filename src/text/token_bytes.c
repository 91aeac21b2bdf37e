// token_bytes.c - the bytes that a token adds in the middle of a text.
//
// The steps of the decoder are applied to one token that is neither the first nor the last. What they do with neighbors
// does not matter there: to join them, or to strip the beginning of all.
#include "base/bytes.h"
#include "text/grammar.h"
#include "text/tokenizer.h"

#include <string.h>

typedef struct Bytes {
    const HoloTokenizer *t;
    const HoloTextStep  *step;
    const uint8_t       *text; // of the step before
    size_t               size;
    HoloGrowing         *out;
} Bytes;

static void replaced(Bytes *b, const void *what, size_t what_size, const void *with, size_t with_size)
{
    const uint8_t *at = b->text, *end = at + b->size;
    while (at < end) {
        const uint8_t *found = what_size ? holo_bytes_find(at, (size_t)(end - at), what, what_size) : NULL;
        holo_growing_add(b->out, at, (size_t)((found ? found : end) - at));
        if (!found) return;
        holo_growing_add(b->out, with, with_size);
        at = found + what_size;
    }
}

static void same(Bytes *b)
{
    holo_growing_add(b->out, b->text, b->size);
}

static void letters(Bytes *b)
{
    size_t start = b->out->size;
    int    step;
    for (size_t at = 0; at < b->size; at += (size_t)step) {
        int byte = holo_letter_byte(holo_code_read(b->text + at, b->size - at, &step));
        if (byte < 0) { // a token that is not written in such letters stands for itself
            b->out->size = start;
            same(b);
            return;
        }
        holo_growing_add_byte(b->out, (uint8_t)byte);
    }
}

static void spaces(Bytes *b)
{
    uint8_t mark[4];
    int     size = holo_code_write(b->step->number[0], mark);
    replaced(b, mark, (size_t)size, " ", 1);
}

static void word_piece(Bytes *b)
{
    size_t size      = b->step->text.count;
    bool   continues = b->size >= size && !memcmp(b->text, holo_text_span(b->t, b->step->text), size);
    if (!continues) holo_growing_add_byte(b->out, ' ');
    holo_growing_add(b->out, b->text + (continues ? size : 0), b->size - (continues ? size : 0));
}

static void suffix(Bytes *b)
{
    replaced(b, holo_text_span(b->t, b->step->text), b->step->text.count, " ", 1);
}

static void sounds(Bytes *b)
{
    const char *pad = holo_text_span(b->t, b->step->text), *space = holo_text_span(b->t, b->step->more);
    size_t      pad_size = b->step->text.count, space_size = b->step->more.count;
    if (b->size == pad_size && !memcmp(b->text, pad, pad_size)) return;
    if (b->step->flags & 1)
        replaced(b, space, space_size, " ", 1);
    else
        same(b);
}

// A pattern that is plain text; others are left as they are.
static void pattern(Bytes *b)
{
    const HoloMatcher *m = &b->t->matcher[b->step->number[0]];
    if (m->pattern->form == HOLO_PATTERN_TEXT)
        replaced(b, m->text, m->pattern->text.count, holo_text_span(b->t, b->step->text), b->step->text.count);
    else
        same(b);
}

static int hex(uint8_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

static void fallback(Bytes *b)
{
    bool is_byte =
        b->size == 6 && !memcmp(b->text, "<0x", 3) && b->text[5] == '>' && hex(b->text[3]) >= 0 && hex(b->text[4]) >= 0;
    if (is_byte)
        holo_growing_add_byte(b->out, (uint8_t)(hex(b->text[3]) * 16 + hex(b->text[4])));
    else
        same(b);
}

static void strip(Bytes *b)
{
    const uint8_t *mark = holo_text_span(b->t, b->step->text);
    size_t         size = b->step->text.count, begin = 0, end = b->size;
    for (uint32_t k = 0; k < b->step->number[0] && end - begin >= size && !memcmp(b->text + begin, mark, size); k++)
        begin += size;
    for (uint32_t k = 0; k < b->step->number[1] && end - begin >= size && !memcmp(b->text + end - size, mark, size);
         k++)
        end -= size;
    holo_growing_add(b->out, b->text + begin, end - begin);
}

static void (*const steps[HOLO_DECODERS])(Bytes *) = {
    [HOLO_DECODE_BYTES] = letters,     [HOLO_DECODE_METASPACE] = spaces, [HOLO_DECODE_WORDPIECE] = word_piece,
    [HOLO_DECODE_SUFFIX] = suffix,     [HOLO_DECODE_CTC] = sounds,       [HOLO_DECODE_REPLACE] = pattern,
    [HOLO_DECODE_FALLBACK] = fallback, [HOLO_DECODE_FUSE] = same,        [HOLO_DECODE_STRIP] = strip,
};

void holo_token_bytes_add(const HoloTokenizer *t, uint32_t id, HoloGrowing *spare, HoloGrowing *out)
{
    HoloString token    = holo_tokenizer_token(t, id);
    bool       is_fused = false;
    size_t     start    = out->size;
    if (!token.size || holo_tokenizer_is_special(t, id)) return;
    if (t->header->flags & HOLO_DECODE_JOIN) holo_growing_add_byte(out, ' ');
    holo_growing_add(out, token.data, token.size);
    for (uint32_t i = 0; i < t->header->decoders.count && !out->is_failed && !spare->is_failed; i++) {
        Bytes b = {.t = t, .step = &t->decoders[i], .out = out};
        if (b.step->kind == HOLO_DECODE_FUSE) is_fused = true;
        if (b.step->kind == HOLO_DECODE_STRIP && is_fused) continue; // the beginning and the end of all
        spare->size = 0;
        holo_growing_add(spare, out->data + start, out->size - start);
        if (spare->is_failed) return;
        b.text    = spare->data;
        b.size    = spare->size;
        out->size = start;
        steps[b.step->kind](&b);
    }
}

HoloStatus holo_tokenizer_token_bytes(HoloTokenizer *t, uint32_t id, char **out_bytes, size_t *out_size,
                                      HoloError *error)
{
    HoloGrowing out = {0}, spare = {0};
    *out_bytes = NULL;
    *out_size  = 0;
    holo_token_bytes_add(t, id, &spare, &out);
    size_t size = out.size;
    holo_growing_add_byte(&out, 0); // so that nothing is not NULL
    bool is_failed = out.is_failed || spare.is_failed;
    holo_growing_deinit(&spare);
    if (is_failed) {
        holo_growing_deinit(&out);
        return holo_fail_memory(error);
    }
    *out_bytes = (char *)out.data;
    *out_size  = size;
    return HOLO_OK;
}
