// unicode_forms.c - lower case, normal forms and grapheme clusters. See unicode.h.
#include "text/unicode.h"

#include <string.h>

void holo_lowercase(const uint8_t *text, size_t size, HoloGrowing *out)
{
    int step;
    for (size_t at = 0; at < size; at += (size_t)step) {
        uint32_t code = holo_code_read(text + at, size - at, &step);
        if (code < 128) {
            holo_growing_add_byte(out, (uint8_t)(code - 'A' < 26 ? code + 32 : code));
            continue;
        }
        int             count = 0;
        uint32_t        room;
        const uint32_t *to = NULL;
        if (holo_unicode(code)->flags & HOLO_HAS_LOWER)
            to = holo_unicode_mapped(&holo_unicode_lower, code, &room, &count);
        if (!to) holo_growing_add(out, text + at, (size_t)step);
        for (int i = 0; i < count; i++) holo_growing_add_code(out, to[i]);
    }
}

// ---- normal forms

enum { S_BASE = 0xAC00, L_BASE = 0x1100, V_BASE = 0x1161, T_BASE = 0x11A7, L_COUNT = 19, V_COUNT = 21, T_COUNT = 28 };
enum { S_COUNT = L_COUNT * V_COUNT * T_COUNT };

typedef struct Forming {
    HoloNormalForm form;
    HoloGrowing   *out;
    uint32_t      *code; // a starter and the marks behind it, and what is behind that
    uint8_t       *combining;
    size_t         count, room;
    bool           is_failed;
} Forming;

static void forming_add(Forming *f, uint32_t code)
{
    if (f->count == f->room) {
        size_t    room  = f->room ? f->room * 2 : 64;
        uint32_t *codes = holo_realloc(f->code, room * sizeof *codes);
        if (codes) f->code = codes;
        uint8_t *combining = codes ? holo_realloc(f->combining, room) : NULL;
        if (combining) f->combining = combining;
        if (!combining) {
            f->is_failed = true;
            return;
        }
        f->room = room;
    }
    const HoloUnicodeRecord *r = holo_unicode(code);
    uint8_t class              = r->flags & HOLO_SINCE_10 ? 0 : r->combining;
    f->code[f->count]          = code;
    f->combining[f->count++]   = class;
}

// Puts the marks of a run in the order of their classes; those of one class stay as they are.
static void forming_sort(Forming *f, size_t begin, size_t end)
{
    size_t    start[257] = {0}, count = end - begin;
    uint32_t *sorted = holo_realloc(NULL, count * sizeof *sorted);
    if (!sorted) {
        f->is_failed = true;
        return;
    }
    for (size_t i = begin; i < end; i++) start[f->combining[i] + 1]++;
    for (int class = 0; class < 256; class ++) start[class + 1] += start[class];
    for (size_t i = begin; i < end; i++) sorted[start[f->combining[i]]++] = f->code[i];
    size_t at = begin;
    for (int class = 0; class < 256; class ++)
        for (; at < begin + start[class]; at++) f->combining[at] = (uint8_t) class; // start is now where it ends
    memcpy(f->code + begin, sorted, count * sizeof *sorted);
    holo_free(sorted);
}

static void forming_order(Forming *f)
{
    size_t begin     = 0;
    bool   is_sorted = true;
    for (size_t i = 0; i <= f->count; i++) {
        if (i < f->count && f->combining[i]) {
            is_sorted = is_sorted && (i == begin || f->combining[i - 1] <= f->combining[i]);
            continue;
        }
        if (!is_sorted) forming_sort(f, begin, i);
        begin     = i + 1;
        is_sorted = true;
    }
}

static void forming_decompose(Forming *f, uint32_t code)
{
    uint32_t syllable = code - S_BASE;
    if (syllable < S_COUNT) {
        forming_add(f, L_BASE + syllable / (V_COUNT * T_COUNT));
        forming_add(f, V_BASE + syllable % (V_COUNT * T_COUNT) / T_COUNT);
        if (syllable % T_COUNT) forming_add(f, T_BASE + syllable % T_COUNT);
        return;
    }
    unsigned flags = holo_unicode(code)->flags;
    bool     wide  = (f->form == HOLO_NFKD || f->form == HOLO_NFKC) &&
                (flags & (HOLO_HAS_COMPAT | HOLO_SINCE_10)) == HOLO_HAS_COMPAT;
    int             count = 0;
    uint32_t        room;
    const uint32_t *to = NULL;
    if (wide || (flags & (HOLO_HAS_CANONICAL | HOLO_SINCE_10)) == HOLO_HAS_CANONICAL)
        to = holo_unicode_mapped(wide ? &holo_unicode_compat : &holo_unicode_canonical, code, &room, &count);
    if (!to) forming_add(f, code);
    for (int i = 0; i < count; i++) forming_add(f, to[i]);
}

