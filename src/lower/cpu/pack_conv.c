// pack_conv.c - chooses conv_nhwc_f32 for a convolution with channels last, and packs its weights: as panels, or as
// panels of filters transformed for tiles of 4x4 or 2x2 pixels (kernels/f32/winograd_f32.c).
#include "kernels/kernels.h"
#include "lower/cpu/choose.h"

#include <math.h>

enum { ROW_BYTES = HOLO_PANEL * sizeof(float), PART_ROWS = HOLO_PACK_PART / ROW_BYTES };

// ---- packing. The packed form is rows of 16 filters in the order [matrix][panel][step][row]. Matrices are groups, or
// places of a transformed tile; steps are places of the filter; rows are channels. A part is some of these rows.
typedef struct Rows {
    int64_t matrices, filters, panels, steps, channels;
    int64_t places;
    bool    is_transformed;
    int64_t tile; // size of the tiles
} Rows;

static Rows rows_of(const HoloLowering *lowering, const HoloTensor *w)
{
    int64_t groups = lowering->pack_groups, filters = w->dim[0] / groups,
            places = holo_product(w->rank - 2, w->dim + 2);
    Rows r         = {
                .matrices       = groups,
                .filters        = filters,
                .steps          = places,
                .channels       = w->dim[1],
                .places         = places,
                .is_transformed = lowering->conv_nhwc.flags & HOLO_CONV_NHWC_WINOGRAD,
                .tile           = holo_winograd_tile(lowering->conv_nhwc.flags),
    };
    if (holo_conv_is_depthwise(groups, filters, r.channels) || lowering->conv_nhwc.flags & HOLO_CONV_NHWC_GROUPS) {
        r.filters  = w->dim[0];
        r.matrices = 1;
    }
    if (r.is_transformed) {
        r.matrices = holo_winograd_places(r.tile);
        r.steps    = 1;
    }
    r.panels = r.filters / HOLO_PANEL + (r.filters % HOLO_PANEL != 0);
    return r;
}

HoloPacking holo_lower_packing_conv(const HoloLowering *lowering, const HoloTensor *w)
{
    Rows    r    = rows_of(lowering, w);
    int64_t rows = r.matrices * r.panels * r.steps * r.channels;
    return (HoloPacking){.bytes = (uint64_t)rows * ROW_BYTES, .part_count = rows / PART_ROWS + (rows % PART_ROWS != 0)};
}

// Transforms a filter of 3 for tiles of 6: G of Y = A'((G g) * (B' d)) for the points 0, +-3/4, +-3/2 and infinity, see
// kernels/f32/winograd_f32.c; and for tiles of 4, with the points 0, +-1 and infinity.
#define POINT(p, n)                         \
    {                                       \
        1 / (n), (p) / (n), (p) * (p) / (n) \
    }
static const double transform[6][3] = {
    {1 / 1.265625, 0, 0}, POINT(0.75, -1.8984375), POINT(-0.75, -1.8984375),
    POINT(1.5, 7.59375),  POINT(-1.5, 7.59375),    {0, 0, 1},
};
static const double transform_small[4][3] = {{1, 0, 0}, POINT(1, 2.0), POINT(-1, 2.0), {0, 0, 1}};

// The weights of the 9 places of a filter in place i, j of the transformed tile.
static void transform_at(int64_t tile, int64_t place, double weights[9])
{
    const double(*rows)[3] = tile == HOLO_WINOGRAD_TILE ? transform : transform_small;
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++) weights[y * 3 + x] = rows[place / (tile + 2)][y] * rows[place % (tile + 2)][x];
}

static void transformed_rows(const Rows *r, const float *w, int64_t matrix, int columns, int64_t rows, float *out)
{
    double weights[9];
    transform_at(r->tile, matrix, weights);
    for (int64_t c = 0; c < rows; c++, out += HOLO_PANEL)
        for (int o = 0; o < HOLO_PANEL; o++) {
            const float *filter = w + (o * r->channels + c) * r->places;
            double       sum    = 0;
            for (int p = 0; p < 9 && o < columns; p++) sum += weights[p] * (double)filter[p];
            out[o] = (float)sum;
        }
}

size_t holo_lower_pack_conv(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out)
{
    Rows    r    = rows_of(lowering, w);
    int64_t rows = r.matrices * r.panels * r.steps * r.channels, at = part * PART_ROWS;
    int64_t end = at + PART_ROWS < rows ? at + PART_ROWS : rows, first = at;
    for (int64_t count; at < end; at += count) {
        int64_t channel = at % r.channels, step = at / r.channels % r.steps;
        int64_t panel = at / r.channels / r.steps % r.panels, matrix = at / r.channels / r.steps / r.panels;
        int64_t filter  = panel * HOLO_PANEL;
        int     columns = (int)(r.filters - filter < HOLO_PANEL ? r.filters - filter : HOLO_PANEL);
        float  *to      = (float *)out + (at - first) * HOLO_PANEL;
        count           = end - at < r.channels - channel ? end - at : r.channels - channel;
        if (!r.is_transformed) filter += matrix * r.filters;
        const float *from = (const float *)w->data + (filter * r.channels + channel) * r.places + step;
        if (r.is_transformed)
            transformed_rows(&r, from, matrix, columns, count, to);
        else
            holo_kernels(0)->pack_f32(count, columns, from, r.places, r.channels * r.places, to);
    }
    return (size_t)(end - first) * ROW_BYTES;
}

