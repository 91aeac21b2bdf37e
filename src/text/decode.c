// decode.c - ids to text: the steps of decoders, over a list of tokens' texts.
#include "base/bytes.h"
#include "text/tokenizer.h"

#include <string.h>

typedef struct Decoding {
    const HoloTokenizer *t;
    const HoloTextStep  *step;
    HoloTextWork        *work;
    const HoloPieces    *in; // over `text`
    const uint8_t       *text;
    HoloPieces          *out; // over `written`
    HoloGrowing         *written;
} Decoding;

static void piece_add(Decoding *d, size_t start)
{
    holo_pieces_add(d->out, start, d->written->size - start, HOLO_NO_TOKEN, false);
}

static void decode_bytes(Decoding *d)
{
    HoloGrowing *bytes = &d->work->clean;
    int          step;
    bytes->size = 0;
    for (size_t i = 0; i < d->in->count; i++) {
        const uint8_t *text = d->text + d->in->piece[i].start;
        size_t         size = d->in->piece[i].size, begin = bytes->size;
        for (size_t at = 0; at < size; at += (size_t)step) {
            int byte = holo_letter_byte(holo_code_read(text + at, size - at, &step));
            if (byte < 0) { // a token that is not written in such letters stands for itself
                bytes->size = begin;
                holo_growing_add(bytes, text, size);
                break;
            }
            holo_growing_add_byte(bytes, (uint8_t)byte);
        }
    }
    bool   is_cut;
    size_t start = d->written->size;
    for (size_t at = 0; at < bytes->size;) {
        size_t good = holo_utf8_valid(bytes->data + at, bytes->size - at);
        holo_growing_add(d->written, bytes->data + at, good);
        at += good;
        if (at == bytes->size) break;
        at += holo_utf8_bad(bytes->data + at, bytes->size - at, &is_cut);
        holo_growing_add_code(d->written, 0xFFFD);
    }
    piece_add(d, start);
}

static void decode_metaspace(Decoding *d)
{
    int step;
    for (size_t i = 0; i < d->in->count; i++) {
        const uint8_t *text = d->text + d->in->piece[i].start;
        size_t         size = d->in->piece[i].size, start = d->written->size;
        for (size_t at = 0; at < size; at += (size_t)step) {
            uint32_t code = holo_code_read(text + at, size - at, &step);
            if (code != d->step->number[0])
                holo_growing_add(d->written, text + at, (size_t)step);
            else if (i || !(d->step->flags & 1))
                holo_growing_add_byte(d->written, ' ');
        }
        piece_add(d, start);
    }
}

// Replaces a text everywhere in what was written from `start` on.
static void replace_all(Decoding *d, size_t start, const char *what, size_t what_size, const char *with,
                        size_t with_size)
{
    HoloGrowing   *spare = &d->work->letters;
    const uint8_t *at, *end;
    if (!what_size || d->written->is_failed) return;
    spare->size = 0;
    holo_growing_add(spare, d->written->data + start, d->written->size - start);
    if (spare->is_failed) return;
    at               = spare->data;
    end              = at + spare->size;
    d->written->size = start;
    while (at < end) {
        const uint8_t *found = holo_bytes_find(at, (size_t)(end - at), what, what_size);
        holo_growing_add(d->written, at, (size_t)((found ? found : end) - at));
        if (!found) break;
        holo_growing_add(d->written, with, with_size);
        at = found + what_size;
    }
}

