// layer_centroids.c - see layer_centroids.h. Every HOLO_LAYER_WIDTH numbers of a row have centroids of their own: the
// means of the numbers near each of them (k-means, from a fixed seed, on some thousand rows of the samples).
#include "quantize/layer_centroids.h"

#include "quantize/runs.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    WIDTH      = HOLO_LAYER_WIDTH,
    ROWS_MOST  = 2048,     // most rows that are used
    SEEN_BYTES = 32 << 20, // most bytes of a value that are kept
    ROUNDS     = 12,
};

typedef struct Seen { // rows of a value that layers read
    int64_t k, room, count, total;
    float  *rows;
} Seen;

typedef struct Finding {
    const HoloGraph           *graph;
    HoloLayers                *layers;
    const HoloQuantizeOptions *options;
    HoloArena                 *arena;
    HoloArena                  scratch;
    Seen                      *seen; // by value id
    bool                      *wanted;
    HoloRandom                 random;
    HoloError                 *error;
} Finding;

// ---- rows

// If there are more rows than room, each row is equally likely to be kept.
static void rows_each(void *context, int value, const HoloTensor *t)
{
    Finding     *f    = context;
    Seen        *seen = &f->seen[value];
    const float *x    = t->data;
    for (int64_t at = 0, count = holo_tensor_count(t); at + seen->k <= count; at += seen->k) {
        int64_t to = seen->total++;
        if (to >= seen->room) to = (int64_t)(holo_random_unit(&f->random) * (double)seen->total);
        if (to >= seen->room) continue;
        memcpy(seen->rows + to * seen->k, x + at, (size_t)seen->k * sizeof *x);
        if (seen->count < seen->room) seen->count++;
    }
}

static HoloStatus rows_take(Finding *f)
{
    int values = f->graph->value_count + 1;
    f->seen    = HOLO_NEW(&f->scratch, Seen, values);
    f->wanted  = HOLO_NEW(&f->scratch, bool, values);
    if (!f->seen || !f->wanted) return holo_fail_memory(f->error);
    for (int i = 0; i < f->layers->count; i++) {
        const HoloLayer *layer = &f->layers->layers[i];
        if (layer->refusal || layer->kind != HOLO_QUANTIZE_CENTROIDS) continue;
        int   id   = f->graph->nodes[layer->node]->in[0]->id;
        Seen *seen = &f->seen[id];
        if (f->wanted[id]) continue;
        f->wanted[id] = true;
        seen->k       = layer->k;
        seen->room    = SEEN_BYTES / (layer->k * (int64_t)sizeof(float));
        if (seen->room > ROWS_MOST) seen->room = ROWS_MOST;
        if (seen->room < 1) seen->room = 1;
        seen->rows = HOLO_NEW(&f->scratch, float, seen->room * seen->k);
        if (!seen->rows) return holo_fail_memory(f->error);
    }
    return holo_runs_watch(f->graph, f->wanted, f->options, rows_each, f, f->error);
}

// ---- centroids of one group

typedef struct Group {
    const Seen *seen;
    int64_t     first;          // column of the group
    int         count;          // number of centroids
    float       at[256][WIDTH]; // the centroids
    uint8_t     of[ROWS_MOST];  // by row: the nearest one
    float       off[ROWS_MOST]; // by row: the square of the distance to it
} Group;

static const float *row_of(const Group *g, int64_t row)
{
    return g->seen->rows + row * g->seen->k + g->first;
}

