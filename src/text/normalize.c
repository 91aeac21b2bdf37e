// normalize.c - the steps that change text before it is cut into words.
#include "text/tokenizer.h"

#include <string.h>

HoloGrowing *holo_view_begin(HoloTextWork *work, const HoloView *view)
{
    HoloGrowing *out = &work->text[view->buffer == 0];
    holo_work_begin(work, out, view->size);
    return out;
}

void holo_view_end(HoloTextWork *work, HoloView *view)
{
    view->buffer = view->buffer == 0;
    holo_work_end(work, &work->text[view->buffer], view->size);
    view->text = work->text[view->buffer].data;
    view->size = work->text[view->buffer].size;
}

typedef struct Step {
    const HoloTokenizer *t;
    const HoloTextStep  *step;
    HoloTextWork        *work;
    const uint8_t       *text;
    size_t               size;
    HoloGrowing         *out;
    bool                 cut; // set where something goes in front, and the text begins later
} Step;

static void form(Step *s)
{
    holo_normal_form((HoloNormalForm)s->step->number[0], s->text, s->size, s->out);
}

static void lowercase(Step *s)
{
    holo_lowercase(s->text, s->size, s->out);
}

static void accents(Step *s)
{
    int step;
    for (size_t at = 0; at < s->size; at += (size_t)step) {
        uint32_t code    = holo_code_read(s->text + at, s->size - at, &step);
        bool     dropped = s->step->flags & 1 ? holo_is_nonspacing(code) : holo_is_combining(code);
        if (!dropped) holo_growing_add(s->out, s->text + at, (size_t)step);
        if (!s->out->size) s->cut = true;
    }
}

static void strip(Step *s)
{
    int    step;
    size_t begin = 0, end = s->size;
    while (s->step->flags & 1 && begin < end && holo_is_white(holo_code_read(s->text + begin, end - begin, &step)))
        begin += (size_t)step;
    while (s->step->flags & 2 && begin < end) {
        size_t last = end - 1;
        while (last > begin && (s->text[last] & 0xC0) == 0x80) last--;
        if (!holo_is_white(holo_code_read(s->text + last, end - last, &step))) break;
        end = last;
    }
    s->cut = begin > 0;
    holo_growing_add(s->out, s->text + begin, end - begin);
}

// What comes in the place of a match stands where its last character did.
static bool begins_later(const Step *s, size_t end)
{
    int step;
    holo_code_read(s->text, end, &step);
    return !s->step->text.count || (size_t)step < end;
}

static void replace(Step *s)
{
    const HoloMatcher *m = &s->t->matcher[s->step->number[0]];
    size_t             begin, end, done = 0, at = 0, last = SIZE_MAX;
    while (at <= s->size && !s->out->is_failed &&
           holo_matcher_find(m, &s->work->matching, s->text, s->size, at, &begin, &end)) {
        if (begin == end && begin == last) { // an empty match right behind the last one
            int step = 1;
            if (at < s->size) holo_code_read(s->text + at, s->size - at, &step);
            at += (size_t)step;
            continue;
        }
        if (!s->out->size && begin == done && end > begin) s->cut |= begin || begins_later(s, end);
        holo_growing_add(s->out, s->text + done, begin - done);
        holo_growing_add(s->out, holo_text_span(s->t, s->step->text), s->step->text.count);
        done = at = last = end;
    }
    holo_growing_add(s->out, s->text + done, s->size - done);
}

static void prepend(Step *s)
{
    if (s->size) holo_growing_add(s->out, holo_text_span(s->t, s->step->text), s->step->text.count);
    holo_growing_add(s->out, s->text, s->size);
}

static void clean(Step *s)
{
    int step;
    for (size_t at = 0; at < s->size; at += (size_t)step) {
        uint32_t code = holo_code_read(s->text + at, s->size - at, &step);
        if (code > 32 && code < 127) {
            holo_growing_add_byte(s->out, (uint8_t)code);
            continue;
        }
        bool is_control = code != '\t' && code != '\n' && code != '\r' && holo_is_control(code);
        if (!code || code == 0xFFFD || is_control) {
            s->cut |= !s->out->size;
            continue;
        }
        if (holo_is_white(code))
            holo_growing_add_byte(s->out, ' ');
        else
            holo_growing_add(s->out, s->text + at, (size_t)step);
    }
}

static bool is_chinese(uint32_t code)
{
    return (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0x3400 && code <= 0x4DBF) ||
           (code >= 0x20000 && code <= 0x2A6DF) || (code >= 0x2A700 && code <= 0x2B73F) ||
           (code >= 0x2B740 && code <= 0x2B81F) || (code >= 0x2B920 && code <= 0x2CEAF) ||
           (code >= 0xF900 && code <= 0xFAFF) || (code >= 0x2F800 && code <= 0x2FA1F);
}