// What two code points compose to; 0: nothing.
static uint32_t composed(uint32_t a, uint32_t b)
{
    if (a - L_BASE < L_COUNT && b - V_BASE < V_COUNT) return S_BASE + ((a - L_BASE) * V_COUNT + (b - V_BASE)) * T_COUNT;
    if (a - S_BASE < S_COUNT && (a - S_BASE) % T_COUNT == 0 && b - T_BASE - 1 < T_COUNT - 1) return a + (b - T_BASE);
    int low = 0, high = holo_unicode_pair_count;
    while (low < high) {
        int                    middle = (low + high) / 2;
        const HoloUnicodePair *p      = &holo_unicode_pairs[middle];
        if (p->first == a && p->second == b) return p->code;
        if (p->first < a || (p->first == a && p->second < b))
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

// Composes what is there: a mark with the starter before it, if no mark between them has its class or a higher one.
static void forming_compose(Forming *f)
{
    size_t starter = SIZE_MAX, kept = 0;
    int    last = -1; // class of the mark before, behind the starter
    for (size_t i = 0; i < f->count; i++) {
        uint32_t code = f->code[i], one = 0;
        int class = f->combining[i];
        if (starter != SIZE_MAX && (last == -1 || last < class)) one = composed(f->code[starter], code);
        if (one) {
            f->code[starter] = one;
            continue;
        }
        f->code[kept]      = code;
        f->combining[kept] = (uint8_t) class;
        if (!class)
            starter = kept, last = -1;
        else
            last = class;
        kept++;
    }
    f->count = kept;
}

static void forming_flush(Forming *f)
{
    forming_order(f);
    if (f->form == HOLO_NFC || f->form == HOLO_NFKC) forming_compose(f);
    for (size_t i = 0; i < f->count; i++) holo_growing_add_code(f->out, f->code[i]);
    f->count = 0;
}

void holo_normal_form(HoloNormalForm form, const uint8_t *text, size_t size, HoloGrowing *out)
{
    Forming f = {.form = form, .out = out};
    for (size_t at = 0; at < size;) {
        // ASCII before ASCII is what it is, and composes with nothing.
        size_t plain = at;
        while (plain < size && text[plain] < 128) plain++;
        if (plain < size && plain > at) plain--;
        if (plain > at) {
            forming_flush(&f);
            holo_growing_add(out, text + at, plain - at);
            at = plain;
            continue;
        }
        int step;
        forming_decompose(&f, holo_code_read(text + at, size - at, &step));
        at += (size_t)step;
    }
    forming_flush(&f);
    if (f.is_failed) out->is_failed = true;
    holo_free(f.code);
    holo_free(f.combining);
}

// ---- grapheme clusters

enum {
    OTHER,
    CR,
    LF,
    CONTROL,
    EXTEND,
    ZWJ,
    REGIONAL,
    PREPEND,
    SPACING,
    HANGUL_L,
    HANGUL_V,
    HANGUL_T,
    HANGUL_LV,
    HANGUL_LVT
};

// Whether there is no border between two characters, by their own kinds.
static bool joins(int a, int b)
{
    if (a == CR || a == LF || a == CONTROL) return a == CR && b == LF;
    if (b == CR || b == LF || b == CONTROL) return false;
    if (a == HANGUL_L && (b == HANGUL_L || b == HANGUL_V || b == HANGUL_LV || b == HANGUL_LVT)) return true;
    if ((a == HANGUL_LV || a == HANGUL_V) && (b == HANGUL_V || b == HANGUL_T)) return true;
    if ((a == HANGUL_LVT || a == HANGUL_T) && b == HANGUL_T) return true;
    return b == EXTEND || b == ZWJ || b == SPACING || a == PREPEND;
}

size_t holo_cluster_size(const uint8_t *text, size_t size)
{
    int                      step;
    size_t                   at     = 0;
    const HoloUnicodeRecord *r      = holo_unicode(holo_code_read(text, size, &step));
    int                      before = r->cluster, regional = before == REGIONAL;
    bool picture = r->flags & HOLO_PICTOGRAPHIC, joined = false; // a picture, then extenders, then a joiner
    for (at = (size_t)step; at < size; at += (size_t)step) {
        r            = holo_unicode(holo_code_read(text + at, size - at, &step));
        int  now     = r->cluster;
        bool is_next = r->flags & HOLO_PICTOGRAPHIC;
        if (!joins(before, now) && !(joined && is_next) && !(now == REGIONAL && before == REGIONAL && regional == 1))
            break;
        joined = picture && now == ZWJ;
        if (is_next)
            picture = true;
        else if (now != EXTEND && now != ZWJ)
            picture = false;
        if (now == REGIONAL) regional++;
        before = now;
    }
    return at;
}
