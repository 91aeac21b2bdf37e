// reader_labels.c - holo_classify: the labels that a model gives to texts, to their tokens, or to pictures.
#include "api/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- what the model says of its labels

static HoloStatus labels_read(HoloReader *r, HoloError *error)
{
    const char *problem = holo_model_meta_find(r->model, "labels.problem");
    HoloString  all;
    size_t      room = 0, lines = 1;
    if (problem && !strcmp(problem, "multi_label_classification")) r->kind = HOLO_LABELS_SEVERAL;
    if (problem && !strcmp(problem, "regression")) r->kind = HOLO_LABELS_NUMBERS;
    bool has_labels = holo_model_asset(r->model, "labels", &all);
    for (size_t i = 0; has_labels && i < all.size; i++) lines += all.data[i] == '\n';
    HOLO_TRY(holo_reader_take((void **)&r->label_name, &room, lines, sizeof *r->label_name, error));
    if (!has_labels) return HOLO_OK;
    for (const char *at = all.data, *end = all.data + all.size, *stop; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        r->label_name[r->label_count++] = (HoloString){at, (size_t)(stop - at)};
    }
    return HOLO_OK;
}

// ---- scores

static void softmax(HoloLabel *s, int64_t count)
{
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < count; i++) most = fmax(most, s[i].score);
    for (int64_t i = 0; i < count; i++) sum += s[i].score = exp(s[i].score - most);
    for (int64_t i = 0; i < count; i++) s[i].score /= sum;
}

static int by_score(const void *a, const void *b)
{
    const HoloLabel *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static HoloString name_of(HoloReader *r, int64_t id)
{
    if (id < r->label_count) return r->label_name[id];
    int size = snprintf(r->made[id], sizeof *r->made, "LABEL_%lld", (long long)id);
    return (HoloString){r->made[id], (size_t)size};
}

// A row of scores, the best first. A model with one label says how sure it is of it.
static void scores_make(HoloReader *r, const double *x, int64_t count, HoloLabel *s)
{
    for (int64_t i = 0; i < count; i++) s[i] = (HoloLabel){.name = name_of(r, i), .id = i, .score = x[i]};
    if (r->kind == HOLO_LABELS_SEVERAL || (r->kind == HOLO_LABELS_ONE && count == 1))
        for (int64_t i = 0; i < count; i++) s[i].score = 1 / (1 + exp(-s[i].score));
    else if (r->kind == HOLO_LABELS_ONE)
        softmax(s, count);
    qsort(s, (size_t)count, sizeof *s, by_score);
}

static HoloStatus scores_find(const HoloReader *r, HoloTensor *t, HoloError *error)
{
    static const char *const names[] = {"logits", "scores", "probabilities", NULL};
    char                     all[200];
    bool                     is_found = holo_reader_output(r, names, t);
    if (!is_found && holo_model_output_count(r->model) == 1) {
        HOLO_TRY(holo_session_output(r->session, 0, t, error));
        is_found = true;
    }
    if (!is_found)
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "the model gives no scores of labels: its outputs are %s, and not logits",
                         holo_reader_outputs(r, all));
    if (t->kind != HOLO_TENSOR || t->dtype == HOLO_STRING || (t->rank != 2 && t->rank != 3) || t->dim[0] != 1 ||
        holo_tensor_count(t) <= 0)
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "the scores of labels have %d dimensions, and should be [1, labels] or [1, tokens, labels]",
                         t->kind == HOLO_TENSOR ? t->rank : 0);
    int64_t count = t->dim[t->rank - 1];
    if (t->rank == 3 ? r->label_count != count : r->label_count > count)
        return holo_fail(error, HOLO_UNSUPPORTED, "the model gives %lld scores%s, but has %lld labels",
                         (long long)count, t->rank == 3 ? " for each token" : "", (long long)r->label_count);
    return HOLO_OK;
}

// ---- answers

static HoloStatus answer(HoloReader *r, HoloLabels *out, HoloError *error)
{
    HoloTensor t = {0};
    HOLO_TRY(scores_find(r, &t, error));
    int64_t count = t.dim[t.rank - 1], all = holo_tensor_count(&t), rows = t.rank == 3 ? t.dim[1] : 1, given = 0;
    if (r->picture >= 0 && t.rank != 2)
        return holo_fail(error, HOLO_UNSUPPORTED, "the model has no labels for a whole picture");
    HOLO_TRY(holo_reader_take((void **)&r->numbers, &r->numbers_room, (size_t)all, sizeof *r->numbers, error));
    HOLO_TRY(holo_reader_take((void **)&r->made, &r->made_room, (size_t)count, sizeof *r->made, error));
    HOLO_TRY(holo_reader_take((void **)&r->label, &r->label_room, (size_t)(rows + count), sizeof *r->label, error));
    holo_tensor_numbers(&t, 0, all, r->numbers);
    if (t.rank == 2) scores_make(r, r->numbers, given = count, r->label);
    // The best label of each token that is of the text itself; scores are made behind those of the tokens before it.
    for (int64_t i = r->first; t.rank == 3 && i < rows && i < r->end; i++, given++) {
        scores_make(r, r->numbers + i * count, count, r->label + given);
        r->label[given].token = holo_tokenizer_token(r->tokenizer, r->ids[i]);
    }
    *out = (HoloLabels){.label = r->label, .count = (size_t)given, .kind = r->kind, .is_of_tokens = t.rank == 3};
    return HOLO_OK;
}

HoloStatus holo_classify(HoloReader *r, const char *text, size_t size, HoloLabels *out_labels, HoloError *error)
{
    if (!r->label_name) HOLO_TRY(labels_read(r, error));
    HOLO_TRY(holo_reader_run(r, text, size, error));
    return answer(r, out_labels, error);
}

HoloStatus holo_classify_tensor(HoloReader *r, const HoloTensor *picture, HoloLabels *out_labels, HoloError *error)
{
    if (!r->label_name) HOLO_TRY(labels_read(r, error));
    if (r->picture < 0) return holo_fail(error, HOLO_UNSUPPORTED, "the model does not read pictures alone");
    HOLO_TRY(holo_session_set_input(r->session, r->picture, picture, error));
    HOLO_TRY(holo_session_run(r->session, error));
    return answer(r, out_labels, error);
}