static void clean_up(Decoding *d, size_t start)
{
    static const char *const pairs[][2] = {
        {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},    {" n't", "n't"},
        {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
    };
    for (int i = 0; i < HOLO_COUNT(pairs); i++)
        replace_all(d, start, pairs[i][0], strlen(pairs[i][0]), pairs[i][1], strlen(pairs[i][1]));
}

static void decode_wordpiece(Decoding *d)
{
    const char *prefix = holo_text_span(d->t, d->step->text);
    size_t      size   = d->step->text.count;
    for (size_t i = 0; i < d->in->count; i++) {
        HoloPiece p         = d->in->piece[i];
        size_t    start     = d->written->size;
        bool      continues = i && p.size >= size && !memcmp(d->text + p.start, prefix, size);
        if (continues)
            p.start += size, p.size -= size;
        else if (i)
            holo_growing_add_byte(d->written, ' ');
        holo_growing_add(d->written, d->text + p.start, p.size);
        if (d->step->flags & 1) clean_up(d, start);
        piece_add(d, start);
    }
}

static void decode_suffix(Decoding *d)
{
    for (size_t i = 0; i < d->in->count; i++) {
        HoloPiece p     = d->in->piece[i];
        size_t    start = d->written->size;
        holo_growing_add(d->written, d->text + p.start, p.size);
        replace_all(d, start, holo_text_span(d->t, d->step->text), d->step->text.count, " ", i + 1 < d->in->count);
        piece_add(d, start);
    }
}

static void decode_ctc(Decoding *d)
{
    for (size_t i = 0; i < d->in->count; i++) {
        HoloPiece p = d->in->piece[i], q = i ? d->in->piece[i - 1] : p;
        size_t    start = d->written->size;
        if (i && p.size == q.size && !memcmp(d->text + p.start, d->text + q.start, p.size))
            continue; // the same sound goes on
        holo_growing_add(d->written, d->text + p.start, p.size);
        replace_all(d, start, holo_text_span(d->t, d->step->text), d->step->text.count, "", 0);
        if (d->step->flags & 1) {
            clean_up(d, start);
            replace_all(d, start, holo_text_span(d->t, d->step->more), d->step->more.count, " ", 1);
        }
        if (d->written->size > start) piece_add(d, start);
    }
}

static void decode_replace(Decoding *d)
{
    const HoloMatcher *m = &d->t->matcher[d->step->number[0]];
    for (size_t i = 0; i < d->in->count; i++) {
        const uint8_t *text = d->text + d->in->piece[i].start;
        size_t size = d->in->piece[i].size, start = d->written->size, begin, end, done = 0, at = 0, last = SIZE_MAX;
        while (size && at <= size && holo_matcher_find(m, &d->work->matching, text, size, at, &begin, &end)) {
            if (begin == end && begin == last) {
                int step = 1;
                if (at < size) holo_code_read(text + at, size - at, &step);
                at += (size_t)step;
                continue;
            }
            holo_growing_add(d->written, text + done, begin - done);
            holo_growing_add(d->written, holo_text_span(d->t, d->step->text), d->step->text.count);
            done = at = last = end;
        }
        holo_growing_add(d->written, text + done, size - done);
        piece_add(d, start);
    }
}

// The byte of a token <0x1F>; -1: it is another one.
static int byte_token(const uint8_t *text, size_t size)
{
    int value = 0;
    if (size != 6 || memcmp(text, "<0x", 3) || text[5] != '>') return -1;
    for (int i = 3; i < 5; i++) {
        int c = text[i], digit = c >= '0' && c <= '9'                 ? c - '0'
                                 : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                                      : -1;
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

// Bytes in a row: a piece if they are text, else a replacement character for each.
static void bytes_flush(Decoding *d, HoloGrowing *bytes)
{
    size_t start = d->written->size;
    bool   good  = holo_utf8_valid(bytes->data, bytes->size) == bytes->size;
    if (bytes->size && good) {
        holo_growing_add(d->written, bytes->data, bytes->size);
        piece_add(d, start);
    }
    for (size_t i = 0; i < bytes->size && !good; i++) {
        start = d->written->size;
        holo_growing_add_code(d->written, 0xFFFD);
        piece_add(d, start);
    }
    bytes->size = 0;
}

static void decode_fallback(Decoding *d)
{
    HoloGrowing *bytes = &d->work->clean;
    bytes->size        = 0;
    for (size_t i = 0; i < d->in->count; i++) {
        const uint8_t *text = d->text + d->in->piece[i].start;
        int            byte = byte_token(text, d->in->piece[i].size);
        if (byte >= 0) {
            holo_growing_add_byte(bytes, (uint8_t)byte);
            continue;
        }
        bytes_flush(d, bytes);
        size_t start = d->written->size;
        holo_growing_add(d->written, text, d->in->piece[i].size);
        piece_add(d, start);
    }
    bytes_flush(d, bytes);
}

static void decode_fuse(Decoding *d)
{
    size_t start = d->written->size;
    for (size_t i = 0; i < d->in->count; i++)
        holo_growing_add(d->written, d->text + d->in->piece[i].start, d->in->piece[i].size);
    piece_add(d, start);
}

static void decode_strip(Decoding *d)
{
    const uint8_t *mark = holo_text_span(d->t, d->step->text);
    size_t         size = d->step->text.count;
    for (size_t i = 0; i < d->in->count; i++) {
        const uint8_t *text  = d->text + d->in->piece[i].start;
        size_t         begin = 0, end = d->in->piece[i].size, start = d->written->size;
        for (uint32_t k = 0; k < d->step->number[0] && end - begin >= size && !memcmp(text + begin, mark, size); k++)
            begin += size;
        for (uint32_t k = 0; k < d->step->number[1] && end - begin >= size && !memcmp(text + end - size, mark, size);
             k++)
            end -= size;
        holo_growing_add(d->written, text + begin, end - begin);
        piece_add(d, start);
    }
}

static void (*const steps[HOLO_DECODERS])(Decoding *) = {
    [HOLO_DECODE_BYTES]     = decode_bytes,
    [HOLO_DECODE_METASPACE] = decode_metaspace,
    [HOLO_DECODE_WORDPIECE] = decode_wordpiece,
    [HOLO_DECODE_SUFFIX]    = decode_suffix,
    [HOLO_DECODE_CTC]       = decode_ctc,
    [HOLO_DECODE_REPLACE]   = decode_replace,
    [HOLO_DECODE_FALLBACK]  = decode_fallback,
    [HOLO_DECODE_FUSE]      = decode_fuse,
    [HOLO_DECODE_STRIP]     = decode_strip,
};

// An added token as it looks after normalizing.
static HoloString respelt(const HoloTokenizer *t, uint32_t id)
{
    uint32_t low = 0, high = t->header->added.count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (t->added[middle].token < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == t->header->added.count || t->added[low].token != id) return holo_token(t, id);
    return (HoloString){holo_text_span(t, t->added[low].respelt), t->added[low].respelt.count};
}

// The text, in work->given.
static void decode_all(const HoloTokenizer *t, HoloTextWork *work, const uint32_t *ids, size_t count, uint32_t flags)
{
    int now               = 0;
    work->pieces[0].count = 0;
    work->text[0].size    = 0;
    work->text[0].most    = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_one = ids[i] < t->header->token_count && t->token_flags[ids[i]] & HOLO_TOKEN_IS;
        if (!is_one) continue;
        uint8_t    kind = t->token_flags[ids[i]];
        HoloString text = kind & HOLO_TOKEN_RESPELT ? respelt(t, ids[i]) : holo_token(t, ids[i]);
        if ((kind & (HOLO_TOKEN_SPECIAL | HOLO_TOKEN_RESPELT)) == HOLO_TOKEN_SPECIAL && !(flags & HOLO_TEXT_SPECIAL))
            continue;
        holo_pieces_add(&work->pieces[0], work->text[0].size, text.size, HOLO_NO_TOKEN, false);
        holo_growing_add(&work->text[0], text.data, text.size);
    }
    holo_work_allow(work, work->text[0].size);
    for (uint32_t i = 0; i < t->header->decoders.count && !holo_work_is_spoilt(work); i++, now = !now) {
        Decoding d   = {.t       = t,
                        .step    = &t->decoders[i],
                        .work    = work,
                        .in      = &work->pieces[now],
                        .text    = work->text[now].data,
                        .out     = &work->pieces[!now],
                        .written = &work->text[!now]};
        d.out->count = 0;
        holo_work_begin(work, d.written, work->text[now].size);
        steps[d.step->kind](&d);
        holo_work_end(work, d.written, work->text[now].size);
    }
    work->given.size = 0;
    for (size_t i = 0; i < work->pieces[now].count; i++) {
        HoloPiece p = work->pieces[now].piece[i];
        if (i && t->header->flags & HOLO_DECODE_JOIN) holo_growing_add_byte(&work->given, ' ');
        holo_growing_add(&work->given, work->text[now].data + p.start, p.size);
    }
}

HoloStatus holo_tokenizer_decode(HoloTokenizer *t, const uint32_t *ids, size_t count, uint32_t flags, char **out_text,
                                 size_t *out_size, HoloError *error)
{
    *out_text          = NULL;
    *out_size          = 0;
    HoloTextWork *work = holo_work_take(t);
    if (!work) return holo_fail_memory(error);
    decode_all(t, work, ids, count, flags);
    size_t size = work->given.size;
    char  *text = holo_work_is_spoilt(work) ? NULL : holo_realloc(NULL, size + 1);
    if (text && size) memcpy(text, work->given.data, size);
    if (text) text[size] = 0;
    HoloStatus status = text ? HOLO_OK : holo_work_fail(work, error);
    holo_work_give(t, work);
    HOLO_TRY(status);
    *out_text = text;
    *out_size = size;
    return HOLO_OK;
}

void holo_text_free(char *text)
{
    holo_free(text);
}
