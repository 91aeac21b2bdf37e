// filters_number.c - the filters of templates that give numbers, and `default`.
#include "text/render.h"

#include "text/template_lex.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static HoloDatum run_default(HoloRender *r, const HoloDatum *arg)
{
    (void)r;
    bool is_missing = arg[0].kind == HOLO_D_UNDEFINED || (holo_d_truth(arg[2]) && !holo_d_truth(arg[0]));
    if (!is_missing) return arg[0];
    return arg[1].kind == HOLO_D_ABSENT ? holo_d_view((HoloString){"", 0}) : arg[1];
}

static HoloString trimmed(HoloString s)
{
    while (s.size && strchr(" \t\n\r\f\v", *s.data) && *s.data) s.data++, s.size--;
    while (s.size && s.data[s.size - 1] && strchr(" \t\n\r\f\v", s.data[s.size - 1])) s.size--;
    return s;
}

// A whole number in a base; false: the text is none.
static bool read_whole(HoloString s, int64_t base, int64_t *out)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    bool              minus    = s.size && *s.data == '-';
    size_t            at       = minus || (s.size && *s.data == '+');
    if (base == 16 && s.size > at + 2 && s.data[at] == '0' && (s.data[at + 1] | 32) == 'x') at += 2;
    *out = 0;
    if (at == s.size) return false;
    for (; at < s.size; at++) {
        char        c     = s.data[at] >= 'A' && s.data[at] <= 'Z' ? (char)(s.data[at] | 32) : s.data[at];
        const char *found = c ? strchr(digits, c) : NULL;
        if (!found || found - digits >= base) return false;
        if (!holo_mul(*out, base, out) || !holo_add(*out, minus ? digits - found : found - digits, out)) return false;
    }
    return true;
}

// A decimal number; false: the text is none.
static bool read_real(HoloString s, double *out)
{
    size_t at = s.size && (*s.data == '-' || *s.data == '+'), digits = 0;
    for (; at < s.size && s.data[at] >= '0' && s.data[at] <= '9'; at++) digits++;
    if (at < s.size && s.data[at] == '.') at++;
    for (; at < s.size && s.data[at] >= '0' && s.data[at] <= '9'; at++) digits++;
    if (!digits) return false;
    if (at < s.size && (s.data[at] | 32) == 'e') {
        size_t from = at + 1 + (at + 1 < s.size && (s.data[at + 1] == '-' || s.data[at + 1] == '+'));
        for (at = from; at < s.size && s.data[at] >= '0' && s.data[at] <= '9';) at++;
        if (at == from) return false;
    }
    *out = holo_decimal_read(s.data, s.size);
    return at == s.size;
}

static HoloDatum whole_of(double number, HoloDatum otherwise)
{
    return fabs(number) < 0x1p63 ? holo_d_int((int64_t)number) : otherwise;
}

static HoloDatum run_int(HoloRender *r, const HoloDatum *arg)
{
    HoloDatum otherwise = arg[1].kind == HOLO_D_ABSENT ? holo_d_int(0) : arg[1];
    int64_t   base      = 10, whole;
    double    real;
    if (arg[2].kind != HOLO_D_ABSENT && !holo_d_int_of(r, arg[2], "a base", &base)) return otherwise;
    if (base < 2 || base > 36) return holo_render_fail(r, "a base is from 2 to 36");
    if (arg[0].kind == HOLO_D_UNDEFINED) return holo_render_fail(r, "an undefined value is no number");
    if (holo_d_is_whole(arg[0])) return holo_d_int(arg[0].whole);
    if (arg[0].kind == HOLO_D_FLOAT) return whole_of(arg[0].real, otherwise);
    if (arg[0].kind != HOLO_D_STRING) return otherwise;
    HoloString text = trimmed(holo_d_text(arg[0]));
    if (read_whole(text, base, &whole)) return holo_d_int(whole);
    return read_real(text, &real) ? whole_of(real, otherwise) : otherwise;
}

