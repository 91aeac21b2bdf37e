// unicode.h - what text needs to know of Unicode: categories, case, normal forms, grapheme clusters.
//
// The tables are made when the project is built, from Debian's package unicode-data (tools/unicode_tables.py).
#ifndef HOLO_TEXT_UNICODE_H
#define HOLO_TEXT_UNICODE_H

#include "base/base.h"

// ---- tables

enum { // general categories, in the order of the tables
    HOLO_CN,
    HOLO_LU,
    HOLO_LL,
    HOLO_LT,
    HOLO_LM,
    HOLO_LO,
    HOLO_MN,
    HOLO_MC,
    HOLO_ME,
    HOLO_ND,
    HOLO_NL,
    HOLO_NO,
    HOLO_PC,
    HOLO_PD,
    HOLO_PS,
    HOLO_PE,
    HOLO_PI,
    HOLO_PF,
    HOLO_PO,
    HOLO_SM,
    HOLO_SC,
    HOLO_SK,
    HOLO_SO,
    HOLO_ZS,
    HOLO_ZL,
    HOLO_ZP,
    HOLO_CC,
    HOLO_CF,
    HOLO_CS,
    HOLO_CO,
    HOLO_CATEGORIES
};

enum { // flags of a record
    HOLO_WHITE         = 1,
    HOLO_ALPHABETIC    = 2,
    HOLO_JOIN          = 4,
    HOLO_PICTOGRAPHIC  = 8,
    HOLO_UPPERCASE     = 16,
    HOLO_LOWERCASE     = 32,
    HOLO_HAS_LOWER     = 64,
    HOLO_HAS_CANONICAL = 128,
    HOLO_HAS_COMPAT    = 256,
    HOLO_SINCE_9       = 512,
    HOLO_SINCE_10      = 1024,
    HOLO_SINCE_17      = 2048
};

enum { HOLO_CODES = 0x110000 };

typedef struct HoloUnicodeRecord {
    uint8_t  category, combining, script, cluster; // cluster: how it joins grapheme clusters
    uint16_t flags;
} HoloUnicodeRecord;
typedef struct HoloUnicodeRun { // `count` code points, each `step` behind the last
    uint32_t first;
    int32_t  to; // size 0: what is added to each; else where its `size` numbers begin in the pool
    uint16_t count;
    uint8_t  step, size;
} HoloUnicodeRun;
typedef struct HoloUnicodeMap { // what code points become; runs are sorted, and do not overlap
    const HoloUnicodeRun *run;
    const uint32_t       *pool;
    int                   count;
} HoloUnicodeMap;
typedef struct HoloUnicodePair { // first and second compose to `code`
    uint32_t first, second, code;
} HoloUnicodePair;
typedef struct HoloUnicodeName {
    const char *name;
    int         value;
} HoloUnicodeName;

extern const uint16_t          holo_unicode_first[], holo_unicode_second[];
extern const HoloUnicodeRecord holo_unicode_records[];
extern const HoloUnicodeMap    holo_unicode_lower, holo_unicode_upper, holo_unicode_title;
extern const HoloUnicodeMap    holo_unicode_canonical, holo_unicode_compat;
extern const HoloUnicodeMap    holo_unicode_folds; // simple case folding
extern const HoloUnicodePair   holo_unicode_pairs[];
extern const HoloUnicodeName   holo_unicode_scripts[];
extern const int               holo_unicode_pair_count, holo_unicode_script_count;

// What a code point becomes, *out_count numbers, which may lie in *room; NULL: the map does not have it.
const uint32_t *holo_unicode_mapped(const HoloUnicodeMap *map, uint32_t code, uint32_t *room, int *out_count);
// The same for the code point at an index of a run.
const uint32_t *holo_unicode_run_at(const HoloUnicodeMap *map, const HoloUnicodeRun *run, int index, uint32_t *room,
                                    int *out_count);

static inline const HoloUnicodeRecord *holo_unicode(uint32_t code) // code < HOLO_CODES
{
    return &holo_unicode_records[holo_unicode_second[holo_unicode_first[code >> 7] * 128 + (code & 127)]];
}

// ---- questions

// HuggingFace's library takes some of its answers from tables of old versions of Unicode, and so do these.
bool holo_is_white(uint32_t code);       // White_Space
bool holo_is_punctuation(uint32_t code); // any P category, or an ASCII sign; of Unicode 8
bool holo_is_control(uint32_t code);     // Cc, Cf, Co; of Unicode 8
bool holo_is_nonspacing(uint32_t code);  // Mn; of Unicode 8
bool holo_is_combining(uint32_t code);   // Mn, Mc, Me; of Unicode 9
bool holo_is_numeric(uint32_t code);     // Nd, Nl, No; of Unicode 17, as is lower case
bool holo_is_mark(uint32_t code);        // Mn, Mc, Me
bool holo_is_word(uint32_t code);        // letters, marks, digits, connectors, joiners: a part of a word; of Unicode 16

// ---- UTF-8

// The code point at `text`, of `size` > 0 bytes; *out_size is how many bytes it took. A byte that begins none is taken
// alone, as U+FFFD.
uint32_t holo_code_read(const uint8_t *text, size_t size, int *out_size);
int      holo_code_write(uint32_t code, uint8_t out[4]); // how many bytes
// Bytes at the beginning that are UTF-8.
size_t holo_utf8_valid(const uint8_t *text, size_t size);
// The size of what the replacement character stands for at a place that is not UTF-8: a beginning of a character, or a byte.
// *out_is_cut: more bytes could have made it one.
size_t holo_utf8_bad(const uint8_t *text, size_t size, bool *out_is_cut);

// ---- text that grows

typedef struct HoloGrowing { // zero-initialize
    uint8_t *data;
    size_t   size, room;
    size_t   most;      // no more bytes than these; 0: no limit
    bool     is_over;   // it would have become longer than most
    bool     is_failed; // for that reason, or out of memory: what was added since is lost
} HoloGrowing;
void               holo_growing_deinit(HoloGrowing *buffer);
bool               holo_growing_reserve(HoloGrowing *buffer, size_t more);
void               holo_growing_add(HoloGrowing *buffer, const void *data, size_t size);
void               holo_growing_add_code(HoloGrowing *buffer, uint32_t code);
static inline void holo_growing_add_byte(HoloGrowing *buffer, uint8_t byte)
{
    if ((buffer->size < buffer->room && !buffer->most) || holo_growing_reserve(buffer, 1))
        buffer->data[buffer->size++] = byte;
}

// ---- transformations, appended to `out`

// The forms know the characters of Unicode 9.
typedef enum HoloNormalForm { HOLO_NFD, HOLO_NFKD, HOLO_NFC, HOLO_NFKC } HoloNormalForm;
void holo_normal_form(HoloNormalForm form, const uint8_t *text, size_t size, HoloGrowing *out);
void holo_lowercase(const uint8_t *text, size_t size, HoloGrowing *out);
// The bytes of the first extended grapheme cluster of `text`, size > 0.
size_t holo_cluster_size(const uint8_t *text, size_t size);

#endif
