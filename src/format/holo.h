// holo.h - the .holo file: this header is its specification.
//
// A file is a header, a table of sections, and the sections. Everything is little-endian. Offsets of sections count
// from the start of the file, offsets in records from the start of the section that they point into. Sections are
// aligned as the table says. Records are arrays of the structs below; all padding is a named field. Ids are never
// reused. Writing is deterministic: the same model gives the same bytes.
//
// A reader refuses another magic or major version, an unknown bit of flags_must or of a section's flags, an unknown
// section with the flag HOLO_SECTION_MUST, and a record out of place. It ignores other unknown sections, a larger
// header, and flags_may.
//
// The plan of a model is a list of steps. A step has an operator (by its ONNX name), the kernel that runs it (0: the
// operator's own eval), its operands (values of its plan), attributes and a parameter block. Subgraphs of control flow
// are plans of their own; attributes of steps refer to them. Plan 0 is the model.
//
// A step runs on a target. Target 0 is the CPU. Every other target has a memory of its own, its space; space 0 is the
// host's. Steps of the operator hologram::Transfer copy between space 0 and another space.
#ifndef HOLO_FORMAT_HOLO_H
#define HOLO_FORMAT_HOLO_H

#include "base/hash.h"
#include "hologram.h"

#define HOLO_MAGIC "\x89HOLO\r\n\x1a"

enum {
    HOLO_FORMAT_MAJOR  = 2,
    HOLO_FORMAT_MINOR  = 0,
    HOLO_SECTION_ALIGN = 64, // the least alignment of a section
    HOLO_WEIGHT_ALIGN  = 64, // alignment of each constant
};

enum {                         // HoloHeader.flags_must
    HOLO_FLAG_EXACT       = 1, // numeric class exact: kernels multiply and add without fusing
    HOLO_FLAG_PARTS       = 2, // some values are parts of others
    HOLO_FLAG_STATES      = 4, // some inputs are states, or have a default that is more than a number
    HOLO_FLAGS_MUST_KNOWN = 7,
};

enum {                  // HoloHeader.flags_may
    HOLO_FLAG_BF16 = 1, // numeric class bf16: where weights are of bf16, what they multiply may be rounded to it
};

typedef struct HoloHeader {
    uint8_t  magic[8];
    uint16_t major, minor;
    uint32_t header_size; // size of this struct; the section table follows it
    uint32_t flags_must, flags_may;
    uint64_t file_size;
    uint32_t section_count;
    uint32_t reserved;
    uint64_t hash[2]; // see holo_archive_front_hash
} HoloHeader;