static void chinese(Step *s)
{
    int step;
    for (size_t at = 0; at < s->size; at += (size_t)step) {
        bool is_one = is_chinese(holo_code_read(s->text + at, s->size - at, &step));
        if (is_one) holo_growing_add_byte(s->out, ' ');
        holo_growing_add(s->out, s->text + at, (size_t)step);
        if (is_one) holo_growing_add_byte(s->out, ' ');
    }
}

static void nmt(Step *s)
{
    int step;
    for (size_t at = 0; at < s->size; at += (size_t)step) {
        uint32_t c = holo_code_read(s->text + at, s->size - at, &step);
        bool     dropped =
            (c >= 1 && c <= 8) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
        bool space = c == 9 || c == 10 || c == 12 || c == 13 || c == 0x1680 || (c >= 0x200B && c <= 0x200F) ||
                     c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
        if (space)
            holo_growing_add_byte(s->out, ' ');
        else if (!dropped)
            holo_growing_add(s->out, s->text + at, (size_t)step);
        s->cut |= !s->out->size;
    }
}

static void bytes(Step *s)
{
    for (size_t at = 0; at < s->size; at++) holo_growing_add_code(s->out, holo_byte_letters[s->text[at]]);
}

// ---- SentencePiece's map of characters: units of darts-clone's double array

static uint32_t unit_offset(uint32_t unit)
{
    return (unit >> 10) << ((unit & 0x200) >> 6);
}

bool holo_charsmap_find(const HoloTokenizer *t, const HoloTextStep *step, const uint8_t *text, size_t size,
                        HoloString *out)
{
    const uint8_t *units = holo_text_span(t, step->text);
    const char    *texts = holo_text_span(t, step->more);
    uint32_t       count = step->text.count / 4, at = 0, unit;
    if (!count) return false;
    memcpy(&unit, units, 4);
    at = unit_offset(unit);
    for (size_t i = 0; i < size && text[i]; i++) {
        at ^= text[i];
        if (at >= count) return false;
        memcpy(&unit, units + (size_t)at * 4, 4);
        if ((unit & 0x800000FF) != text[i]) return false;
        at ^= unit_offset(unit);
        if (!(unit & 0x100)) continue;
        if (at >= count) return false;
        memcpy(&unit, units + (size_t)at * 4, 4);
        uint32_t begin = unit & 0x7FFFFFFF, end = begin; // the shortest text that is there counts
        if (begin > step->more.count) return false;
        while (end < step->more.count && texts[end]) end++;
        *out = (HoloString){texts + begin, end - begin};
        return true;
    }
    return false;
}

static void charsmap(Step *s)
{
    HoloString found;
    int        step;
    for (size_t at = 0; at < s->size;) {
        size_t cluster = holo_cluster_size(s->text + at, s->size - at), end = at + cluster;
        if (cluster < 6 && holo_charsmap_find(s->t, s->step, s->text + at, cluster, &found)) {
            holo_growing_add(s->out, found.data, found.size);
            at = end;
            continue;
        }
        for (; at < end; at += (size_t)step) {
            holo_code_read(s->text + at, end - at, &step);
            if (holo_charsmap_find(s->t, s->step, s->text + at, (size_t)step, &found))
                holo_growing_add(s->out, found.data, found.size);
            else
                holo_growing_add(s->out, s->text + at, (size_t)step);
        }
    }
}

static void (*const steps[HOLO_NORMALIZERS])(Step *) = {
    [HOLO_NORMALIZE_FORM] = form,         [HOLO_NORMALIZE_LOWERCASE] = lowercase, [HOLO_NORMALIZE_ACCENTS] = accents,
    [HOLO_NORMALIZE_STRIP] = strip,       [HOLO_NORMALIZE_REPLACE] = replace,     [HOLO_NORMALIZE_PREPEND] = prepend,
    [HOLO_NORMALIZE_CHARSMAP] = charsmap, [HOLO_NORMALIZE_CLEAN] = clean,         [HOLO_NORMALIZE_CHINESE] = chinese,
    [HOLO_NORMALIZE_NMT] = nmt,           [HOLO_NORMALIZE_BYTES] = bytes,
};

void holo_normalize(const HoloTokenizer *t, HoloTextWork *work, HoloView *view, bool *out_cut)
{
    *out_cut = false;
    for (uint32_t i = 0; i < t->header->normalizers.count && !holo_work_is_spoilt(work); i++) {
        Step s = {.t = t, .step = &t->normalizers[i], .work = work, .text = view->text, .size = view->size};
        s.out  = holo_view_begin(work, view);
        steps[s.step->kind](&s);
        holo_view_end(work, view);
        *out_cut |= s.cut;
    }
}
