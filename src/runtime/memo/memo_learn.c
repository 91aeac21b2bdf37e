// memo_learn.c - answers that a session keeps, within a limit of bytes. The answer not used for the longest time goes
// first.
//
// Each entry is an allocation of its own and is counted; the limit is never exceeded. If there is no memory, something
// is not learnt, but no run fails.
#include "runtime/memo/memo.h"

#include <string.h>

enum { ALIGN = 16, BUCKETS_MIN = 16, BUCKETS_MAX = 1 << 16, BYTES_A_BUCKET = 4096 };

static HoloLearnt **bucket_of(HoloMemo *memo, HoloHash key)
{
    return &memo->buckets[key.word[0] & (memo->bucket_count - 1)];
}

// ---- the order of use

static void order_remove(HoloMemo *memo, HoloLearnt *entry)
{
    *(entry->newer ? &entry->newer->older : &memo->newest) = entry->older;
    *(entry->older ? &entry->older->newer : &memo->oldest) = entry->newer;
}

static void order_add(HoloMemo *memo, HoloLearnt *entry)
{
    entry->newer                                           = NULL;
    entry->older                                           = memo->newest;
    *(memo->newest ? &memo->newest->newer : &memo->oldest) = entry;
    memo->newest                                           = entry;
}

// ---- room

static void entry_free(HoloMemo *memo, HoloLearnt *entry)
{
    memo->used -= entry->bytes;
    holo_free(entry->answer);
    holo_free(entry);
}

static void oldest_forget(HoloMemo *memo)
{
    HoloLearnt  *entry = memo->oldest;
    HoloLearnt **link  = bucket_of(memo, entry->key);
    while (*link != entry) link = &(*link)->next;
    *link = entry->next;
    order_remove(memo, entry);
    entry_free(memo, entry);
}

// Makes room for `bytes` more beside `kept`, those of the pending entry. False: that is not possible.
static bool room_make(HoloMemo *memo, size_t bytes, size_t kept)
{
    size_t room = memo->limit - memo->bucket_count * sizeof *memo->buckets;
    if (kept > room || bytes > room - kept) return false;
    while (bytes > memo->limit - memo->used) oldest_forget(memo);
    return true;
}

static void pending_drop(HoloMemo *memo)
{
    if (memo->pending) entry_free(memo, memo->pending);
    memo->pending = NULL;
}

bool holo_memo_limit(HoloMemo *memo, size_t limit)
{
    size_t buckets = BUCKETS_MIN;
    pending_drop(memo);
    while (memo->oldest) oldest_forget(memo);
    holo_free(memo->buckets);
    memo->buckets = NULL;
    memo->limit = memo->used = memo->bucket_count = memo->reserved = 0;
    if (!limit) return true;
    while (buckets < BUCKETS_MAX && buckets < limit / BYTES_A_BUCKET) buckets *= 2;
    memo->buckets = holo_realloc(NULL, buckets * sizeof *memo->buckets);
    if (!memo->buckets) return false;
    memset(memo->buckets, 0, buckets * sizeof *memo->buckets);
    memo->bucket_count = buckets;
    memo->limit        = limit;
    memo->used         = buckets * sizeof *memo->buckets;
    return true;
}

void holo_memo_reserve(HoloMemo *memo, size_t bytes)
{
    if (!memo->limit) return;
    memo->limit    = memo->limit + memo->reserved - bytes;
    memo->reserved = bytes;
    while (memo->oldest && memo->used > memo->limit) oldest_forget(memo);
}

// ---- entries

HoloLearnt *holo_memo_recall(HoloMemo *memo, HoloHash key, const HoloTensor *inputs)
{
    for (HoloLearnt *entry = *bucket_of(memo, key); entry; entry = entry->next) {
        bool same = holo_hash_equal(entry->key, key);
        for (int i = 0; same && i < memo->in_count; i++) same = holo_memo_same(&inputs[i], &entry->tensor[i]);
        if (!same) continue;
        order_remove(memo, entry);
        order_add(memo, entry);
        return entry;
    }
    return NULL;
}

// Adds the aligned bytes of a tensor. False: too many, or it is not a tensor of numbers.
static bool bytes_add(const HoloTensor *t, size_t *bytes)
{
    size_t size = holo_tensor_bytes(t);
    return t->kind == HOLO_TENSOR && t->dtype != HOLO_STRING && size < SIZE_MAX / 2 &&
           holo_size_add(*bytes, holo_align(size, ALIGN), bytes);
}

static char *tensor_copy(const HoloTensor *from, char *to, HoloTensor *out)
{
    size_t bytes = holo_tensor_bytes(from);
    *out         = *from;
    out->data    = to;
    if (bytes) memcpy(to, from->data, bytes);
    return to + holo_align(bytes, ALIGN);
}

void holo_memo_begin(HoloMemo *memo, HoloHash key, const HoloTensor *inputs)
{
    size_t front = sizeof(HoloLearnt) + (size_t)(memo->in_count + memo->out_count) * sizeof(HoloTensor);
    size_t bytes = holo_align(front, ALIGN);
    char  *at;
    pending_drop(memo);
    for (int i = 0; i < memo->in_count; i++)
        if (!bytes_add(&inputs[i], &bytes)) return;
    if (!room_make(memo, bytes, 0)) return;
    HoloLearnt *entry = holo_realloc(NULL, bytes);
    if (!entry) return;
    *entry        = (HoloLearnt){.key = key, .bytes = bytes};
    memo->pending = entry;
    memo->used += bytes;
    at = (char *)entry + holo_align(front, ALIGN);
    for (int i = 0; i < memo->in_count; i++) at = tensor_copy(&inputs[i], at, &entry->tensor[i]);
}

static bool answer_keep(HoloMemo *memo, HoloLearnt *entry)
{
    size_t bytes = 0;
    for (int i = 0; i < memo->out_count; i++)
        if (!bytes_add(&memo->answer[i], &bytes)) return false;
    if (!room_make(memo, bytes, entry->bytes)) return false;
    char *at = entry->answer = holo_realloc(NULL, bytes);
    if (!at) return false;
    entry->bytes += bytes;
    memo->used += bytes;
    for (int i = 0; i < memo->out_count; i++)
        at = tensor_copy(&memo->answer[i], at, &entry->tensor[memo->in_count + i]);
    return true;
}

void holo_memo_learn(HoloMemo *memo, bool has_answer)
{
    HoloLearnt *entry = memo->pending;
    if (!entry || !has_answer || !answer_keep(memo, entry)) {
        memo->lost += has_answer && memo->limit;
        pending_drop(memo);
        return;
    }
    HoloLearnt **bucket = bucket_of(memo, entry->key);
    entry->next         = *bucket;
    *bucket             = entry;
    order_add(memo, entry);
    memo->pending = NULL;
}