// The table of sections, in their order in a file:
//   X(name, id, type of its records, need, alignment in bytes, when its bytes are read)
// Need: every file has a REQUIRED section. A file may have a KNOWN section, and then a reader must know it. A file may
// have an OPTIONAL section, and a reader may skip it: it changes no result.
// Read: the hash of an OPENING section is checked when the file is opened, that of a LATER section only by
// holo_archive_verify.
// clang-format off
#define HOLO_SECTION_MAP(X)                                                                                            \
    X(STRINGS,      1,  char,               REQUIRED, 64,   OPENING) /* texts, each ended by a 0 byte; offset 0 is "" */ \
    X(DIMS,         2,  HoloDimRecord,      REQUIRED, 64,   OPENING) /* expressions of sizes */                        \
    X(SYMBOLS,      3,  uint32_t,           REQUIRED, 64,   OPENING) /* names of the symbols, as text */               \
    X(SIZES,        4,  int64_t,            REQUIRED, 64,   OPENING) /* numbers, or HOLO_DIM_BASE + entry of DIMS */   \
    X(OPS,          5,  HoloOpRecord,       REQUIRED, 64,   OPENING) /* the operators in use */                        \
    X(PLANS,        6,  HoloPlanRecord,     REQUIRED, 64,   OPENING)                                                   \
    X(VALUES,       7,  HoloValueRecord,    REQUIRED, 64,   OPENING)                                                   \
    X(STEPS,        8,  HoloStepRecord,     REQUIRED, 64,   OPENING)                                                   \
    X(OPERANDS,     9,  uint32_t,           REQUIRED, 64,   OPENING) /* value numbers in a plan, or HOLO_NO_VALUE */   \
    X(ATTRS,        10, HoloAttrRecord,     REQUIRED, 64,   OPENING)                                                   \
    X(BYTES,        11, uint8_t,            REQUIRED, 64,   OPENING) /* parameter blocks, arrays of attributes */      \
    X(META,         12, HoloMetaRecord,     REQUIRED, 64,   OPENING)                                                   \
    X(CONSTANTS,    13, HoloConstantRecord, REQUIRED, 64,   OPENING)                                                   \
    X(NOTES,        19, HoloNoteRecord,     OPTIONAL, 64,   OPENING) /* what the compiler decided, and why */          \
    X(PROGRAMS,     20, HoloProgramRecord,  KNOWN,    64,   OPENING) /* portable programs */                           \
    X(TARGETS,      21, HoloTargetRecord,   KNOWN,    64,   OPENING) /* where steps run; absent: on the CPU */         \
    X(ENTRIES,      24, HoloEntryRecord,    KNOWN,    64,   OPENING) /* plans that callers run; absent: plan 0 alone */ \
    X(DEVICE_PLANS, 27, uint32_t,           KNOWN,    64,   OPENING) /* of each entry: its plan for all targets */      \
    X(CODE,         25, HoloCodeRecord,     KNOWN,    64,   OPENING) /* code of devices */                             \
    X(CODE_DATA,    26, uint8_t,            KNOWN,    64,   LATER)   /* its bytes */                                   \
    X(ASSETS,       22, HoloAssetRecord,    OPTIONAL, 64,   OPENING) /* what goes with the model: a tokenizer ... */   \
    X(ASSET_DATA,   23, uint8_t,            OPTIONAL, 64,   LATER)   /* its bytes */                                   \
    X(WEIGHTS,      14, uint8_t,            REQUIRED, 4096, LATER)   /* the bytes of the constants */                  \
    /* A memo: what the model gives for some inputs. All four are there, or none. */                                   \
    X(MEMO_SLOTS,   15, uint32_t,           OPTIONAL, 64,   OPENING) /* 2^n: 0, or 1 + the number of an entry */       \
    X(MEMO_ENTRIES, 16, HoloMemoRecord,     OPTIONAL, 64,   OPENING)                                                   \
    X(MEMO_TENSORS, 17, HoloMemoTensor,     OPTIONAL, 64,   OPENING) /* of each entry: inputs, then outputs */         \
    X(MEMO_DATA,    18, uint8_t,            OPTIONAL, 64,   LATER)   /* their bytes */
// clang-format on

typedef enum HoloSectionId {
#define X(name, id, type, need, align, read) HOLO_SECTION_##name = id,
    HOLO_SECTION_MAP(X)
#undef X
} HoloSectionId;

enum {
#define X(name, id, type, need, align, read) +1
    HOLO_SECTION_COUNT = 0 HOLO_SECTION_MAP(X), // how many rows the table has
#undef X
#define X(name, id, type, need, align, read) char name[(id) + 1];
    HOLO_SECTION_LIMIT = sizeof(union {HOLO_SECTION_MAP(X)}), // above every id of the table
#undef X
};

enum {                            // HoloSectionRecord.flags
    HOLO_SECTION_MUST        = 1, // a reader that does not know the section refuses the file
    HOLO_SECTION_FLAGS_KNOWN = 1,
};

typedef struct HoloSectionRecord {
    uint32_t id;
    uint32_t flags;
    uint64_t offset, size; // in bytes
    uint64_t hash[2];      // XXH3-128 of its bytes; for WEIGHTS, of the records of the constants
} HoloSectionRecord;

