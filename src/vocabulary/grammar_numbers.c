// grammar_numbers.c - numbers of JSON Schema: from a smallest to a largest one, as a regular expression over digits.
#include "vocabulary/grammar_schema.h"

#include <stdio.h>
#include <string.h>

enum { DIGITS_MAX = 16, TEXT_MAX = 1 << 14 };
#define NUMBER_MAX INT64_C(1000000000000000) // 10^15

typedef struct DigitText {
    char   text[TEXT_MAX];
    size_t size;
} DigitText;

static void add(DigitText *t, const char *text)
{
    size_t size = strlen(text);
    if (t->size + size + 1 > sizeof t->text) return; // numbers of 16 digits need less than 4 KiB
    memcpy(t->text + t->size, text, size + 1);
    t->size += size;
}

static void add_digits(DigitText *t, int first, int last, int more) // one from first to last, then any
{
    char text[64];
    if (first > last) return;
    snprintf(text, sizeof text, first == last ? "%d" : "[%d-%d]", first, last);
    add(t, text);
    if (more > 0) {
        snprintf(text, sizeof text, "[0-9]{%d}", more);
        add(t, text);
    }
}

static bool is_all(const char *digits, int count, char digit)
{
    for (int i = 0; i < count; i++)
        if (digits[i] != digit) return false;
    return true;
}

// Texts of `count` digits from `low` to `high`.
static void add_range(DigitText *t, const char *low, const char *high, int count)
{
    char zeros[DIGITS_MAX + 1], nines[DIGITS_MAX + 1];
    int  a = count ? low[0] - '0' : 0, b = count ? high[0] - '0' : 0;
    if (!count) return;
    if (is_all(low + 1, count - 1, '0') && is_all(high + 1, count - 1, '9')) {
        add_digits(t, a, b, count - 1);
        return;
    }
    memset(zeros, '0', sizeof zeros);
    memset(nines, '9', sizeof nines);
    if (a == b) {
        add_digits(t, a, a, 0);
        add_range(t, low + 1, high + 1, count - 1);
        return;
    }
    add(t, "(");
    add_digits(t, a, a, 0);
    add_range(t, low + 1, nines, count - 1);
    if (a + 1 < b) add(t, "|");
    add_digits(t, a + 1, b - 1, count - 1);
    add(t, "|");
    add_digits(t, b, b, 0);
    add_range(t, zeros, high + 1, count - 1);
    add(t, ")");
}

// Whole numbers from low to high, both not negative; high -1: without an end.
static void add_whole(DigitText *t, int64_t low, int64_t high)
{
    char from[32], to[32], text[32];
    add(t, "(");
    for (bool is_first = true;; is_first = false) {
        int     size = snprintf(from, sizeof from, "%lld", (long long)low);
        int64_t most = 9; // of this many digits
        for (int i = 1; i < size; i++) most = most * 10 + 9;
        if (high >= 0 && most > high) most = high;
        snprintf(to, sizeof to, "%lld", (long long)most);
        if (!is_first) add(t, "|");
        add_range(t, from, to, size);
        if (most == high) break;
        low = most + 1;
        if (high < 0) {
            snprintf(text, sizeof text, "|[1-9][0-9]{%d,}", size);
            add(t, text);
            break;
        }
    }
    add(t, ")");
}

typedef struct Bound {
    bool    is_there, is_open; // open: the number itself does not fit
    int64_t number;
} Bound;

// Not negative numbers with a fraction, from low to high. False: there are none.
static bool add_fractions(DigitText *t, Bound low, Bound high)
{
    char    text[64];
    int64_t from = low.number + low.is_open, last = high.is_there ? high.number - 1 : -1;
    size_t  before = t->size;
    if (low.is_open && (!high.is_there || low.number < high.number)) { // the same whole number, and more
        snprintf(text, sizeof text, "%lld\\.[0-9]*[1-9][0-9]*", (long long)low.number);
        add(t, text);
    }
    if (!high.is_there || from <= last) {
        if (t->size > before) add(t, "|");
        add_whole(t, from, last);
        add(t, "(\\.[0-9]+)?");
    }
    if (high.is_there && !high.is_open && from <= high.number) {
        snprintf(text, sizeof text, "%s%lld(\\.0+)?", t->size > before ? "|" : "", (long long)high.number);
        add(t, text);
    }
    return t->size > before;
}

