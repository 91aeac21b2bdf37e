// split.c - cuts text into words: the steps of pre-tokenizers.
#include "text/tokenizer.h"

#include <string.h>

// ---- behaviors: what becomes of matches and of what is between them

typedef struct Cutter {
    HoloPieces       *out;
    HoloPiece         parent;
    HoloSplitBehavior behavior;
    size_t            begin, end; // of the piece that may still grow
    bool              has, is_match, was_match;
} Cutter;

static void cutter_flush(Cutter *c)
{
    if (c->has && c->end > c->begin)
        holo_pieces_add(c->out, c->parent.start + c->begin, c->end - c->begin, HOLO_NO_TOKEN,
                        c->parent.is_first && !c->begin);
    c->has = false;
}

static void cutter_add(Cutter *c, size_t begin, size_t end, bool is_match)
{
    bool grows = false;
    if (c->behavior == HOLO_CONTIGUOUS)
        grows = is_match == c->was_match && c->has;
    else if (c->behavior == HOLO_MERGED_PREVIOUS)
        grows = is_match && !c->was_match && c->has;
    else if (c->behavior == HOLO_MERGED_NEXT)
        grows = !is_match && c->is_match && c->has;
    c->was_match = c->is_match = is_match;
    if (grows) {
        c->end = end;
        return;
    }
    cutter_flush(c);
    c->begin = begin;
    c->end   = end;
    c->has   = c->behavior != HOLO_REMOVED || !is_match;
}

// ---- steps

typedef struct Split {
    const HoloTokenizer *t;
    const HoloTextStep  *step;
    HoloTextWork        *work;
    const uint8_t       *text; // of the piece
    size_t               size;
    HoloPiece            piece;
    HoloGrowing         *rewritten; // of a step that changes text
    HoloPieces          *out;
} Split;

static void split_pattern(Split *s)
{
    const HoloMatcher *m      = &s->t->matcher[s->step->number[0]];
    Cutter             c      = {.out = s->out, .parent = s->piece, .behavior = (HoloSplitBehavior)s->step->number[1]};
    bool               invert = s->step->flags & 1;
    size_t             begin, end, done = 0, at = 0, last = SIZE_MAX;
    while (at <= s->size && holo_matcher_find(m, &s->work->matching, s->text, s->size, at, &begin, &end)) {
        if (begin == end && begin == last) { // an empty match right behind the last one
            int step = 1;
            if (at < s->size) holo_code_read(s->text + at, s->size - at, &step);
            at += (size_t)step;
            continue;
        }
        if (done != begin) cutter_add(&c, done, begin, invert);
        cutter_add(&c, begin, end, !invert);
        done = at = last = end;
    }
    if (done != s->size) cutter_add(&c, done, s->size, invert);
    cutter_flush(&c);
}

static void split_where(Split *s, bool (*is_match)(uint32_t code, uint32_t what))
{
    Cutter c    = {.out = s->out, .parent = s->piece, .behavior = (HoloSplitBehavior)s->step->number[1]};
    size_t done = 0;
    int    step;
    for (size_t at = 0; at < s->size; at += (size_t)step) {
        if (!is_match(holo_code_read(s->text + at, s->size - at, &step), s->step->number[0])) continue;
        if (done < at) cutter_add(&c, done, at, false);
        cutter_add(&c, at, at + (size_t)step, true);
        done = at + (size_t)step;
    }
    if (done < s->size) cutter_add(&c, done, s->size, false);
    cutter_flush(&c);
}

static bool is_white(uint32_t code, uint32_t what)
{
    (void)what;
    return holo_is_white(code);
}
static bool is_punctuation(uint32_t code, uint32_t what)
{
    (void)what;
    return holo_is_punctuation(code);
}
static bool is_numeric(uint32_t code, uint32_t what)
{
    (void)what;
    return holo_is_numeric(code);
}
static bool is_code(uint32_t code, uint32_t what)
{
    return code == what;
}

static void split_white(Split *s)
{
    split_where(s, is_white);
}
static void split_punctuation(Split *s)
{
    split_where(s, is_punctuation);
}
static void split_numeric(Split *s)
{
    split_where(s, is_numeric);
}
static void split_code(Split *s)
{
    split_where(s, is_code);
}

// Words in one piece, signs in one piece, nothing of what is white.
static void split_word(Split *s)
{
    Cutter c = {.out = s->out, .parent = s->piece, .behavior = HOLO_ISOLATED};
    int    step, kind = 0;
    size_t begin = 0, at = 0;
    for (; at < s->size; at += (size_t)step) {
        uint32_t code = holo_code_read(s->text + at, s->size - at, &step);
        int      now  = holo_is_word(code) ? 1 : holo_is_white(code) ? 0 : 2;
        if (now == kind) continue;
        if (kind) cutter_add(&c, begin, at, false);
        begin = at;
        kind  = now;
    }
    if (kind) cutter_add(&c, begin, at, false);
    cutter_flush(&c);
}

static void split_scripts(Split *s)
{
    enum { NONE = -1, ANY = -2 };
    int last = NONE, han = holo_unicode(0x4E00)->script, hiragana = holo_unicode(0x3042)->script,
        katakana = holo_unicode(0x30A2)->script;
    Cutter c     = {.out = s->out, .parent = s->piece, .behavior = HOLO_ISOLATED};
    size_t done  = SIZE_MAX;
    int    step;
    for (size_t at = 0; at < s->size; at += (size_t)step) {
        uint32_t code   = holo_code_read(s->text + at, s->size - at, &step);
        int      script = holo_unicode(code)->flags & HOLO_SINCE_10 ? 0 : holo_unicode(code)->script;
        if (code == 0x30FC || script == hiragana || script == katakana)
            script = han;
        else if (code == ' ' || !script)
            script = ANY;
        if (script == ANY) continue;
        if (script != last) {
            if (done != SIZE_MAX) cutter_add(&c, done, at, false);
            done = at;
        }
        last = script;
    }
    if (done != SIZE_MAX) cutter_add(&c, done, s->size, false);
    cutter_flush(&c);
}

