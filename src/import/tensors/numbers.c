// numbers.c - a tensor from text: numbers separated by commas, semicolons, spaces or brackets, in rows, as in .csv
// files. Numbers may be in quotes; none may be missing. Lists inside of a list, [[1, 2], [3, 4]], say the shape.
#include "import/import.h"
#include "ops/tensor.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Reader {
    const char *at, *end;
    int64_t     line;
    char        word[64]; // the current one, cut
    bool        is_cut;
    HoloError  *error;
} Reader;

typedef struct Count {
    int64_t words, rows, columns; // columns -1: rows differ
    Reader  start;                // where the numbers begin: behind a first line without numbers
} Count;

static bool is_between(char c)
{
    return c && strchr(" \t\r\f,;[](){}\"", c);
}

// The next word, and whether it is the first of its line. False: there is none.
static bool next_word(Reader *r, bool *out_is_new_row)
{
    *out_is_new_row = false;
    while (r->at < r->end && (*r->at == '\n' || is_between(*r->at))) {
        if (*r->at++ != '\n') continue;
        r->line++;
        *out_is_new_row = true;
    }
    size_t size = 0;
    r->is_cut   = false;
    for (; r->at < r->end && *r->at && *r->at != '\n' && !is_between(*r->at); r->at++)
        if (size < sizeof r->word - 1)
            r->word[size++] = *r->at;
        else
            r->is_cut = true;
    r->word[size] = 0;
    return size > 0;
}

static bool is_number(const char *word)
{
    char *end;
    (void)strtod(word, &end);
    return end != word && !*end;
}

static void row_end(Count *count, int64_t words)
{
    count->columns = !count->rows || count->columns == words ? words : -1;
    count->rows++;
    count->words += words;
}

static Count count_words(Reader r)
{
    Count   count = {.start = r};
    int64_t row = 0, numbers   = 0;
    bool    is_new, has_header = false;
    for (Reader before = r; next_word(&r, &is_new); before = r) {
        if (is_new && row) {
            if (!count.rows && !numbers && !has_header)
                count.start = before, has_header = true;
            else
                row_end(&count, row);
            row = 0;
        }
        numbers += is_number(r.word);
        row++;
    }
    if (row) row_end(&count, row);
    return count;
}

// ---- the shape

typedef struct Lists { // how deep lists are nested, and how many items each level has; depth 0: there are none
    int     depth;
    int64_t dim[HOLO_MAX_RANK];
} Lists;

// One level up: its list has as many items as all others of that level.
static bool list_close(Lists *out, const int64_t *items, int level)
{
    if (out->dim[level] < 0) out->dim[level] = items[level];
    return out->dim[level] == items[level];
}

// The shape of lists inside of lists. HOLO_BAD_INPUT: they differ in length.
static HoloStatus lists_find(Reader r, Lists *out)
{
    int64_t items[HOLO_MAX_RANK] = {0};
    int     depth = 0, most = 0;
    bool    is_even = true;
    *out            = (Lists){0};
    for (int d = 0; d < HOLO_MAX_RANK; d++) out->dim[d] = -1;
    while (r.at < r.end && (*r.at == ' ' || *r.at == '\n' || *r.at == '\t' || *r.at == '\r')) r.at++;
    if (r.at == r.end || *r.at != '[') return HOLO_OK;
    for (bool in_word = false; r.at < r.end; r.at++) {
        char c = *r.at;
        if (c == '[' && depth == HOLO_MAX_RANK)
            return holo_fail(r.error, HOLO_BAD_INPUT, "lists are nested more than %d deep", HOLO_MAX_RANK);
        if (c == '[' || (!in_word && !is_between(c) && c != '\n')) {
            if (depth) items[depth - 1]++;
            if (c == '[') items[depth++] = 0;
            if (depth > most) most = depth;
            if (c != '[') is_even = is_even && depth == most;
        }
        if (c == ']' && depth > 0) is_even = list_close(out, items, --depth) && is_even;
        in_word = !is_between(c) && c != '\n';
    }
    if (most > 1 && !is_even) return holo_fail(r.error, HOLO_BAD_INPUT, "the lists differ in length or depth");
    out->depth = depth ? 0 : most;
    return HOLO_OK;
}

