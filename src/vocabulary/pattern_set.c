// pattern_set.c - sets of code points, and properties by their names. See pattern.h.
#include "text/unicode.h"
#include "vocabulary/pattern.h"

#include <ctype.h>
#include <string.h>

static bool append(HoloArena *arena, HoloCodeSet *set, uint32_t first, uint32_t last)
{
    if (set->count && set->range[set->count - 1].last + 1 >= first) {
        if (set->range[set->count - 1].last < last) set->range[set->count - 1].last = last;
        return true;
    }
    if (!HOLO_GROW(arena, set->range, set->count, set->room)) return false;
    set->range[set->count++] = (HoloCodeRange){first, last};
    return true;
}

bool holo_code_set_add(HoloArena *arena, HoloCodeSet *set, uint32_t first, uint32_t last)
{
    HoloCodeRange one = {first, last};
    return holo_code_set_join(arena, set, &(HoloCodeSet){&one, 1, 1});
}

bool holo_code_set_join(HoloArena *arena, HoloCodeSet *set, const HoloCodeSet *other)
{
    HoloCodeSet out = {0};
    for (int i = 0, j = 0; i < set->count || j < other->count;) {
        bool mine              = j == other->count || (i < set->count && set->range[i].first <= other->range[j].first);
        const HoloCodeRange *r = mine ? &set->range[i++] : &other->range[j++];
        if (!append(arena, &out, r->first, r->last)) return false;
    }
    *set = out;
    return true;
}

bool holo_code_set_negate(HoloArena *arena, HoloCodeSet *set)
{
    HoloCodeSet out  = {0};
    uint32_t    next = 0;
    for (int i = 0; i < set->count; i++) {
        if (set->range[i].first > next && !append(arena, &out, next, set->range[i].first - 1)) return false;
        next = set->range[i].last + 1;
    }
    if (next < HOLO_CODES && !append(arena, &out, next, HOLO_CODES - 1)) return false;
    *set = out;
    return true;
}

bool holo_code_set_meet(HoloArena *arena, HoloCodeSet *set, const HoloCodeSet *other)
{
    HoloCodeSet out = {0};
    for (int i = 0, j = 0; i < set->count && j < other->count;) {
        HoloCodeRange a = set->range[i], b = other->range[j];
        uint32_t      first = a.first > b.first ? a.first : b.first, last = a.last < b.last ? a.last : b.last;
        if (first <= last && !append(arena, &out, first, last)) return false;
        if (a.last < b.last)
            i++;
        else
            j++;
    }
    *set = out;
    return true;
}