static float distance(const float *a, const float *b)
{
    float sum = 0;
    for (int i = 0; i < WIDTH; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

// Adds one more centroid.
static void nearer(Group *g, int c)
{
    for (int64_t r = 0; r < g->seen->count; r++) {
        float d = distance(row_of(g, r), g->at[c]);
        if (d < g->off[r]) {
            g->off[r] = d;
            g->of[r]  = (uint8_t)c;
        }
    }
}

static void all_far(Group *g)
{
    for (int64_t r = 0; r < g->seen->count; r++) {
        g->off[r] = FLT_MAX;
        g->of[r]  = 0;
    }
}

// Chooses the first centroids: rows, with a probability that grows with the distance from earlier ones.
static void begin(Group *g, HoloRandom *random)
{
    all_far(g);
    for (int c = 0; c < g->count; c++) {
        double  all = 0, at;
        int64_t row = c ? g->seen->count - 1 : (int64_t)(holo_random_unit(random) * (double)g->seen->count);
        for (int64_t r = 0; c && r < g->seen->count; r++) all += (double)g->off[r];
        at = holo_random_unit(random) * all;
        for (int64_t r = 0; c && r < g->seen->count; r++)
            if ((at -= (double)g->off[r]) < 0) {
                row = r;
                break;
            }
        memcpy(g->at[c], row_of(g, row), sizeof g->at[c]);
        nearer(g, c);
    }
}

// Each centroid becomes the mean of its rows; one without rows stays.
static void move(Group *g)
{
    double  sum[256][WIDTH];
    int64_t rows[256] = {0};
    memset(sum, 0, sizeof sum);
    for (int64_t r = 0; r < g->seen->count; r++) {
        rows[g->of[r]]++;
        for (int i = 0; i < WIDTH; i++) sum[g->of[r]][i] += (double)row_of(g, r)[i];
    }
    for (int c = 0; c < g->count; c++)
        for (int i = 0; i < WIDTH && rows[c]; i++) g->at[c][i] = (float)(sum[c][i] / (double)rows[c]);
    all_far(g);
    for (int c = 0; c < g->count; c++) nearer(g, c);
}

// ---- tables

static double weight(const HoloLayer *layer, int64_t k, int64_t n)
{
    const float *w = layer->w->data;
    return (double)(layer->is_transposed ? w[n * layer->k + k] : w[k * layer->n + n]);
}

static void table_make(const Group *g, const HoloLayer *layer, float *out)
{
    double alpha = layer->op == HOLO_LAYER_GEMM ? (double)layer->alpha : 1;
    for (int c = 0; c < g->count; c++)
        for (int64_t j = 0; j < layer->n; j++) {
            double sum = 0;
            for (int i = 0; i < WIDTH; i++) sum += (double)g->at[c][i] * weight(layer, g->first + i, j);
            *out++ = (float)(alpha * sum);
        }
}

static HoloStatus layer_make(Finding *f, HoloLayer *layer)
{
    int64_t     groups = layer->k / WIDTH, count = f->options->centroids;
    const Seen *seen = &f->seen[f->graph->nodes[layer->node]->in[0]->id];
    Group      *g    = HOLO_NEW(&f->scratch, Group, 1);
    layer->scale     = (HoloTensor){.dtype = HOLO_F32, .kind = HOLO_TENSOR, .rank = 3, .dim = {groups, WIDTH, count}};
    layer->q = (HoloTensor){.dtype = HOLO_F32, .kind = HOLO_TENSOR, .rank = 3, .dim = {groups, count, layer->n}};
    layer->scale.data = holo_arena_take(f->arena, holo_tensor_bytes(&layer->scale) + 1);
    layer->q.data     = holo_arena_take(f->arena, holo_tensor_bytes(&layer->q) + 1);
    if (!g || !layer->scale.data || !layer->q.data) return holo_fail_memory(f->error);
    for (int64_t i = 0; i < groups; i++) {
        float *out = (float *)layer->scale.data + i * WIDTH * count;
        g->seen    = seen;
        g->first   = i * WIDTH;
        g->count   = (int)count;
        begin(g, &f->random);
        for (int r = 0; r < ROUNDS; r++) move(g);
        for (int64_t j = 0; j < WIDTH * count; j++) out[j] = g->at[j % count][j / count];
        table_make(g, layer, (float *)layer->q.data + i * count * layer->n);
    }
    layer->report.bytes_after = holo_tensor_bytes(&layer->q) + holo_tensor_bytes(&layer->scale);
    return HOLO_OK;
}

// ---- all layers

static void refuse(HoloLayer *layer, const char *why)
{
    layer->refusal = layer->report.why = why;
}

static bool is_finite(const Seen *seen)
{
    for (int64_t i = 0; i < seen->count * seen->k; i++)
        if (!isfinite(seen->rows[i])) return false;
    return seen->count > 0;
}

// In the order of the layers, as long as there is room.
static void check_room(Finding *f)
{
    double room = f->options->passes->table_budget ? (double)f->options->passes->table_budget : INFINITY;
    for (int i = 0; i < f->layers->count; i++) {
        HoloLayer *layer = &f->layers->layers[i];
        if (layer->refusal || layer->kind != HOLO_QUANTIZE_CENTROIDS) continue;
        double bytes = (double)layer->k / WIDTH * f->options->centroids * ((double)layer->n + WIDTH) * sizeof(float);
        if (bytes > room)
            refuse(layer, "its table is larger than what is left of --memory-budget");
        else
            room -= bytes;
    }
}

static HoloStatus find(Finding *f)
{
    check_room(f);
    HOLO_TRY(rows_take(f));
    for (int i = 0; i < f->layers->count; i++) {
        HoloLayer *layer = &f->layers->layers[i];
        if (layer->refusal || layer->kind != HOLO_QUANTIZE_CENTROIDS) continue;
        if (!is_finite(&f->seen[f->graph->nodes[layer->node]->in[0]->id])) {
            refuse(layer, "what it reads is not finite on the samples");
            continue;
        }
        HOLO_TRY(layer_make(f, layer));
    }
    return HOLO_OK;
}

HoloStatus holo_centroids_find(const HoloGraph *graph, HoloLayers *layers, const HoloQuantizeOptions *options,
                               const HoloSamples *samples, HoloArena *arena, HoloError *error)
{
    HoloQuantizeOptions own = *options;
    own.samples             = samples;
    Finding    f = {.graph = graph, .layers = layers, .options = &own, .arena = arena, .random = {1}, .error = error};
    HoloStatus status = find(&f);
    holo_arena_deinit(&f.scratch);
    return status;
}