static bool add_part(DigitText *t, Bound low, Bound high, bool is_integer)
{
    if (!is_integer) return add_fractions(t, low, high);
    if (high.is_there && low.number > high.number) return false;
    add_whole(t, low.number, high.is_there ? high.number : -1);
    return true;
}

static Bound other_sign(Bound b)
{
    b.number = -b.number;
    return b;
}

static HoloTree *bounded(HoloSchema *s, Bound low, Bound high, bool is_integer, const char *path)
{
    DigitText *t = holo_arena_take(s->b->arena, sizeof *t);
    if (!t) return s->b->status = holo_fail_memory(s->b->error), NULL;
    bool  has_minus = !low.is_there || low.number < 0, has_plus = !high.is_there || high.number >= 0, is_any = false;
    Bound zero = {true, false, 0}, one = {true, false, 1};
    if (has_minus) { // the same of the other sign; whole numbers have no -0
        Bound least = high.is_there && high.number <= (is_integer ? -1 : 0) ? other_sign(high)
                      : is_integer                                          ? one
                                                                            : zero;
        add(t, "-(");
        is_any = add_part(t, least, low.is_there ? other_sign(low) : low, is_integer);
        if (is_any)
            add(t, ")");
        else
            t->text[t->size = 0] = 0;
    }
    if (has_plus) {
        size_t before = t->size;
        if (is_any) add(t, "|");
        if (add_part(t, low.is_there && low.number >= 0 ? low : zero, high, is_integer))
            is_any = true;
        else
            t->text[t->size = before] = 0;
    }
    if (!is_any) return holo_schema_nothing(s);
    return holo_tree_of_pattern(s->b, (HoloString){t->text, t->size}, false, false, path);
}

// One bound: a whole number, for integers rounded to the inside.
static bool read_bound(HoloSchema *s, json_t *schema, const char *key, bool is_integer, const char *path, Bound *bound)
{
    bool    is_low = strstr(key, "inimum"), is_open = !strncmp(key, "exclusive", 9);
    json_t *value = json_object_get(schema, key);
    if (!value) return true;
    double number = json_number_value(value);
    if (!json_is_number(value))
        return holo_schema_fail(s, path, "'%s' should be a number (as drafts from 6 on have it)", key);
    if (!(number >= -(double)NUMBER_MAX && number <= (double)NUMBER_MAX))
        return holo_schema_fail(s, path, "'%s' is beyond 10^15, which is not supported", key);
    int64_t whole    = (int64_t)number;
    bool    is_whole = (double)whole == number;
    if (!is_integer && !is_whole)
        return holo_schema_fail(
            s, path, "'%s' of a number that need not be an integer: only whole numbers are supported here", key);
    if (!is_whole && is_low && number > 0) whole++;
    if (!is_whole && !is_low && number < 0) whole--;
    if (is_integer && is_whole && is_open) whole += is_low ? 1 : -1;
    is_open = is_open && !is_integer;
    if (!bound->is_there || (is_low ? whole > bound->number : whole < bound->number) ||
        (whole == bound->number && is_open))
        *bound = (Bound){true, is_open, whole};
    return true;
}

HoloTree *holo_schema_number(HoloSchema *s, json_t *schema, const char *path, bool is_integer)
{
    Bound low = {0}, high = {0};
    if (!read_bound(s, schema, "minimum", is_integer, path, &low) ||
        !read_bound(s, schema, "exclusiveMinimum", is_integer, path, &low) ||
        !read_bound(s, schema, "maximum", is_integer, path, &high) ||
        !read_bound(s, schema, "exclusiveMaximum", is_integer, path, &high))
        return NULL;
    if (!low.is_there && !high.is_there) return holo_schema_named(s, is_integer ? "json-integer" : "json-number");
    return bounded(s, low, high, is_integer, path);
}
