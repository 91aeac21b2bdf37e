// memo.h - answers that are known already: those in the archive, and those that a session has learnt.
//
// Inputs are found by their content identity and then compared byte by byte: an answer always belongs to exactly these
// inputs, whatever the hash says. A model has no memo if it is random, or if its inputs or outputs are not tensors of
// numbers.
#ifndef HOLO_RUNTIME_MEMO_MEMO_H
#define HOLO_RUNTIME_MEMO_MEMO_H

#include "base/files.h"
#include "base/hash.h"
#include "runtime/model.h"

typedef struct HoloLearnt HoloLearnt; // one answer that was learnt

struct HoloLearnt {
    HoloLearnt *next;          // in its bucket
    HoloLearnt *newer, *older; // by last use
    HoloHash    key;
    size_t      bytes;    // all bytes that it takes
    char       *answer;   // the bytes of the outputs; those of the inputs follow the tensors
    HoloTensor  tensor[]; // inputs, then outputs
};

typedef struct HoloMemo {
    const HoloModel *model;
    int              in_count, out_count;
    uint64_t         hits, misses;
    uint64_t         lost;        // misses whose answers could not be kept, because there was no memory or no room
    size_t           limit, used; // bytes of what is learnt, including `buckets`; limit 0: nothing is learnt
    size_t           reserved;    // bytes of the user's limit that others use: `limit` is the rest
    HoloLearnt     **buckets;
    size_t           bucket_count; // a power of 2
    HoloLearnt      *newest, *oldest;
    HoloLearnt      *pending;  // what the current run may become: its inputs are there
    bool             is_hit;   // the last run was a hit, and `answer` is its answer
    HoloTensor       answer[]; // views of the mapped file, of what was learnt, or of what is being learnt
} HoloMemo;

// The memo of a session, with the answers of the archive; NULL: no memory.
HoloMemo *holo_memo_create(const HoloModel *model);
void      holo_memo_destroy(HoloMemo *memo);

// The key of inputs: the content identity of each, hashed together with the key of those before it. False: they are not
// all tensors of numbers, so they have no key.
bool holo_memo_key(const HoloTensor *inputs, int count, HoloHash *out);
// The entry of the archive whose key has this hash; NULL: none. It may belong to other inputs.
const HoloMemoRecord *holo_memo_lookup(const HoloArchive *archive, HoloHash key);
// A tensor of the archive's memo.
HoloTensor holo_memo_view(const HoloArchive *archive, const HoloMemoTensor *record);

// Is the answer to these inputs known? Then it is in memo->answer. Else the run may be learnt: see holo_memo_learn.
bool holo_memo_find(HoloMemo *memo, const HoloTensor *inputs);

// ---- learning (memo_learn.c)

// Sets how many bytes may be learnt; 0: nothing. Forgets what was learnt before. False: no memory.
bool holo_memo_limit(HoloMemo *memo, size_t limit);
// Others use so many bytes of what may be kept, instead of what they used before; at most half of it.
void        holo_memo_reserve(HoloMemo *memo, size_t bytes);
HoloLearnt *holo_memo_recall(HoloMemo *memo, HoloHash key, const HoloTensor *inputs); // NULL: not known
// Keeps the inputs of a run that begins, if there is room for them.
void holo_memo_begin(HoloMemo *memo, HoloHash key, const HoloTensor *inputs);
// Ends that run, which gave memo->answer or failed.
void holo_memo_learn(HoloMemo *memo, bool has_answer);

// As holo_session_save_memo, to an open file (memo_write.c).
HOLO_MUST HoloStatus holo_memo_write(const HoloSession *session, HoloFileWriter *file, uint64_t *out_size,
                                     HoloError *error);

// Do they have the same type, shape and bytes?
bool holo_memo_same(const HoloTensor *a, const HoloTensor *b);

#endif