// Lists that are as deep as the tensor say its shape.
static bool lists_fit(const Lists *lists, const HoloTensor *want, const Count *count, HoloTensor *out)
{
    int64_t all = 1;
    if (lists->depth < 2 || (want && want->rank >= 0 && want->rank != lists->depth)) return false;
    for (int d = 0; d < lists->depth; d++)
        if (__builtin_mul_overflow(all, lists->dim[d], &all)) return false;
    if (all != count->words) return false;
    out->rank = (int8_t)lists->depth;
    for (int d = 0; d < lists->depth; d++) out->dim[d] = lists->dim[d];
    return true;
}

static HoloStatus shape_fail(const HoloTensor *want, const Count *count, HoloError *error)
{
    char text[160] = "";
    int  at        = 0;
    for (int d = 0; d < want->rank && at < 120; d++)
        at += want->dim[d] < 0
                  ? snprintf(text + at, sizeof text - (size_t)at, "%s?", d ? "," : "")
                  : snprintf(text + at, sizeof text - (size_t)at, "%s%lld", d ? "," : "", (long long)want->dim[d]);
    return holo_fail(error, HOLO_BAD_INPUT, "%lld number%s not make a tensor of shape [%s]", (long long)count->words,
                     count->words == 1 ? " does" : "s do", text);
}

// The wanted shape, with dynamic sizes from the number of numbers; if nothing is wanted, the shape of the rows.
static HoloStatus shape_find(const HoloTensor *want, const Count *count, const Lists *lists, HoloTensor *out,
                             HoloError *error)
{
    *out            = (HoloTensor){.dtype = want && want->dtype ? want->dtype : HOLO_F32, .kind = HOLO_TENSOR};
    bool in_columns = count->columns >= 0;
    if (lists_fit(lists, want, count, out)) return HOLO_OK;
    if (!want || want->rank < 0) {
        bool is_table = count->rows > 1 && in_columns;
        out->rank     = is_table ? 2 : 1;
        out->dim[0]   = is_table ? count->rows : count->words;
        out->dim[1]   = count->columns;
        return HOLO_OK;
    }
    int64_t fixed = 1, left = 0;
    int     open = 0;
    out->rank    = want->rank;
    for (int d = 0; d < want->rank; d++) {
        out->dim[d] = want->dim[d];
        if (want->dim[d] < 0)
            open++;
        else if (__builtin_mul_overflow(fixed, want->dim[d], &fixed))
            return shape_fail(want, count, error);
    }
    if (want->rank == 2 && open == 2 && in_columns) {
        out->dim[0] = count->rows;
        out->dim[1] = count->columns;
        return HOLO_OK;
    }
    if (want->rank == 2 && open == 2 && !lists->depth)
        return holo_fail(error, HOLO_BAD_INPUT,
                         "the %lld lines differ in how many numbers they have, so they are not the rows of a tensor",
                         (long long)count->rows);
    if (fixed && count->words % fixed == 0) left = count->words / fixed;
    if (open ? !left : count->words != fixed) return shape_fail(want, count, error);
    // If several sizes are open, the last takes all numbers, as in a batch of one.
    for (int d = 0; d < want->rank; d++)
        if (want->dim[d] < 0) out->dim[d] = --open ? 1 : left;
    return HOLO_OK;
}

// ---- the elements