// ---- the choice

static int64_t known_or(HoloDim size, int64_t otherwise)
{
    return holo_dim_is_symbolic(size) ? otherwise : size;
}

static bool all_are(const HoloCall *call, const char *name, int count, int64_t number)
{
    int64_t numbers[3];
    int     have = holo_attr_ints(call, name, numbers, 3);
    if (have <= 0) return true; // the default is 1
    for (int i = 0; i < have && i < count; i++)
        if (numbers[i] != number) return false;
    return have <= count;
}

// Can the convolution be computed by tiles?
static bool fits_tiles(const HoloNode *node, const HoloCall *call)
{
    const HoloTensor *w = &node->in[1]->type;
    return w->rank == 4 && w->dim[2] == 3 && w->dim[3] == 3 && holo_attr_int(call, "group", 1) == 1 &&
           all_are(call, "strides", 2, 1) && all_are(call, "dilations", 2, 1);
}

// The cost of a run of a convolution by tiles, in multiplications. Transformed weights save many of these, but they are
// larger, and the tiles must be transformed, too. Unknown sizes count as those of a typical image.
typedef struct TileCosts {
    double plain;
    double tiles[2], stored[2]; // for tiles of 4x4 and of 2x2: how many, and the cost with weights stored transformed
    double each_run;            // for tiles of 4x4: the cost with weights transformed in each run
} TileCosts;

static TileCosts costs_of(const HoloNode *node)
{
    enum { IMAGE = 64, TRANSFORM = 16, LOAD = 8, WEIGHT = 96 }; // in multiplications: TRANSFORM, LOAD, WEIGHT
    const HoloTensor *w = &node->in[1]->type, *out = &node->out[0]->type;
    double    filters = (double)w->dim[0], channels = (double)w->dim[1], batch = (double)known_or(out->dim[0], 1);
    double    height = (double)known_or(out->dim[1], IMAGE), width = (double)known_or(out->dim[2], IMAGE);
    TileCosts c = {.plain = (batch * height * width * 9 + 9 * LOAD) * filters * channels};
    for (int i = 0; i < 2; i++) {
        double side = i ? HOLO_WINOGRAD_SMALL : HOLO_WINOGRAD_TILE, places = (side + 2) * (side + 2);
        c.tiles[i] = batch * ceil(height / side) * ceil(width / side);
        c.stored[i] =
            places * (c.tiles[i] * (filters * channels + TRANSFORM * (filters + channels)) + LOAD * filters * channels);
    }
    c.each_run = c.stored[0] + WEIGHT * filters * channels;
    return c;
}

// Are transformed weights worth it? Returns the flag. If transformed weights are large and there are many tiles, it is
// better to transform them in each run than to read them from memory, as long as the last cache holds them.
static uint32_t transform_flag(const HoloNode *node, const HoloCall *call)
{
    enum { MANY_TILES = 64, LARGE = 1 << 22, CACHED = 10 << 20 }; // LARGE, CACHED: sizes of transformed weights
    const HoloTensor *w = &node->in[1]->type;
    if (!fits_tiles(node, call)) return 0;
    TileCosts c = costs_of(node);
    if (w->dim[1] < HOLO_PANEL || w->dim[0] < HOLO_PANEL || fmin(c.stored[0], c.stored[1]) >= c.plain) return 0;
    if (c.stored[1] < c.stored[0]) return HOLO_CONV_NHWC_WINOGRAD | HOLO_CONV_NHWC_SMALL;
    double weights = 36.0 * (double)w->dim[0] * (double)w->dim[1];
    bool   large   = c.tiles[0] >= MANY_TILES && weights > LARGE && weights <= CACHED;
    return large ? HOLO_CONV_NHWC_TRANSFORM : HOLO_CONV_NHWC_WINOGRAD;
}

bool holo_cpu_is_enlarged(const HoloLowering *lowering)
{
    return lowering->kernel == HOLO_KERNEL_conv_nhwc_f32 && lowering->pack_input >= 0 &&
           lowering->conv_nhwc.flags & HOLO_CONV_NHWC_WINOGRAD;
}

