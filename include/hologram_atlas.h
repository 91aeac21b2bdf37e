// hologram_atlas.h - names of content: 96 classes of bytes, addresses, sigils, digits of base 96, content identity.
//
// Part of libhologram. Content is known by its name alone: tensors of the same type, shape and bytes have the same
// identity and the same address, wherever they are. A name only finds content: before two things are taken for one,
// their bytes are compared. docs/atlas.md explains the words.
//
// Errors are reported as in hologram.h. This API only grows, too.
#ifndef HOLOGRAM_ATLAS_H
#define HOLOGRAM_ATLAS_H

#include "hologram.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- classes -----------------------------------------------------------------------------------

enum { HOLO_ATLAS_CLASSES = 96, HOLO_ATLAS_MEMBERS_MAX = 4 };

// A class is 24 * scope + 8 * modality + slot.
typedef struct HoloAtlasParts {
    uint8_t scope;    // 0..3
    uint8_t modality; // 0 neutral, 1 produce, 2 consume
    uint8_t slot;     // 0..7
} HoloAtlasParts;

HOLO_API int holo_atlas_class(uint8_t byte);                             // 0..95
HOLO_API int holo_atlas_byte(int class_id);                              // its canonical byte; -1: there is no such
                                                                         // class
HOLO_API bool holo_atlas_parts(int class_id, HoloAtlasParts *out_parts); // false: there is no such class
// The bytes of a class in ascending order, the canonical one first. Returns how many there are: 4 if the modality is 0,
// else 2; 0 if there is no such class.
HOLO_API int holo_atlas_members(int class_id, uint8_t out_bytes[HOLO_ATLAS_MEMBERS_MAX]);

// ---- transforms --------------------------------------------------------------------------------

// One of the 192 transforms of classes: scope + r, modality + d, slot + t; then, if m is 1, modalities 1 and 2 are
// exchanged. r is 0..3, d 0..2, t 0..7, m 0..1. All zeros is the identity.
typedef struct HoloTransform {
    uint8_t r, d, t, m;
} HoloTransform;

HOLO_API HoloTransform holo_transform(int64_t r, int64_t d, int64_t t, bool m); // the amounts may be any numbers
HOLO_API HoloTransform holo_transform_then(HoloTransform first, HoloTransform next);
HOLO_API HoloTransform holo_transform_inverse(HoloTransform transform);
HOLO_API int           holo_transform_class(HoloTransform transform, int class_id); // -1: there is no such class

// ---- addresses ---------------------------------------------------------------------------------

// Where something is. Each kind of address uses some of the fields; the others are 0.
typedef struct HoloAddress {
    uint32_t class_id, page, byte, sub;
} HoloAddress;

typedef enum HoloAddressKind { // fields, slowest first                   as one number
    HOLO_ADDRESS_BELT     = 0, // page 0..47, byte 0..255                 0..12,287
    HOLO_ADDRESS_PHI      = 1, // class 0..95, page 0..47, byte           0..1,179,647
    HOLO_ADDRESS_EXTENDED = 2, // class, page 0..479, byte, sub 0..65,535 0..773,094,113,279
    HOLO_ADDRESS_PACKED   = 3, // byte, page 0..47                        byte * 65,536 + page: not all numbers
    HOLO_ADDRESS_KINDS    = 4
} HoloAddressKind;

#define HOLO_ADDRESS_EXTENDED_COUNT UINT64_C(773094113280)

// From an address to its number and back. If a field is out of range, the result is HOLO_BAD_ARGUMENT, and the message
// names the field and its range.
HOLO_API HOLO_MUST HoloStatus holo_address_number(HoloAddressKind kind, const HoloAddress *address,
                                                  uint64_t *out_number, HoloError *error);
HOLO_API HOLO_MUST HoloStatus holo_address_at(HoloAddressKind kind, uint64_t number, HoloAddress *out_address,
                                              HoloError *error);

// ---- content -----------------------------------------------------------------------------------

// 128 bits. As text, 32 hexadecimal digits, `high` first.
typedef struct HoloContentId {
    uint64_t low, high;
} HoloContentId;

// XXH3-128 of the dtype, the rank, each dimension, and the two words (low, high) of XXH3-128 of the bytes, all as
// 64-bit little-endian numbers. The bytes of strings are their sizes, as such numbers, followed by their texts. Only
// tensors have an identity, not sequences, optionals and maps. Reads the bytes once and allocates memory only for
// strings.
HOLO_API HOLO_MUST HoloStatus holo_content_id(const HoloTensor *tensor, HoloContentId *out_id, HoloError *error);
// The identity of a file, whatever it holds: that of its bytes as a tensor of type u8 with one dimension, *out_size
// (may be NULL).
HOLO_API HOLO_MUST HoloStatus holo_content_id_file(const char *path, HoloContentId *out_id, uint64_t *out_size,
                                                   HoloError *error);
// The extended address whose number is the identity modulo 773,094,113,280: class is the slowest field, sub the
// fastest. All addresses are equally probable, to one part in 2^88.
HOLO_API HoloAddress holo_content_address(HoloContentId id);

// ---- numbers of base 96 ------------------------------------------------------------------------

// Whole numbers of any size: as little-endian bytes, and as digits 0..95, the lowest first. Results have no leading
// zeros but at least one digit or byte: 0 is {0}. The result has `room` bytes; what the _room functions return is
// always enough. The time grows as size^1.6: 1 KiB takes about 0.1 ms, 64 KiB about 0.1 s.
HOLO_API size_t               holo_base96_digit_room(size_t byte_count);
HOLO_API size_t               holo_base96_byte_room(size_t digit_count);
HOLO_API HOLO_MUST HoloStatus holo_base96_from_bytes(const uint8_t *bytes, size_t byte_count, uint8_t *out_digits,
                                                     size_t room, size_t *out_count, HoloError *error);
HOLO_API HOLO_MUST HoloStatus holo_base96_to_bytes(const uint8_t *digits, size_t digit_count, uint8_t *out_bytes,
                                                   size_t room, size_t *out_count, HoloError *error);

// ---- sigils ------------------------------------------------------------------------------------

typedef struct HoloSigilLeaf { // one generator at one class
    const char   *generator;   // "mark", "copy" ...
    uint8_t       class_id;    // after all transforms
    uint8_t       byte;        // its canonical byte
    int16_t       page;        // -1: no page is given
    int32_t       belt;        // belt address; -1: no page is given
    HoloTransform transform;   // all transforms that were applied, as one
} HoloSigilLeaf;

// What an expression means: as bytes (leaves from left to right) and as words of operation, in UTF-8.
typedef struct HoloSigil {
    int                  leaf_count, word_count;
    const HoloSigilLeaf *leaves;
    const char *const   *words;
} HoloSigil;

enum { HOLO_SIGIL_DEPTH_MAX = 100 }; // how deep parentheses and prefixes may be nested

// docs/atlas.md describes the language. If the text is wrong, *out_at (may be NULL) is the byte of the mistake.
HOLO_API HOLO_MUST HoloStatus holo_sigil_parse(const char *text, size_t size, HoloSigil **out_sigil, size_t *out_at,
                                               HoloError *error);
HOLO_API void                 holo_sigil_destroy(HoloSigil *sigil); // accepts NULL

#ifdef __cplusplus
}
#endif
#endif
