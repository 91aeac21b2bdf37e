// resize_whole.c - linear resizing of integers, which keeps what is before the point. A sum that lands just below a whole
// number is another result than one that lands on it, so weights and sums are those of ONNX Runtime: in float, weights
// multiplied from the last axis on, terms added with the last axis changing fastest.
#include "ops/resize.h"
#include "ops/spread.h"

#include <string.h>

typedef struct Whole {
    const HoloResize *is;
    const HoloTensor *x;
    HoloTensor       *y;
    const float      *from;  // x as floats
    const float      *last;  // weights along the last axis, where it is resized,
    const int64_t    *index; // and elements
    float            *line;  // of y, for each worker
    int64_t           stride[HOLO_MAX_RANK];
    int               axes[HOLO_MAX_RANK], count; // resized ones but the last of all, from the last on
} Whole;

// Where a line of the output begins: coordinates of all axes but the last.
typedef struct Line {
    int64_t at[HOLO_MAX_RANK];
    int64_t base; // of the axes that stay
    bool    outside;
} Line;

static Line line_find(const Whole *w, int64_t number)
{
    Line line = {.base = 0};
    for (int d = w->y->rank - 2; d >= 0; number /= w->y->dim[d--]) {
        const HoloResizeAxis *a = &w->is->axis[d];
        line.at[d]              = number % w->y->dim[d];
        if (!a->index)
            line.base += line.at[d] * w->stride[d];
        else
            line.outside = line.outside || a->index[line.at[d] * a->taps] < 0;
    }
    return line;
}

static void pairs_add(int64_t length, const int64_t *restrict index, const float *restrict last, float weight,
                      const float *restrict from, float *restrict sum)
{
    for (int64_t o = 0; o < length; o++) {
        float first = last[2 * o] * weight * from[index[2 * o]];
        sum[o]      = sum[o] + first + last[2 * o + 1] * weight * from[index[2 * o + 1]];
    }
}

// Adds the terms of one choice of elements along the axes before the last, in which bit i stands for the second of axis i.
static void terms_add(const Whole *w, const Line *line, int choice, int64_t length, float *sum)
{
    const int64_t *index = w->index;
    float          weight[HOLO_MAX_RANK];
    const float   *from = w->from + line->base;
    for (int i = 0; i < w->count; i++) {
        const HoloResizeAxis *a = &w->is->axis[w->axes[i]];
        int64_t               k = 2 * line->at[w->axes[i]] + (choice >> i & 1);
        from += a->index[k] * w->stride[w->axes[i]];
        weight[i] = (float)a->weight[k];
    }
    if (w->count == 1 && index) { // an image: most of what there is
        pairs_add(length, index, w->last, weight[0], from, sum);
        return;
    }
    int taps = index ? 2 : 1;
    for (int64_t o = 0; o < length; o++)
        for (int t = 0; t < taps; t++) {
            float by = index ? w->last[2 * o + t] : 1;
            for (int i = 0; i < w->count; i++) by *= weight[i];
            sum[o] += by * from[index ? index[2 * o + t] : o];
        }
}

static void line_run(void *arg, int64_t number, int worker)
{
    const Whole   *w      = arg;
    int64_t        length = w->y->dim[w->y->rank - 1];
    const int64_t *index  = w->is->axis[w->y->rank - 1].index;
    float         *sum    = w->line + worker * length;
    Line           line   = line_find(w, number);
    double         tile[HOLO_TILE], rest = w->is->how.extrapolation;
    memset(sum, 0, (size_t)length * sizeof *sum);
    for (int c = 0; c < 1 << w->count && !line.outside; c++) terms_add(w, &line, c, length, sum);
    for (int64_t o = 0, run; o < length; o += run) {
        run = length - o < HOLO_TILE ? length - o : HOLO_TILE;
        for (int64_t i = o; i < o + run; i++)
            tile[i - o] = line.outside || (index && index[2 * i] < 0) ? rest : (double)sum[i];
        holo_write_f(w->y, number * length + o, 1, run, tile);
    }
}

static void floats_read(const HoloTensor *x, float *out)
{
    double tile[HOLO_TILE];
    for (int64_t at = 0, run, count = holo_tensor_count(x); at < count; at += run) {
        run = count - at < HOLO_TILE ? count - at : HOLO_TILE;
        holo_read_f(x, at, 1, run, tile);
        for (int64_t i = 0; i < run; i++) out[at + i] = (float)tile[i];
    }
}

// The last axis, where it is resized: weights as floats, of which they are numbers. Outside, the first element stands in.
static HoloStatus last_read(const HoloCall *call, const HoloResizeAxis *a, Whole *w)
{
    void *weights, *indices;
    if (!a->index) return HOLO_OK;
    HOLO_TRY(holo_call_temp(call, (size_t)a->out, 2 * sizeof(float), &weights));
    HOLO_TRY(holo_call_temp(call, (size_t)a->out, 2 * sizeof(int64_t), &indices));
    float   *weight = weights;
    int64_t *index  = indices;
    for (int64_t i = 0; i < 2 * a->out; i++) {
        bool outside = a->index[i / 2 * 2] < 0;
        index[i]     = outside ? 0 : a->index[i];
        weight[i]    = outside ? 0 : (float)a->weight[i];
    }
    w->last  = weight;
    w->index = index;
    return HOLO_OK;
}

HoloStatus holo_resize_whole(HoloCall *call, const HoloResize *resize)
{
    Whole   w    = {.is = resize, .x = call->in[0], .y = call->out[0]};
    int     rank = w.x->rank, workers = call->host->workers > 1 ? call->host->workers : 1;
    int64_t length = w.y->dim[rank - 1], lines = holo_tensor_count(w.y) / length;
    void   *from, *line;
    HOLO_TRY(holo_call_temp(call, (size_t)holo_tensor_count(w.x), sizeof(float), &from));
    HOLO_TRY(holo_call_temp(call, (size_t)length, (size_t)workers * sizeof(float), &line));
    HOLO_TRY(last_read(call, &resize->axis[rank - 1], &w));
    w.from = from;
    w.line = line;
    floats_read(w.x, from);
    holo_strides(rank, w.x->dim, w.stride);
    for (int d = rank - 2; d >= 0; d--)
        if (resize->axis[d].index) w.axes[w.count++] = d;
    holo_spread(call, lines, (double)lines * (double)length * 8, line_run, &w);
    return HOLO_OK;
}
