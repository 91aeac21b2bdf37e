// resize_whole.c - linear resizing of integers, which keeps what is before the point. A sum that lands just below a
// whole number is another result than one that lands on it, so the order is fixed: in float, weights multiplied from
// the last axis on, terms added with the last axis changing fastest.
#include "ops/spread.h"
#include "ops/standard/resize.h"

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
    bool              crops;                      // some of y may lie outside of x
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

// Adds the terms of one choice of elements along the axes before the last, in which bit i stands for the second of axis
// i.
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
    for (int64_t o = 0; o < 2 * length && index; o++) {
        float by = w->last[o];
        for (int i = 0; i < w->count; i++) by *= weight[i];
        sum[o / 2] += by * from[index[o]];
    }
    if (index) return;
    float by = 1; // for all of the line
    for (int i = 0; i < w->count; i++) by *= weight[i];
    for (int64_t o = 0; o < length; o++) sum[o] += by * from[o];
}

// The same of both choices of an image, which is most of what there is: two axes, of which one is the last.
static void image_line(const Whole *w, const Line *line, int64_t length, float *restrict sum)
{
    const HoloResizeAxis *a     = &w->is->axis[w->axes[0]];
    const int64_t        *index = w->index, k = 2 * line->at[w->axes[0]], step = w->stride[w->axes[0]];
    const float          *last = w->last, *one = w->from + line->base + a->index[k] * step;
    const float          *two   = w->from + line->base + a->index[k + 1] * step;
    float                 first = (float)a->weight[k], second = (float)a->weight[k + 1];
    for (int64_t o = 0; o < length; o++, index += 2, last += 2) {
        float made = last[0] * first * one[index[0]];
        made += last[1] * first * one[index[1]];
        made += last[0] * second * two[index[0]];
        sum[o] = made + last[1] * second * two[index[1]];
    }
}

// As holo_write_f: what is before the point, as far as it fits; 0 for a NaN.
static void bytes_write(int64_t length, const float *sum, float low, uint8_t *out)
{
    float high = low + 255;
    for (int64_t o = 0; o < length; o++) {
        float x = sum[o] > low ? sum[o] : sum[o] <= low ? low : 0;
        out[o]  = (uint8_t)(int)(x < high ? x : high);
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
    bool           is_image = w->count == 1 && index && !line.outside;
    bool           of_bytes = w->y->dtype == HOLO_U8 || w->y->dtype == HOLO_I8;
    if (is_image) image_line(w, &line, length, sum);
    for (int64_t o = 0; o < length && !is_image; o++) sum[o] = 0;
    for (int c = 0; c < 1 << w->count && !line.outside && !is_image; c++) terms_add(w, &line, c, length, sum);
    if (of_bytes && !w->crops) {
        bytes_write(length, sum, w->y->dtype == HOLO_I8 ? -128 : 0, (uint8_t *)w->y->data + number * length);
        return;
    }
    for (int64_t o = 0, run; o < length; o += run) {
        run = length - o < HOLO_TILE ? length - o : HOLO_TILE;
        for (int64_t i = o; i < o + run; i++)
            tile[i - o] = line.outside || (index && index[2 * i] < 0) ? rest : (double)sum[i];
        holo_write_f(w->y, number * length + o, 1, run, tile);
    }
}

static void floats_read(const HoloTensor *x, float *out)
{
    double  tile[HOLO_TILE];
    int64_t count = holo_tensor_count(x);
    for (int64_t i = 0; i < count && x->dtype == HOLO_U8; i++) out[i] = ((const uint8_t *)x->data)[i];
    for (int64_t i = 0; i < count && x->dtype == HOLO_I8; i++) out[i] = ((const int8_t *)x->data)[i];
    if (x->dtype == HOLO_U8 || x->dtype == HOLO_I8) return;
    for (int64_t at = 0, run; at < count; at += run) {
        run = count - at < HOLO_TILE ? count - at : HOLO_TILE;
        holo_read_f(x, at, 1, run, tile);
        for (int64_t i = 0; i < run; i++) out[at + i] = (float)tile[i];
    }
}

// The last axis, where it is resized: weights as floats, of which they are numbers. Outside, the first element stands
// in.
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
    w.from  = from;
    w.line  = line;
    w.crops = resize->how.place == HOLO_RESIZE_TF_CROP_AND_RESIZE;
    floats_read(w.x, from);
    holo_strides(rank, w.x->dim, w.stride);
    for (int d = rank - 2; d >= 0; d--)
        if (resize->axis[d].index) w.axes[w.count++] = d;
    holo_spread(call, lines, (double)lines * (double)length * 8, line_run, &w);
    return HOLO_OK;
}
