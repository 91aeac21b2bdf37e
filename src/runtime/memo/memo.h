// memo.h - answers that are known already: those in the archive, and those that a session has learnt.
//
// Inputs are found by the identity of their content and then compared byte by byte: an answer is never that of other
// inputs, whatever the hash says. Models that do not follow from their inputs, or whose inputs or outputs are no tensors of
// numbers, have no memo.
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
    size_t      bytes;    // that it takes in all
    char       *answer;   // the bytes of the outputs; those of the inputs lie behind the tensors
    HoloTensor  tensor[]; // inputs, then outputs
};

typedef struct HoloMemo {
    const HoloModel *model;
    int              in_count, out_count;
    uint64_t         hits, misses;
    uint64_t         lost;        // misses whose answers could not be kept, for want of memory or of room
    size_t           limit, used; // bytes of what is learnt, `buckets` among it; limit 0: nothing is
    size_t           reserved;    // bytes that others have of what the user allows: `limit` is the rest
    HoloLearnt     **buckets;
    size_t           bucket_count; // a power of 2
    HoloLearnt      *newest, *oldest;
    HoloLearnt      *pending;  // what the present run may become: its inputs are there
    bool             is_hit;   // the last run was a hit, and `answer` is what it gave
    HoloTensor       answer[]; // views of the map, of what was learnt, or of what is to be
} HoloMemo;

// The memo of a session, with what the archive has; NULL: out of memory.
HoloMemo *holo_memo_create(const HoloModel *model);
void      holo_memo_destroy(HoloMemo *memo);

// What inputs are found by: the content identity of each, hashed together with the key of those before it. False: they are
// not all tensors of numbers, and have none.
bool holo_memo_key(const HoloTensor *inputs, int count, HoloHash *out);
// The entry of the archive whose key has this hash; NULL: none. It may be that of other inputs.
const HoloMemoRecord *holo_memo_lookup(const HoloArchive *archive, HoloHash key);
// A tensor of the archive's memo.
HoloTensor holo_memo_view(const HoloArchive *archive, const HoloMemoTensor *record);

// Is the answer to these inputs known? Then it is in memo->answer. Else the run may be learnt: see holo_memo_learn.
bool holo_memo_find(HoloMemo *memo, const HoloTensor *inputs);

// ---- learning (memo_learn.c)

// How many bytes may be learnt; 0: nothing. What was learnt before is forgotten. False: out of memory.
bool holo_memo_limit(HoloMemo *memo, size_t limit);
// Others take so many bytes of what may be kept, in place of what they took before; less than half of it.
void        holo_memo_reserve(HoloMemo *memo, size_t bytes);
HoloLearnt *holo_memo_recall(HoloMemo *memo, HoloHash key, const HoloTensor *inputs); // NULL: not known
// Keeps the inputs of a run that begins, if there is room for them.
void holo_memo_begin(HoloMemo *memo, HoloHash key, const HoloTensor *inputs);
// Ends that run, which gave memo->answer, or failed.
void holo_memo_learn(HoloMemo *memo, bool has_answer);

// As holo_session_save_memo, to a file that is open (memo_write.c).
HOLO_MUST HoloStatus holo_memo_write(const HoloSession *session, HoloFileWriter *file, uint64_t *out_size,
                                     HoloError *error);

// Are these the same type, shape and bytes?
bool holo_memo_same(const HoloTensor *a, const HoloTensor *b);

#endif
