// hdf5.h - an HDF5 file in memory: its groups, data sets and attributes, as far as models use them.
//
// Opening reads the whole tree once: groups by symbol tables and by link messages, headers of both versions,
// attributes. Contents of data sets are read on request: contiguous and compact ones are borrowed, chunks are put
// together, with deflate, shuffle and checksums undone. Nothing is taken on trust: every address and length is checked,
// loops end because work is counted against the size of the file, and memory for contents is limited by it.
// Refused are the fractal heaps and chunk indexes that files of "libver=latest" have.
#ifndef HOLO_IMPORT_WIRE_HDF5_H
#define HOLO_IMPORT_WIRE_HDF5_H

#include "base/base.h"

typedef enum HoloHdf5Class { // of an element
    HOLO_HDF5_OTHER = 0,     // a type that is not read
    HOLO_HDF5_NUMBER,        // `dtype`
    HOLO_HDF5_TEXT,          // `size` bytes, padded by zeros or spaces
    HOLO_HDF5_TEXTS,         // of any length, in the global heap
} HoloHdf5Class;

typedef struct HoloHdf5Type {
    HoloHdf5Class kind;
    HoloDtype     dtype; // of a number
    uint32_t      size;  // of an element in the file
} HoloHdf5Type;

typedef struct HoloHdf5Attr {
    HoloString   name;
    HoloHdf5Type type;
    int          rank;
    int64_t      dim[HOLO_MAX_RANK], count;
    HoloString   data; // borrowed, count * type.size bytes
} HoloHdf5Attr;

typedef enum HoloHdf5Layout {
    HOLO_HDF5_NONE = 0, // a group
    HOLO_HDF5_WHOLE,    // in one piece: data
    HOLO_HDF5_CHUNKS,
} HoloHdf5Layout;

typedef struct HoloHdf5Node {  // a group or a data set
    HoloString           name; // the last part of its path; "" for the root
    struct HoloHdf5Node *child;
    int                  child_count, child_room;
    HoloHdf5Attr        *attr;
    int                  attr_count, attr_room;
    // Of a data set:
    HoloHdf5Layout layout;
    HoloHdf5Type   type;
    int            rank; // -1: it has no shape
    int64_t        dim[HOLO_MAX_RANK], count;
    HoloString     data; // of one piece; empty: all zeros
    int64_t        chunk[HOLO_MAX_RANK];
    uint64_t       chunk_tree; // address
    int            filter[4], filter_count;
} HoloHdf5Node;

typedef struct HoloHdf5 {
    HoloArena     *arena;
    HoloError     *error;
    const uint8_t *data;
    size_t         size;
    int            offset_size, length_size; // of addresses and lengths in the file
    uint64_t       base;
    int64_t        work;   // what is left of the work that a file of this size may take
    size_t         memory; // and of the memory for contents
    HoloHdf5Node   root;
} HoloHdf5;

bool                 holo_hdf5_is(const void *bytes, size_t size);
HOLO_MUST HoloStatus holo_hdf5_open(HoloArena *arena, const void *bytes, size_t size, HoloHdf5 *out, HoloError *error);

// By a path below a group, "a/b/c". NULL: there is none.
const HoloHdf5Node *holo_hdf5_find(const HoloHdf5Node *group, HoloString path);
const HoloHdf5Attr *holo_hdf5_attr(const HoloHdf5Node *node, const char *name);

// The strings of an attribute. Memory is in the arena or the file.
HOLO_MUST HoloStatus holo_hdf5_strings(HoloHdf5 *file, const HoloHdf5Attr *attr, HoloString *out);
// The numbers of a data set, as a tensor.
HOLO_MUST HoloStatus holo_hdf5_tensor(HoloHdf5 *file, const HoloHdf5Node *node, HoloTensor *out);

// ---- for the files of the reader

typedef struct HoloHdf5Span { // bytes that are being read; `failed` once they were too few
    const uint8_t *at, *end;
    bool           failed;
} HoloHdf5Span;

uint64_t       holo_hdf5_take(HoloHdf5Span *span, int size); // a little-endian number of 1 to 8 bytes
const uint8_t *holo_hdf5_skip(HoloHdf5Span *span, uint64_t size);
// The bytes from an address on to the end of the file, at least `size` of them.
HOLO_MUST HoloStatus holo_hdf5_at(const HoloHdf5 *file, uint64_t address, uint64_t size, HoloHdf5Span *out);
HOLO_MUST HoloStatus holo_hdf5_work(HoloHdf5 *file, int64_t amount);
HOLO_MUST HoloStatus holo_hdf5_damaged(const HoloHdf5 *file, const char *what);
// Reads a message of an object's header into the node.
HOLO_MUST HoloStatus holo_hdf5_message(HoloHdf5 *file, HoloHdf5Node *node, int type, HoloHdf5Span span);

#endif