typedef struct HoloDimRecord { // as HoloDimNode of base/dim/dim.h
    int32_t op, reserved;
    int64_t a, b; // b of a symbol: the only number that callers may give for it; 0: any number
} HoloDimRecord;

typedef struct HoloOpRecord {
    uint32_t domain, name; // texts
    uint32_t version;      // opset version of the domain
    uint32_t reserved;
} HoloOpRecord;

typedef struct HoloPlanRecord {
    uint32_t name;                     // text
    uint32_t value_first, value_count; // in VALUES
    uint32_t step_first, step_count;   // in STEPS
    uint32_t input_first, input_count; // in OPERANDS: the values that are inputs
    uint32_t output_first, output_count;
    uint32_t flags;       // HOLO_PLAN_*
    uint64_t arena_bytes; // of a static plan
    uint64_t naive_bytes; // of a static plan: the sum of all intermediate values
} HoloPlanRecord;

enum {
    HOLO_PLAN_STATIC = 1, // every size is a number, every arena offset is in the file
    HOLO_PLAN_SEPARATE =
        2, // each image is computed by itself; the images are counted by the first sizes of input 0, of inputs that
           // share its symbol, and of all outputs
};

enum {
    HOLO_IMAGES_BYTES = 8 << 20
}; // how much memory the values of a run may take to stay in a cache: it limits the
    // images of a run

enum { HOLO_NO_VALUE = 0xFFFFFFFFu };

enum { HOLO_FILL_MAX = 1 << 30 }; // the largest number that an input can be filled with

// What `at` of an input may have besides the number that fills it.
#define HOLO_INPUT_FILL  UINT64_C(0xFFFFFFFF) // mask: 0, or 1 + the number that fills it if the caller gives none
#define HOLO_INPUT_INDEX (UINT64_C(1) << 32)  // element i is filled with i instead
#define HOLO_INPUT_STATE (UINT64_C(1) << 33)  // the session keeps it between runs, and steps may change it
#define HOLO_INPUT_LEAST (UINT64_C(1) << 34)  // `rank` more entries of SIZES are the least sizes that it may have

typedef enum HoloStorage {
    HOLO_STORE_INPUT      = 0, // the caller's memory, or the session's; at: HOLO_INPUT_*
    HOLO_STORE_CONSTANT   = 1, // at: number of the constant
    HOLO_STORE_ARENA      = 2, // at: offset in the arena (static plans)
    HOLO_STORE_ALIAS      = 3, // at: number of an earlier value of the plan with the same bytes
    HOLO_STORE_EXPRESSION = 4, // at: first of its elements in SIZES; i64 or i32, filled when sizes are bound
    HOLO_STORE_HEAP       = 5, // its size depends on data: made while running
    HOLO_STORE_PART       = 6, // at: number of an earlier value of the plan; it has some of the bytes of that value
    HOLO_STORE_LIMIT
} HoloStorage;

typedef struct HoloValueRecord {
    uint32_t name; // text
    uint8_t  dtype, kind, inner;
    int8_t   rank;               // -1: not known before the run
    uint16_t storage;            // HoloStorage
    uint16_t space;              // number of the target in whose memory it is; 0 for all but arena values
    uint32_t size_first;         // in SIZES: `rank` entries; a part has one more, its first element in the value `at`;
                                 // an input may have `rank` more, see HOLO_INPUT_LEAST
    uint32_t step_from, step_to; // the first and the last step between which an arena value is alive
    uint64_t at;
} HoloValueRecord;

static inline bool holo_value_is_state(const HoloValueRecord *v)
{
    return v->storage == HOLO_STORE_INPUT && v->at & HOLO_INPUT_STATE;
}

// Does a value share the bytes of the value `at`, or some of them?
static inline bool holo_store_is_shared(uint32_t storage)
{
    return storage == HOLO_STORE_ALIAS || storage == HOLO_STORE_PART;
}

