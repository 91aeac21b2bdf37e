// kserve_json.h - requests for a run as KServe writes them in HTTP: JSON, and binary data behind it.
#ifndef HOLO_SERVE_KSERVE_JSON_H
#define HOLO_SERVE_KSERVE_JSON_H

#include "infer.h"

typedef struct KserveOutput { // how an output is to be given
    bool     is_binary;
    char     region[64]; // of shared memory; "": none
    uint64_t offset, size;
} KserveOutput;

typedef struct KserveRequest { // the state of an Infer
    KserveOutput *output;      // in the order of `wanted`
    int           count;
    bool          all_binary;
    Bytes         text, binary; // the answer
    bool          is_packed;    // the text is compressed
} KserveRequest;

// Reads a request into `i`. `json` is how many bytes of the body are JSON. False: `why` says what is wrong.
bool kserve_read(Infer *i, const Bytes *body, size_t json, char *why, size_t room);
// Writes the answer into the state. False: `why`.
bool kserve_write(Infer *i, char *why, size_t room);
void kserve_end(Infer *i); // frees the state

// Values of "parameters".
typedef struct KserveParameters {
    bool     has_binary, is_binary, all_binary, has_binary_size, has_classes;
    uint64_t binary_size, offset, byte_size, priority, timeout;
    char     region[64];
} KserveParameters;

#endif