static HoloDatum run_float(HoloRender *r, const HoloDatum *arg)
{
    HoloDatum otherwise = arg[1].kind == HOLO_D_ABSENT ? holo_d_float(0) : arg[1];
    double    real;
    if (arg[0].kind == HOLO_D_UNDEFINED) return holo_render_fail(r, "an undefined value is no number");
    if (holo_d_is_number(arg[0])) return holo_d_float(holo_d_real(arg[0]));
    if (arg[0].kind != HOLO_D_STRING) return otherwise;
    return read_real(trimmed(holo_d_text(arg[0])), &real) ? holo_d_float(real) : otherwise;
}

static HoloDatum run_abs(HoloRender *r, const HoloDatum *arg)
{
    if (arg[0].kind == HOLO_D_FLOAT) return holo_d_float(fabs(arg[0].real));
    if (!holo_d_is_whole(arg[0])) return holo_render_fail(r, "abs needs a number, and not a %s", holo_d_type(arg[0]));
    return arg[0].whole < 0 ? holo_d_binary(r, HOLO_TO_MUL, arg[0], holo_d_int(-1)) : holo_d_int(arg[0].whole);
}

// Python rounds the exact decimal value, and ties to even; so does printing.
static double rounded(double number, int64_t precision)
{
    if (precision < 0) {
        double scale = pow(10, (double)-precision);
        return rint(number / scale) * scale;
    }
    char text[400];
    if (precision > 20 || fabs(number) > 1e300) return number;
    int size = snprintf(text, sizeof text, "%.*f", (int)precision, number);
    for (int i = 0; i < size; i++) // the locale may have a decimal comma
        if (text[i] == ',') text[i] = '.';
    return holo_decimal_read(text, (size_t)size);
}

static HoloDatum run_round(HoloRender *r, const HoloDatum *arg)
{
    int64_t precision = 0;
    if (arg[1].kind != HOLO_D_ABSENT && !holo_d_int_of(r, arg[1], "the precision", &precision)) return arg[0];
    if (!holo_d_is_number(arg[0]))
        return holo_render_fail(r, "round needs a number, and not a %s", holo_d_type(arg[0]));
    if (precision < -300 || precision > 300) return holo_render_fail(r, "round: the precision is too large");
    double number = holo_d_real(arg[0]), scale = pow(10, (double)precision);
    if (holo_d_is_text(arg[2], "ceil")) return holo_d_float(ceil(number * scale) / scale);
    if (holo_d_is_text(arg[2], "floor")) return holo_d_float(floor(number * scale) / scale);
    if (arg[2].kind != HOLO_D_ABSENT && !holo_d_is_text(arg[2], "common"))
        return holo_render_fail(r, "round knows the methods common, ceil and floor");
    if (holo_d_is_whole(arg[0]))
        return precision >= 0 ? holo_d_int(arg[0].whole) : whole_of(rounded(number, precision), arg[0]);
    return holo_d_float(rounded(number, precision));
}

static HoloDatum run_sum(HoloRender *r, const HoloDatum *arg)
{
    const HoloSeries *items = holo_d_items(r, arg[0]);
    HoloDatum         sum   = arg[2].kind == HOLO_D_ABSENT ? holo_d_int(0) : arg[2];
    bool              path  = arg[1].kind != HOLO_D_ABSENT && arg[1].kind != HOLO_D_NONE;
    for (uint32_t i = 0; i < items->count && holo_render_spend(r, 1); i++)
        sum = holo_d_binary(r, HOLO_TO_ADD, sum, path ? holo_d_path(r, items->item[i], arg[1]) : items->item[i]);
    return sum;
}

const HoloFunction holo_filters_number[] = {
    {"default", "default_value,boolean", run_default},
    {"d", "default_value,boolean", run_default},
    {"int", "default,base", run_int},
    {"float", "default", run_float},
    {"abs", "", run_abs},
    {"round", "precision,method", run_round},
    {"sum", "attribute,start", run_sum},
    {0},
};