typedef struct HoloStepRecord {
    uint32_t op;            // in OPS
    uint16_t kernel;        // see kernel_ids.def; 0: eval
    uint16_t target;        // number of the target that runs it; 0: the CPU
    uint32_t name;          // text: the node's name
    uint32_t operand_first; // in OPERANDS: inputs, then outputs
    uint16_t in_count, out_count;
    uint16_t capture_count, attr_count;
    uint32_t attr_first;          // in ATTRS
    uint32_t params, params_size; // in BYTES, 8-byte aligned
    uint32_t program;             // 1 + the number in PROGRAMS of what it does to each element of its output; 0: none
} HoloStepRecord;

typedef struct HoloAttrRecord {
    uint32_t name; // text
    uint16_t kind; // HoloAttrKind of ops/op.h
    uint16_t reserved;
    uint32_t count;
    uint32_t reserved2;
    uint64_t value; // int: itself; float: bits of the double; string: offset in BYTES (count bytes);
                    // ints, floats: offset in BYTES; strings: offset in BYTES of `count` HoloSpan;
                    // graph: number of the plan; tensor, type: offset in BYTES of a HoloTensorRecord
} HoloAttrRecord;

typedef struct HoloSpan {
    uint32_t offset, size; // in BYTES
} HoloSpan;

typedef struct HoloTensorRecord {
    uint8_t  dtype, kind, inner;
    int8_t   rank;
    uint32_t constant; // number, or HOLO_NO_VALUE
    int64_t  dim[HOLO_MAX_RANK];
} HoloTensorRecord;

typedef struct HoloMetaRecord {
    uint32_t key, value; // texts
} HoloMetaRecord;

// Constants with equal bytes are stored once. Strings are stored as a uint64_t size for each, followed by their bytes.
typedef struct HoloConstantRecord {
    uint64_t offset, size; // in WEIGHTS; size is what is stored (packed weights: padded)
    uint64_t count;        // elements of dtype before packing
    uint32_t dtype;
    uint32_t packed;  // 0: plain row-major; else the id of the kernel that packed it
    uint64_t hash[2]; // XXH3-128 of the stored bytes
} HoloConstantRecord;

// An entry of the memo. The key is made of the content identities of the inputs (see holo_memo_key). The entry is in
// one of the slots key[0] + 0, 1 ... HOLO_MEMO_PROBES - 1, modulo their number, and no slot before it is empty.
typedef struct HoloMemoRecord {
    uint64_t key[2];
    uint32_t tensor_first; // in MEMO_TENSORS
    uint32_t reserved;
} HoloMemoRecord;

enum { HOLO_MEMO_PROBES = 16 };

typedef struct HoloMemoTensor {
    uint8_t  dtype, rank;
    uint16_t reserved;
    uint32_t reserved2;
    uint64_t offset, size; // in MEMO_DATA; aligned as a constant
    uint64_t hash[2];      // XXH3-128 of the bytes
    int64_t  dim[HOLO_MAX_RANK];
} HoloMemoTensor;

typedef struct HoloNoteRecord {
    uint32_t pass, place, what, why; // texts: see HoloNote
    uint32_t verdict;                // HoloVerdict; an unknown one is not an error
    uint32_t reserved;
    uint64_t count, bytes;
} HoloNoteRecord;

// A portable program, in the bytes that docs/isa.md describes. Whoever runs it checks it.
typedef struct HoloProgramRecord {
    uint32_t name, doc;             // texts; programs of steps have none
    uint32_t program, program_size; // in BYTES, 8-byte aligned
    uint32_t lanes, lanes_size;     // a program of its scalars that gives the number of lanes to launch; size 0: none
    uint32_t block[3];              // lanes of a block that it asks for; 0: any number
    uint32_t reserved;
} HoloProgramRecord;

