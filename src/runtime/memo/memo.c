// memo.c - finds the answer to inputs that were seen before, in the archive or in what a session has learnt.
#include "runtime/memo/memo.h"

#include "atlas/content.h"
#include "runtime/frame/frame.h"

#include <string.h>

// ---- which models

static HoloStatus ports_allowed(const HoloPort *ports, int count, const char *what, HoloError *error)
{
    for (int i = 0; i < count; i++)
        if (ports[i].type.kind != HOLO_TENSOR || ports[i].type.dtype == HOLO_STRING)
            return holo_fail(error, HOLO_UNSUPPORTED,
                             "%s %s is not a tensor of numbers: a model with sequences, optional values or strings as "
                             "inputs or outputs cannot have a memo",
                             what, ports[i].name);
    return HOLO_OK;
}

// Fails, with the reason, if the model cannot have a memo.
static HoloStatus memo_allowed(const HoloModel *model, HoloError *error)
{
    if (model->state_count)
        return holo_fail(
            error, HOLO_UNSUPPORTED,
            "the model has states: its answers do not depend on its inputs alone, so it cannot have a memo");
    HOLO_TRY(ports_allowed(model->inputs, holo_model_input_count(model), "input", error));
    HOLO_TRY(ports_allowed(model->outputs, holo_model_output_count(model), "output", error));
    for (size_t i = 0; i < model->archive.OPS_count; i++)
        if (model->ops[i]->flags & HOLO_OP_RANDOM)
            return holo_fail(error, HOLO_UNSUPPORTED,
                             "the model has %s, which is random: its answers do not depend on its inputs alone, so it "
                             "cannot have a memo",
                             model->ops[i]->name);
    return HOLO_OK;
}

HoloMemo *holo_memo_create(const HoloModel *model)
{
    int       outputs = holo_model_output_count(model);
    size_t    size    = sizeof(HoloMemo) + (size_t)outputs * sizeof(HoloTensor);
    HoloMemo *memo    = holo_realloc(NULL, size);
    if (!memo) return NULL;
    memset(memo, 0, size);
    memo->model     = model;
    memo->in_count  = holo_model_input_count(model);
    memo->out_count = outputs;
    return memo;
}

void holo_memo_destroy(HoloMemo *memo)
{
    if (!memo) return;
    if (memo->limit && !holo_memo_limit(memo, 0)) return; // forgetting everything takes no memory
    holo_free(memo);
}

// ---- finding

bool holo_memo_key(const HoloTensor *inputs, int count, HoloHash *out)
{
    *out = (HoloHash){{0, 0}};
    for (int i = 0; i < count; i++) {
        const HoloTensor *t = &inputs[i];
        if (t->kind != HOLO_TENSOR || t->dtype == HOLO_STRING) return false;
        HoloContentId id       = holo_content_id_of_hash(t, holo_hash(t->data, holo_tensor_bytes(t)));
        uint64_t      chain[4] = {out->word[0], out->word[1], id.low, id.high};
        *out                   = holo_hash(chain, sizeof chain);
    }
    return true;
}

const HoloMemoRecord *holo_memo_lookup(const HoloArchive *a, HoloHash key)
{
    for (size_t i = 0; i < HOLO_MEMO_PROBES && i < a->MEMO_SLOTS_count; i++) {
        uint32_t slot = a->MEMO_SLOTS_at[(key.word[0] + i) & (a->MEMO_SLOTS_count - 1)];
        if (!slot) return NULL;
        const HoloMemoRecord *entry = &a->MEMO_ENTRIES_at[slot - 1];
        if (entry->key[0] == key.word[0] && entry->key[1] == key.word[1]) return entry;
    }
    return NULL;
}

HoloTensor holo_memo_view(const HoloArchive *archive, const HoloMemoTensor *record)
{
    HoloTensor t = {.dtype = record->dtype, .rank = (int8_t)record->rank};
    memcpy(t.dim, record->dim, record->rank * sizeof *t.dim);
    t.data = (void *)(uintptr_t)(archive->MEMO_DATA_at + record->offset);
    return t;
}

bool holo_memo_same(const HoloTensor *a, const HoloTensor *b)
{
    if (a->dtype != b->dtype || a->rank != b->rank || memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim))
        return false;
    size_t bytes = holo_tensor_bytes(a);
    return !bytes || !memcmp(a->data, b->data, bytes);
}

static bool stored_find(HoloMemo *memo, HoloHash key, const HoloTensor *inputs)
{
    const HoloArchive    *a     = &memo->model->archive;
    const HoloMemoRecord *entry = holo_memo_lookup(a, key);
    if (!entry) return false;
    const HoloMemoTensor *tensors = &a->MEMO_TENSORS_at[entry->tensor_first];
    for (int i = 0; i < memo->in_count; i++) {
        HoloTensor t = holo_memo_view(a, &tensors[i]);
        if (!holo_memo_same(&inputs[i], &t)) return false;
    }
    for (int i = 0; i < memo->out_count; i++) memo->answer[i] = holo_memo_view(a, &tensors[memo->in_count + i]);
    return true;
}

static bool learnt_find(HoloMemo *memo, HoloHash key, const HoloTensor *inputs)
{
    const HoloLearnt *entry = memo->limit ? holo_memo_recall(memo, key, inputs) : NULL;
    if (entry) memcpy(memo->answer, entry->tensor + memo->in_count, (size_t)memo->out_count * sizeof *memo->answer);
    return entry != NULL;
}

bool holo_memo_find(HoloMemo *memo, const HoloTensor *inputs)
{
    HoloHash key;
    bool     has_key = holo_memo_key(inputs, memo->in_count, &key);
    memo->is_hit     = has_key && (stored_find(memo, key, inputs) || learnt_find(memo, key, inputs));
    *(memo->is_hit ? &memo->hits : &memo->misses) += 1;
    if (!memo->is_hit && has_key && memo->limit) holo_memo_begin(memo, key, inputs);
    return memo->is_hit;
}

// ---- the public functions

static HoloStatus memo_set(HoloSession *session, size_t bytes, HoloError *error)
{
    enum { LEAST = 1024 };
    if (bytes && bytes < LEAST)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "a memo of %zu bytes holds nothing: give it %d or more", bytes,
                         LEAST);
    if (bytes) HOLO_TRY(memo_allowed(session->model, error));
    if (!session->memo && !bytes) return HOLO_OK;
    if (!session->memo && !(session->memo = holo_memo_create(session->model))) return holo_fail_memory(error);
    if (session->memo->is_hit) session->has_run = session->memo->is_hit = false;
    HoloScope scope = {.account = session->account, .what = "the memo"};
    holo_scope_enter(&scope);
    bool done = holo_memo_limit(session->memo, bytes);
    holo_scope_leave(&scope);
    session->frame->is_bound = false; // what is kept of inputs changes
    if (!session->memo->limit && !session->model->archive.MEMO_ENTRIES_count) {
        holo_memo_destroy(session->memo);
        session->memo = NULL;
    }
    return done ? HOLO_OK : holo_fail_memory(error);
}

HoloStatus holo_session_set_memo(HoloSession *session, size_t bytes, HoloError *error)
{
    HOLO_TRY(holo_session_take(session, error));
    HOLO_IN(session->account);
    return holo_session_give(session, memo_set(session, bytes, error), error);
}

int64_t holo_model_memo_count(const HoloModel *model)
{
    return (int64_t)model->archive.MEMO_ENTRIES_count;
}