bool holo_code_set_has(const HoloCodeSet *set, uint32_t code)
{
    int low = 0, high = set->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (set->range[middle].last < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set->count && set->range[low].first <= code;
}

// Adds what `known` has the other side of: what its code points fold to, or those that fold to one of its own.
static bool fold(HoloArena *arena, HoloCodeSet *set, const HoloCodeSet *known, bool is_back)
{
    const HoloUnicodeMap *map = &holo_unicode_folds;
    for (const HoloUnicodeRun *run = map->run; run < map->run + map->count; run++)
        for (int i = 0; i < run->count; i++) {
            int      count;
            uint32_t room, code = run->first + (uint32_t)i * run->step;
            uint32_t folded = *holo_unicode_run_at(map, run, i, &room, &count);
            uint32_t from = is_back ? folded : code, to = is_back ? code : folded;
            bool     is_new = holo_code_set_has(known, from) && !holo_code_set_has(set, to);
            if (is_new && !holo_code_set_add(arena, set, to, to)) return false;
        }
    return true;
}

bool holo_code_set_fold(HoloArena *arena, HoloCodeSet *set)
{
    HoloCodeSet before = *set, folded = *set;
    if (!fold(arena, &folded, &before, false)) return false;
    *set = folded;
    return fold(arena, set, &folded, true);
}

enum { PAGE = 128 }; // code points that share an entry of holo_unicode_first

bool holo_code_set_where(HoloArena *arena, HoloCodeSet *set, bool (*is_in)(uint32_t code, int what), int what)
{
    HoloCodeSet found   = {0};
    bool        is_even = false, was_in = false; // the page before: whether all of it gave one answer, and which
    for (uint32_t page = 0; page < HOLO_CODES; page += PAGE) {
        bool is_same = page > PAGE && holo_unicode_first[page / PAGE] == holo_unicode_first[page / PAGE - 1];
        if (is_same && is_even) { // behind ASCII, what is asked depends on the records alone
            if (was_in && !append(arena, &found, page, page + PAGE - 1)) return false;
            continue;
        }
        int count = 0;
        for (uint32_t c = page; c < page + PAGE; c++) {
            if (!is_in(c, what)) continue;
            count++;
            if (!append(arena, &found, c, c)) return false;
        }
        is_even = !count || count == PAGE;
        was_in  = count;
    }
    return holo_code_set_join(arena, set, &found);
}

// ---- properties

// Oniguruma knows Unicode 16: what came later is unassigned, as U+10FFFF is.
static const HoloUnicodeRecord *known(uint32_t code)
{
    return holo_unicode(holo_unicode(code)->flags & HOLO_SINCE_17 ? HOLO_CODES - 1 : code);
}

static bool in_categories(uint32_t code, int bits)
{
    return bits >> known(code)->category & 1;
}
static bool in_script(uint32_t code, int script)
{
    return known(code)->script == script;
}
static bool in_flags(uint32_t code, int flags)
{
    return known(code)->flags & flags;
}
static bool in_word(uint32_t code, int what)
{
    (void)what;
    return holo_is_word(code) && !(known(code)->flags & HOLO_JOIN);
}
static bool in_alnum(uint32_t code, int what)
{
    (void)what;
    return known(code)->flags & HOLO_ALPHABETIC || known(code)->category == HOLO_ND;
}
static bool in_graph(uint32_t code, int spaces)
{
    int category = known(code)->category;
    if (category == HOLO_ZS) return spaces;
    return category != HOLO_CN && category != HOLO_CC && category != HOLO_CS && !(known(code)->flags & HOLO_WHITE);
}
static bool below(uint32_t code, int end)
{
    return code < (uint32_t)end;
}
static bool in_hex(uint32_t code, int what)
{
    (void)what;
    return code < 128 && isxdigit((int)code);
}
static bool in_blank(uint32_t code, int what)
{
    (void)what;
    return code == 9 || known(code)->category == HOLO_ZS;
}

#define BIT(c) (1 << HOLO_##c)
enum {
    LETTERS = BIT(LU) | BIT(LL) | BIT(LT) | BIT(LM) | BIT(LO),
    MARKS   = BIT(MN) | BIT(MC) | BIT(ME),
    NUMBERS = BIT(ND) | BIT(NL) | BIT(NO),
    SIGNS   = BIT(PC) | BIT(PD) | BIT(PS) | BIT(PE) | BIT(PI) | BIT(PF) | BIT(PO),
    SYMBOLS = BIT(SM) | BIT(SC) | BIT(SK) | BIT(SO),
    SPACES  = BIT(ZS) | BIT(ZL) | BIT(ZP),
    OTHERS  = BIT(CC) | BIT(CF) | BIT(CS) | BIT(CO) | BIT(CN)
};

// Names as they are compared: small letters alone.
static const struct {
    const char *name;
    bool (*is_in)(uint32_t code, int what);
    int what;
} properties[] = {
    {"l", in_categories, LETTERS},
    {"letter", in_categories, LETTERS},
    {"lc", in_categories, BIT(LU) | BIT(LL) | BIT(LT)},
    {"lu", in_categories, BIT(LU)},
    {"uppercaseletter", in_categories, BIT(LU)},
    {"ll", in_categories, BIT(LL)},
    {"lowercaseletter", in_categories, BIT(LL)},
    {"lt", in_categories, BIT(LT)},
    {"titlecaseletter", in_categories, BIT(LT)},
    {"lm", in_categories, BIT(LM)},
    {"modifierletter", in_categories, BIT(LM)},
    {"lo", in_categories, BIT(LO)},
    {"otherletter", in_categories, BIT(LO)},
    {"m", in_categories, MARKS},
    {"mark", in_categories, MARKS},
    {"mn", in_categories, BIT(MN)},
    {"nonspacingmark", in_categories, BIT(MN)},
    {"mc", in_categories, BIT(MC)},
    {"spacingmark", in_categories, BIT(MC)},
    {"me", in_categories, BIT(ME)},
    {"enclosingmark", in_categories, BIT(ME)},
    {"n", in_categories, NUMBERS},
    {"number", in_categories, NUMBERS},
    {"nd", in_categories, BIT(ND)},
    {"decimalnumber", in_categories, BIT(ND)},
    {"digit", in_categories, BIT(ND)},
    {"nl", in_categories, BIT(NL)},
    {"letternumber", in_categories, BIT(NL)},
    {"no", in_categories, BIT(NO)},
    {"othernumber", in_categories, BIT(NO)},
    {"p", in_categories, SIGNS},
    {"punctuation", in_categories, SIGNS},
    {"pc", in_categories, BIT(PC)},
    {"connectorpunctuation", in_categories, BIT(PC)},
    {"pd", in_categories, BIT(PD)},
    {"dashpunctuation", in_categories, BIT(PD)},
    {"ps", in_categories, BIT(PS)},
    {"openpunctuation", in_categories, BIT(PS)},
    {"pe", in_categories, BIT(PE)},
    {"closepunctuation", in_categories, BIT(PE)},
    {"pi", in_categories, BIT(PI)},
    {"initialpunctuation", in_categories, BIT(PI)},
    {"pf", in_categories, BIT(PF)},
    {"finalpunctuation", in_categories, BIT(PF)},
    {"po", in_categories, BIT(PO)},
    {"otherpunctuation", in_categories, BIT(PO)},
    {"s", in_categories, SYMBOLS},
    {"symbol", in_categories, SYMBOLS},
    {"sm", in_categories, BIT(SM)},
    {"mathsymbol", in_categories, BIT(SM)},
    {"sc", in_categories, BIT(SC)},
    {"currencysymbol", in_categories, BIT(SC)},
    {"sk", in_categories, BIT(SK)},
    {"modifiersymbol", in_categories, BIT(SK)},
    {"so", in_categories, BIT(SO)},
    {"othersymbol", in_categories, BIT(SO)},
    {"z", in_categories, SPACES},
    {"separator", in_categories, SPACES},
    {"zs", in_categories, BIT(ZS)},
    {"spaceseparator", in_categories, BIT(ZS)},
    {"zl", in_categories, BIT(ZL)},
    {"lineseparator", in_categories, BIT(ZL)},
    {"zp", in_categories, BIT(ZP)},
    {"paragraphseparator", in_categories, BIT(ZP)},
    {"c", in_categories, OTHERS},
    {"other", in_categories, OTHERS},
    {"cc", in_categories, BIT(CC)},
    {"control", in_categories, BIT(CC)},
    {"cntrl", in_categories, BIT(CC)},
    {"cf", in_categories, BIT(CF)},
    {"format", in_categories, BIT(CF)},
    {"cs", in_categories, BIT(CS)},
    {"surrogate", in_categories, BIT(CS)},
    {"co", in_categories, BIT(CO)},
    {"privateuse", in_categories, BIT(CO)},
    {"cn", in_categories, BIT(CN)},
    {"unassigned", in_categories, BIT(CN)},
    {"alphabetic", in_flags, HOLO_ALPHABETIC},
    {"alpha", in_flags, HOLO_ALPHABETIC},
    {"whitespace", in_flags, HOLO_WHITE},
    {"space", in_flags, HOLO_WHITE},
    {"uppercase", in_flags, HOLO_UPPERCASE},
    {"upper", in_flags, HOLO_UPPERCASE},
    {"lowercase", in_flags, HOLO_LOWERCASE},
    {"lower", in_flags, HOLO_LOWERCASE},
    {"extendedpictographic", in_flags, HOLO_PICTOGRAPHIC},
    {"word", in_word, 0},
    {"punct", in_categories, SIGNS | SYMBOLS},
    {"alnum", in_alnum, 0},
    {"graph", in_graph, false},
    {"print", in_graph, true},
    {"blank", in_blank, 0},
    {"xdigit", in_hex, 0},
    {"ascii", below, 128},
    {"any", below, HOLO_CODES},
};

// Small letters and digits alone: how names are compared.
static void plain_name(const char *name, size_t size, char out[48])
{
    size_t count = 0;
    for (size_t i = 0; i < size && count < 47; i++)
        if (isalnum((unsigned char)name[i])) out[count++] = (char)tolower((unsigned char)name[i]);
    out[count] = 0;
}

HoloStatus holo_code_set_property(HoloArena *arena, HoloString name, HoloCodeSet *out, HoloError *error)
{
    char        wanted[48], known[48];
    const char *value  = memchr(name.data, '=', name.size);
    bool        negate = name.size && name.data[0] == '^', is_done = false, is_found = false;
    if (value)
        value++; // Script=Han, General_Category=L
    else
        value = name.data + negate;
    plain_name(value, (size_t)(name.data + name.size - value), wanted);
    for (int i = 0; i < HOLO_COUNT(properties) && !is_found; i++) {
        if (strcmp(properties[i].name, wanted)) continue;
        is_found = true;
        is_done  = holo_code_set_where(arena, out, properties[i].is_in, properties[i].what);
    }
    for (int i = 0; i < holo_unicode_script_count && !is_found; i++) {
        plain_name(holo_unicode_scripts[i].name, strlen(holo_unicode_scripts[i].name), known);
        if (strcmp(known, wanted)) continue;
        is_found = true;
        is_done  = holo_code_set_where(arena, out, in_script, holo_unicode_scripts[i].value);
    }
    if (!is_found)
        return holo_fail(error, HOLO_UNSUPPORTED, "the regular expression has a property '%.*s', which is not known",
                         (int)holo_least((int64_t)name.size, 60), name.data);
    if (!is_done || (negate && !holo_code_set_negate(arena, out))) return holo_fail_memory(error);
    return HOLO_OK;
}
