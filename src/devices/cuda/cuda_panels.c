// cuda_panels.c - see cuda_panels.h. An archive for the CPU and a GPU has such weights once, in the form of the CPU, which
// reads them where they lie in the file. The GPU needs a copy in any case, so it gets another form on the way.
#include "devices/cuda/cuda_panels.h"

#include "base/bits.h"
#include "devices/cuda/cuda_pick.h"
#include "format/params.h"
#include "kernels/kernels.h"

#include <string.h>

enum { ROW_MOST = 1 << 18, CHUNK = 256 }; // bytes of a row; numbers of a row that are turned at a time

static size_t element(uint8_t store)
{
    return store == HOLO_CUDA_F32 ? 4 : 2;
}

bool holo_cuda_panels(const HoloCudaStepParams *params, const HoloTensor *w, HoloCudaPanels *out)
{
    bool    is_turned = params->layout & HOLO_CUDA_LAYOUT_TURNED;
    int64_t taps      = 1, size;
    *out              = (HoloCudaPanels){.store = params->store, .is_tf32 = params->numeric == HOLO_CUDA_NUMERIC_TF32};
    out->type         = (params->flags & HOLO_CUDA_FLAG_PANELS_F16 ? HOLO_WEIGHTS_F16 : 0) |
                (params->flags & HOLO_CUDA_FLAG_PANELS_BF16 ? HOLO_WEIGHTS_BF16 : 0);
    if (w->rank < 2 || out->type == (HOLO_WEIGHTS_F16 | HOLO_WEIGHTS_BF16) || (w->rank > 2 && params->layout != 1))
        return false;
    for (int d = 2; d < w->rank; d++)
        if (!holo_mul(taps, w->dim[d], &taps)) return false;
    out->rows     = w->rank == 2 && !is_turned ? w->dim[1] : w->dim[0];
    out->real     = w->rank == 2 && !is_turned ? w->dim[0] : w->dim[1];
    out->channels = w->rank == 2 ? out->real : holo_cuda_padded_channels(out->real, 1, taps, params->store);
    if (out->rows < 1 || out->real < 1 || taps < 1) return false;
    if (!holo_mul(out->channels, taps, &out->k) || !holo_mul(out->real, taps, &out->depth)) return false;
    out->row         = holo_cuda_packed_row(out->k, params->store);
    out->bytes       = holo_cuda_packed_size(out->rows, out->k, params->store);
    size             = holo_panels_size(1, out->depth, out->rows);
    out->panel_bytes = size < 0 ? -1 : holo_weights_size(size, out->type);
    return out->bytes >= 0 && out->panel_bytes >= 0 && out->row <= (int64_t)(ROW_MOST / element(params->store));
}

HoloStatus holo_cuda_panels_read(const HoloCall *call, uint8_t store, size_t size, HoloCudaPanels *out, bool *out_turns)
{
    HoloCudaStepParams params = {0};
    if (call->params_size >= sizeof params) memcpy(&params, call->params, sizeof params);
    *out_turns = params.flags & HOLO_CUDA_FLAG_PANELS;
    if (!*out_turns) return HOLO_OK;
    if (params.store != store || !holo_cuda_panels(&params, call->in[0], out) || (uint64_t)out->panel_bytes != size)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "it brings weights that are not packed as it says");
    return HOLO_OK;
}

void holo_cuda_packed(HoloCudaMaking *m, int64_t n, int64_t k)
{
    const HoloTensor *w = m->call->in[1];
    HoloCudaPanels    panels;
    m->job->packed = holo_cuda_packed_size(n, k, m->params.store);
    if (!(m->params.flags & HOLO_CUDA_FLAG_PANELS)) return;
    bool fits         = holo_cuda_panels(&m->params, w, &panels) && panels.rows == n && panels.k == k;
    m->job->packed    = fits ? panels.panel_bytes : -1; // -1: no packed weights are right
    m->job->packed_by = w->rank == 2 ? HOLO_KERNEL_matmul_f32 : HOLO_KERNEL_conv_nhwc_f32;
}

// ---- turning

// To 10 bits of mantissa, to the nearest, ties to even.
static void round_tf32(float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits = holo_bits_of_f32(x[i]), up = bits + 0xFFF + (bits >> 13 & 1);
        bool     over = (up & 0x7F800000) == 0x7F800000;
        if ((bits & 0x7F800000) != 0x7F800000)
            x[i] = holo_f32_of_bits(over ? bits & ~UINT32_C(0x1FFF) : up & ~UINT32_C(0x1FFF));
    }
}

// Places from .. from + n of one panel, as f32: 16 columns of n numbers each.
static void columns_read(const HoloCudaPanels *p, const void *panel, int64_t from, int64_t n, float out[][CHUNK])
{
    const HoloKernelTable *table = holo_kernels(0);
    float                  wide[HOLO_PANEL];
    for (int64_t i = 0; i < n; i++) {
        const float *place = (const float *)panel + (from + i) * HOLO_PANEL;
        if (p->type) {
            const uint16_t *few = (const uint16_t *)panel + (from + i) * HOLO_PANEL;
            (p->type == HOLO_WEIGHTS_F16 ? table->widen_f16 : table->widen_bf16)(HOLO_PANEL, few, wide);
            place = wide;
        }
        for (int c = 0; c < HOLO_PANEL; c++) out[c][i] = place[c];
    }
}

// Writes n numbers of a row, which begin with number `at`.
static void numbers_write(const HoloCudaPanels *p, void *row, int64_t at, float *x, int64_t n)
{
    const HoloKernelTable *table = holo_kernels(0);
    if (p->store == HOLO_CUDA_F16) {
        table->narrow_f16(n, x, (uint16_t *)row + at);
    } else if (p->store == HOLO_CUDA_BF16) {
        table->narrow_bf16(n, x, (uint16_t *)row + at);
    } else {
        if (p->is_tf32) round_tf32(x, n);
        memcpy((float *)row + at, x, (size_t)n * sizeof *x);
    }
}

void holo_cuda_panels_turn(const HoloCudaPanels *p, const void *panels, int64_t first, int64_t count, void *out)
{
    float   columns[HOLO_PANEL][CHUNK];
    size_t  row_bytes = (size_t)p->row * element(p->store), wide = p->type ? 2 : 4;
    int64_t most = p->channels == p->real ? p->depth : p->real; // numbers that lie together in a row, too
    memset(out, 0, (size_t)count * row_bytes);
    for (int64_t r = 0; r < count; r += HOLO_PANEL) {
        const char *panel = (const char *)panels + (size_t)((first + r) / HOLO_PANEL * p->depth * HOLO_PANEL) * wide;
        int64_t     here  = count - r < HOLO_PANEL ? count - r : HOLO_PANEL;
        for (int64_t from = 0, n; from < p->depth; from += n) {
            int64_t left = most - from % most, at = from / p->real * p->channels + from % p->real;
            n = left < CHUNK ? left : CHUNK;
            columns_read(p, panel, from, n, columns);
            for (int64_t c = 0; c < here; c++)
                numbers_write(p, (char *)out + (size_t)(r + c) * row_bytes, at, columns[c], n);
        }
    }
}