double holo_cpu_cost(const HoloNode *node, const HoloLowering *way)
{
    if (way->kernel != HOLO_KERNEL_conv_nhwc_f32 || way->pack_input < 0) return -1;
    uint32_t  flags = way->conv_nhwc.flags;
    TileCosts c     = costs_of(node);
    if (flags & HOLO_CONV_NHWC_WINOGRAD) return c.stored[flags & HOLO_CONV_NHWC_SMALL ? 1 : 0];
    return flags & HOLO_CONV_NHWC_TRANSFORM ? c.each_run : c.plain;
}

static bool packs(const HoloNode *node, const HoloLowering *lowering)
{
    const HoloTensor *t      = &node->in[1]->type;
    int64_t           groups = lowering->pack_groups;
    return holo_conv_nhwc_packed(lowering->conv_nhwc.flags, groups, t->dim[0] / groups, t->dim[1],
                                 holo_product(t->rank - 2, t->dim + 2)) >= 0;
}

// Output pixels of all images, if codes can be looked up for all of them at once. 0: they cannot, or reading the images
// in place is as fast.
static int64_t pixels_of(const HoloNode *node, int64_t groups, uint32_t flags)
{
    const HoloTensor *w = &node->in[1]->type, *out = &node->out[0]->type;
    int64_t           rows = 1;
    if (flags & HOLO_CONV_NHWC_TRANSFORM || groups != 1 || holo_product(w->rank - 1, w->dim + 1) <= HOLO_GEMM_K)
        return 0;
    for (int d = 0; d < out->rank - 1; d++)
        if (holo_dim_is_symbolic(out->dim[d]) || __builtin_mul_overflow(rows, out->dim[d], &rows)) return 0;
    return rows;
}

// The narrow type that loses nothing, if the weights can be stored in it. Windows over the few channels of a picture stay
// wide: their filters are small, and only wide ones meet the picture where it lies, in less than half of the time.
static uint32_t narrow_flag(const HoloNode *node, int64_t groups, uint32_t flags, float *out_book)
{
    enum { PICTURE_CHANNELS = 4 };
    const HoloTensor *w = &node->in[1]->type;
    if (flags & (HOLO_CONV_NHWC_WINOGRAD | HOLO_CONV_NHWC_GROUPS)) return 0;
    if (holo_conv_is_depthwise(groups, w->dim[0] / groups, w->dim[1])) return 0;
    if (groups == 1 && w->dim[1] <= PICTURE_CHANNELS && holo_product(w->rank - 2, w->dim + 2) > 1) return 0;
    return holo_lower_narrow_type(w, pixels_of(node, groups, flags), out_book);
}

bool holo_lower_conv_nhwc(const HoloNode *node, HoloLowering *out)
{
    HoloCall         call = holo_node_call(node);
    const HoloValue *x = holo_node_in(node, 0), *w = holo_node_in(node, 1), *b = holo_node_in(node, 2);
    int64_t          groups = holo_attr_int(&call, "group", 1);
    if (!holo_value_is_f32(x, 3, 5) || !holo_value_is_f32(w, x->type.rank, x->type.rank)) return false;
    if (b && !holo_value_is_f32(b, 1, 1)) return false;
    if (!w->is_constant || !w->type.data || holo_tensor_count(&w->type) <= 0) return false;
    if (groups < 1 || w->type.dim[0] % groups || !holo_lower_tail(node, &out->conv_nhwc.tail)) return false;
    out->params_size     = sizeof out->conv_nhwc;
    out->conv_nhwc.flags = HOLO_CONV_NHWC_PACKED;
    out->conv_nhwc.flags |= transform_flag(node, &call);
    if (holo_conv_has_groups(groups, w->type.dim[0] / groups, w->type.dim[1]))
        out->conv_nhwc.flags |= HOLO_CONV_NHWC_GROUPS;
    out->conv_nhwc.flags |= narrow_flag(node, groups, out->conv_nhwc.flags, out->pack_book);
    out->pack_input  = 1;
    out->pack_groups = groups;
    return packs(node, out);
}

int holo_lower_conv_ways(const HoloNode *node, const HoloLowering *chosen, HoloLowering *out)
{
    static const uint32_t others[] = {0, HOLO_CONV_NHWC_WINOGRAD, HOLO_CONV_NHWC_TRANSFORM, // plain, and by tiles
                                      HOLO_CONV_NHWC_WINOGRAD | HOLO_CONV_NHWC_SMALL};
    HoloCall              call     = holo_node_call(node);
    int                   count = 0, end = fits_tiles(node, &call) ? HOLO_COUNT(others) : 1;
    for (int i = 0; i < end; i++) {
        uint32_t flags = HOLO_CONV_NHWC_PACKED | others[i];
        out[count]     = *chosen;
        flags |= narrow_flag(node, chosen->pack_groups, flags, out[count].pack_book);
        if (flags == chosen->conv_nhwc.flags) continue;
        out[count].conv_nhwc.flags = flags;
        count += packs(node, &out[count]);
    }
    return count;
}