static HoloStatus word_put(Reader *r, HoloTensor *t, int64_t index)
{
    char *end;
    errno           = 0;
    double number   = strtod(r->word, &end);
    bool   is_bad   = end == r->word || *end;
    HoloClass class = holo_dtype_class((HoloDtype)t->dtype);
    bool is_real    = class == HOLO_CLASS_FLOAT || class == HOLO_CLASS_COMPLEX;
    if (is_real) {
        bool   is_infinite = isinf(number) && !errno; // by its name
        double back        = number;
        holo_put_f(t, index, number);
        if (class == HOLO_CLASS_FLOAT) holo_read_f(t, index, 1, 1, &back);
        return isinf(back) && !is_infinite
                   ? holo_fail(r->error, HOLO_BAD_INPUT, "'%.40s' in line %lld is too large for type %s", r->word,
                               (long long)r->line, holo_dtype_name((HoloDtype)t->dtype))
                   : HOLO_OK;
    }
    errno         = 0;
    int64_t whole = strtoll(r->word, &end, 10);
    if (*end) { // 3.0 and 1e3 are whole numbers, too
        is_bad = number != floor(number) || fabs(number) > 0x1p53;
        whole  = is_bad ? 0 : (int64_t)number;
    }
    if (!is_bad && !errno) holo_put_i(t, index, whole);
    double back = 0;
    if (!is_bad && !errno) holo_read_f(t, index, 1, 1, &back);
    return is_bad || errno || back != (double)whole
               ? holo_fail(r->error, HOLO_BAD_INPUT, "'%.40s' in line %lld is not a number of type %s", r->word,
                           (long long)r->line, holo_dtype_name((HoloDtype)t->dtype))
               : HOLO_OK;
}

static bool is_comma(char c)
{
    return c == ',' || c == ';';
}

// A place without a number: two commas in a row, or one before the first number of a line. A line may end with one.
// Inside of brackets, lines mean nothing. `r` is behind a word, or at the start of the text.
static HoloStatus hole_check(Reader r, bool is_first, bool in_lists)
{
    int  commas  = 0;
    bool is_hole = false, is_start = is_first;
    for (; !is_hole && r.at < r.end && (*r.at == '\n' || is_between(*r.at)); r.at++) {
        if (*r.at == '\n') r.line++, is_start = true;
        commas += is_comma(*r.at);
        is_hole = is_comma(*r.at) && (commas > 1 || (is_start && (is_first || !in_lists)));
    }
    return is_hole ? holo_fail(r.error, HOLO_BAD_INPUT, "a number is missing in line %lld: write nan if there is none",
                               (long long)r.line)
                   : HOLO_OK;
}

static HoloStatus words_check(Reader r, bool is_first)
{
    bool is_new, in_lists = memchr(r.at, '[', (size_t)(r.end - r.at));
    for (;; is_first = false) {
        HOLO_TRY(hole_check(r, is_first, in_lists));
        if (!next_word(&r, &is_new)) break;
        if (is_number(r.word) && r.is_cut)
            return holo_fail(r.error, HOLO_BAD_INPUT, "'%.40s...' in line %lld is too long for a number", r.word,
                             (long long)r.line);
        if (!is_number(r.word))
            return holo_fail(r.error, HOLO_BAD_INPUT,
                             "this is not a tensor; it looks like a text file: '%.40s' in line %lld is not a number",
                             r.word, (long long)r.line);
    }
    if (r.at < r.end) return holo_fail(r.error, HOLO_BAD_INPUT, "line %lld has a zero byte", (long long)r.line);
    return HOLO_OK;
}

HoloStatus holo_import_numbers(HoloArena *arena, const void *bytes, size_t size, const HoloTensor *want,
                               HoloTensor *out, HoloError *error)
{
    Reader r = {.at = bytes, .end = (const char *)bytes + size, .line = 1, .error = error};
    bool   is_new;
    if (size > 2 && !memcmp(bytes, "\xef\xbb\xbf", 3)) r.at += 3; // a byte order mark that some programs write
    Count count    = count_words(r);
    bool  is_first = count.start.at == r.at;
    r              = count.start;
    HOLO_TRY(words_check(r, is_first));
    if (!count.words) return holo_fail(error, HOLO_BAD_INPUT, "this is not a tensor: there are no numbers in it");
    if (want && (want->kind != HOLO_TENSOR || want->dtype == HOLO_STRING))
        return holo_fail(error, HOLO_BAD_INPUT, "a text file can only be a tensor of numbers");
    Lists lists;
    HOLO_TRY(lists_find(r, &lists));
    HOLO_TRY(shape_find(want, &count, &lists, out, error));
    out->data = holo_arena_take(arena, holo_tensor_bytes(out) + 1);
    if (!out->data) return holo_fail_memory(error);
    for (int64_t i = 0; next_word(&r, &is_new); i++) HOLO_TRY(word_put(&r, out, i));
    return HOLO_OK;
}
