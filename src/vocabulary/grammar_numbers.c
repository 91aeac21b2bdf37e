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

// Not negative numbers from low to high, with a fraction where that is allowed.
static void add_part(DigitText *t, int64_t low, int64_t high, bool is_integer)
{
    char text[64];
    if (is_integer) {
        add_whole(t, low, high);
        return;
    }
    if (high < 0 || low < high) {
        add_whole(t, low, high < 0 ? high : high - 1);
        add(t, "(\\.[0-9]+)?");
    }
    if (high < 0) return;
    snprintf(text, sizeof text, "%s%lld(\\.0+)?", low < high ? "|" : "", (long long)high);
    add(t, text);
}

typedef struct Bounds {
    bool    has_low, has_high;
    int64_t low, high;
} Bounds;

static HoloTree *bounded(HoloSchema *s, Bounds b, bool is_integer, const char *path)
{
    DigitText *t = holo_arena_take(s->b->arena, sizeof *t);
    if (!t) return s->b->status = holo_fail_memory(s->b->error), NULL;
    if (b.has_low && b.has_high && b.low > b.high) return holo_schema_nothing(s);
    bool has_minus = !b.has_low || b.low < 0, has_plus = !b.has_high || b.high >= 0;
    if (has_minus) { // the same of the other sign, without -0 where whole numbers have it already
        int64_t least = b.has_high && b.high < 0 ? -b.high : is_integer ? 1 : 0;
        add(t, "-(");
        add_part(t, least, b.has_low ? -b.low : -1, is_integer);
        add(t, ")");
    }
    if (has_minus && has_plus) add(t, "|");
    if (has_plus) add_part(t, b.has_low && b.low > 0 ? b.low : 0, b.has_high ? b.high : -1, is_integer);
    return holo_tree_of_pattern(s->b, (HoloString){t->text, t->size}, false, false, path);
}

// One bound: a whole number, for integers rounded to the inside.
static bool read_bound(HoloSchema *s, json_t *schema, const char *key, bool is_integer, const char *path, bool *has,
                       int64_t *bound)
{
    bool    is_low = strstr(key, "inimum"), is_exclusive = !strncmp(key, "exclusive", 9);
    json_t *value = json_object_get(schema, key);
    if (!value) return true;
    double number = json_number_value(value);
    if (!json_is_number(value))
        return holo_schema_fail(s, path, "'%s' should be a number (as drafts from 6 on have it)", key);
    if (!(number >= -(double)NUMBER_MAX && number <= (double)NUMBER_MAX))
        return holo_schema_fail(s, path, "'%s' is beyond 10^15, which is not supported", key);
    int64_t whole    = (int64_t)number;
    bool    is_whole = (double)whole == number;
    if (!is_integer && (!is_whole || is_exclusive))
        return holo_schema_fail(s, path, "'%s' of a number that is no integer: %s", key,
                                is_exclusive ? "minimum and maximum alone are supported"
                                             : "a whole number alone is supported");
    if (!is_whole && is_low && number > 0) whole++;
    if (!is_whole && !is_low && number < 0) whole--;
    if (is_whole && is_exclusive) whole += is_low ? 1 : -1;
    if (!*has || (is_low ? whole > *bound : whole < *bound)) *bound = whole;
    *has = true;
    return true;
}

HoloTree *holo_schema_number(HoloSchema *s, json_t *schema, const char *path, bool is_integer)
{
    Bounds b = {0};
    if (!read_bound(s, schema, "minimum", is_integer, path, &b.has_low, &b.low) ||
        !read_bound(s, schema, "exclusiveMinimum", is_integer, path, &b.has_low, &b.low) ||
        !read_bound(s, schema, "maximum", is_integer, path, &b.has_high, &b.high) ||
        !read_bound(s, schema, "exclusiveMaximum", is_integer, path, &b.has_high, &b.high))
        return NULL;
    if (!b.has_low && !b.has_high) return holo_schema_named(s, is_integer ? "json-integer" : "json-number");
    return bounded(s, b, is_integer, path);
}