static void split_length(Split *s)
{
    Cutter   c     = {.out = s->out, .parent = s->piece, .behavior = HOLO_ISOLATED};
    uint32_t count = 0;
    size_t   begin = 0;
    int      step;
    for (size_t at = 0; at < s->size; at += (size_t)step) {
        if (count == s->step->number[0]) {
            cutter_add(&c, begin, at, false);
            begin = at;
            count = 0;
        }
        holo_code_read(s->text + at, s->size - at, &step);
        count++;
    }
    cutter_add(&c, begin, s->size, false);
    cutter_flush(&c);
}

// ---- steps that change text: what they write becomes the piece

static bool begins_with(const Split *s, uint32_t code)
{
    int step;
    return s->size && holo_code_read(s->text, s->size, &step) == code;
}

static void split_metaspace(Split *s)
{
    uint32_t code   = s->step->number[0];
    size_t   start  = s->rewritten->size;
    bool     begins = begins_with(s, code) || begins_with(s, ' ');
    bool     wanted =
        s->step->number[1] == HOLO_PREPEND_ALWAYS || (s->step->number[1] == HOLO_PREPEND_FIRST && s->piece.is_first);
    uint8_t mark[4];
    int     mark_size = holo_code_write(code, mark);
    if (wanted && !begins) holo_growing_add(s->rewritten, mark, (size_t)mark_size);
    for (size_t at = 0; at < s->size; at++) {
        if (s->text[at] == ' ')
            holo_growing_add(s->rewritten, mark, (size_t)mark_size);
        else
            holo_growing_add_byte(s->rewritten, s->text[at]);
    }
    HoloPiece piece = {start, s->rewritten->size - start, HOLO_NO_TOKEN, s->piece.is_first};
    if (!(s->step->flags & 1)) {
        holo_pieces_add(s->out, piece.start, piece.size, HOLO_NO_TOKEN, piece.is_first);
        return;
    }
    HoloTextStep marks = {.kind = HOLO_SPLIT_CODE, .number = {code, HOLO_MERGED_NEXT}};
    Split        inner = *s;
    inner.step         = &marks;
    inner.piece        = piece;
    inner.text         = s->rewritten->data + start;
    inner.size         = piece.size;
    if (piece.size) split_code(&inner);
}

static void split_prefix(Split *s)
{
    size_t start = s->rewritten->size;
    if (!begins_with(s, ' ')) holo_growing_add_byte(s->rewritten, ' ');
    holo_growing_add(s->rewritten, s->text, s->size);
    holo_pieces_add(s->out, start, s->rewritten->size - start, HOLO_NO_TOKEN, s->piece.is_first);
}

static void split_bytes(Split *s)
{
    size_t start = s->rewritten->size;
    for (size_t at = 0; at < s->size; at++) holo_growing_add_code(s->rewritten, holo_byte_letters[s->text[at]]);
    holo_pieces_add(s->out, start, s->rewritten->size - start, HOLO_NO_TOKEN, s->piece.is_first);
}

static const struct {
    void (*run)(Split *);
    bool rewrites;
} steps[HOLO_SPLITS] = {
    [HOLO_SPLIT_PATTERN]     = {split_pattern, false},
    [HOLO_SPLIT_WHITE]       = {split_white, false},
    [HOLO_SPLIT_PUNCTUATION] = {split_punctuation, false},
    [HOLO_SPLIT_NUMERIC]     = {split_numeric, false},
    [HOLO_SPLIT_WORD]        = {split_word, false},
    [HOLO_SPLIT_CODE]        = {split_code, false},
    [HOLO_SPLIT_METASPACE]   = {split_metaspace, true},
    [HOLO_SPLIT_PREFIX]      = {split_prefix, true},
    [HOLO_SPLIT_BYTES]       = {split_bytes, true},
    [HOLO_SPLIT_SCRIPTS]     = {split_scripts, false},
    [HOLO_SPLIT_LENGTH]      = {split_length, false},
};

int holo_words_split(const HoloTokenizer *t, HoloTextWork *work, HoloView *view, bool is_first)
{
    int now               = 0;
    work->pieces[0].count = 0;
    if (view->size) holo_pieces_add(&work->pieces[0], 0, view->size, HOLO_NO_TOKEN, is_first);
    for (uint32_t i = 0; i < t->header->splits.count; i++) {
        const HoloTextStep *step = &t->splits[i];
        if (step->kind == HOLO_SPLIT_BYTES && step->flags & 1) continue; // the model does it
        Split s = {.t = t, .step = step, .work = work, .out = &work->pieces[!now]};
        if (steps[step->kind].rewrites) s.rewritten = holo_view_begin(work, view);
        s.out->count = 0;
        for (size_t k = 0; k < work->pieces[now].count; k++) {
            s.piece = work->pieces[now].piece[k];
            s.text  = view->text + s.piece.start;
            s.size  = s.piece.size;
            steps[step->kind].run(&s);
        }
        if (s.rewritten) holo_view_end(work, view);
        now = !now;
    }
    return now;
}