// Bytes that go with the model under a name, such as its tokenizer. Who uses them checks them.
typedef struct HoloAssetRecord {
    uint32_t name; // text; names differ
    uint32_t reserved;
    uint64_t offset, size; // in ASSET_DATA; 64-byte aligned
} HoloAssetRecord;

// A plan that callers run, with inputs, outputs and symbols of its own. Record 0 is plan 0. No attribute holds the plan of
// an entry. Entries share constants.
typedef struct HoloEntryRecord {
    uint32_t name; // text; names differ
    uint32_t plan; // larger than that of the entry before
} HoloEntryRecord;

enum { HOLO_ENTRIES_MAX = 256 };

// DEVICE_PLANS has the number of a second plan for each entry, in their order; each is larger than that of the entry
// before. Then the plan of an entry runs on the CPU alone, and so do all plans before the first of these. The second plan
// has the same inputs, outputs and states, and its steps may run on any target. A reader chooses one of the two.

// Code for a device: a module of kernels that steps of a target launch, for one kind of machine. Who runs it checks it.
typedef struct HoloCodeRecord {
    uint32_t target; // in TARGETS
    uint32_t module; // text: its name
    uint32_t kind;   // text: "sm_90", machine code; "ptx", which the driver compiles; "ptx_90", for later ones
    uint32_t reserved;
    uint64_t offset, size; // in CODE_DATA; 64-byte aligned
    uint64_t hash[2];      // XXH3-128 of the bytes
} HoloCodeRecord;

// Where steps run. Record 0 is "cpu".
typedef struct HoloTargetRecord {
    uint32_t name; // text; names differ
    uint32_t reserved;
} HoloTargetRecord;

enum { HOLO_TARGETS_MAX = 64 };

// ---- the table, for code that walks it

typedef enum HoloSectionNeed { HOLO_NEED_REQUIRED, HOLO_NEED_KNOWN, HOLO_NEED_OPTIONAL } HoloSectionNeed;
typedef enum HoloSectionRead { HOLO_READ_OPENING, HOLO_READ_LATER } HoloSectionRead;

typedef struct HoloSectionKind {
    HoloSectionId   id;
    const char     *name;
    size_t          record; // bytes of a record
    HoloSectionNeed need;
    size_t          align;
    HoloSectionRead read;
} HoloSectionKind;

extern const HoloSectionKind holo_section_kinds[HOLO_SECTION_COUNT];
const HoloSectionKind       *holo_section_kind(uint32_t id); // NULL: there is none
// The record, without the hash, of a section that begins at *at or behind it. Sets *at to its end.
HoloSectionRecord holo_section_record(uint32_t id, uint64_t size, uint64_t *at);

// ---- an opened file

typedef struct HoloArchive { // borrowed: points into the file's bytes
    const HoloHeader *header;
    const uint8_t    *bytes;
    size_t            size;
#define X(name, id, type, need, align, read)                                          \
    const type *name##_at; /* NULL, 0: a section that is not required is not there */ \
    size_t      name##_count;
    HOLO_SECTION_MAP(X)
#undef X
} HoloArchive;

// Checks everything that does not need the weights. After it, every index, offset and count of every record is in
// range. The time does not depend on the weights.
HOLO_MUST HoloStatus holo_archive_open(const void *bytes, size_t size, HoloArchive *out, HoloError *error);
// The first half of that: checks the header and the sections by the table alone.
HOLO_MUST HoloStatus holo_archive_open_sections(const void *bytes, size_t size, HoloArchive *out, HoloError *error);
// What the header's hash should be: XXH3-128 of two hashes. The first is of the header with this field 0, the second of
// everything behind it up to the end of the section table. All these bytes must be there.
HoloHash holo_archive_front_hash(const void *bytes);
// Reads every byte and compares every hash.
HOLO_MUST HoloStatus holo_archive_verify(const HoloArchive *archive, HoloError *error);

#endif
