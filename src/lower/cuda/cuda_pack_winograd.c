// cuda_pack_winograd.c - which convolutions a GPU computes by tiles of 2x2 pixels, and their weights: each filter transformed to
// 16 numbers for each channel, [16][filters][channels].
#include "devices/cuda/cuda_winograd.h"
#include "graph/facts.h"
#include "lower/cuda/cuda_target.h"

enum { PLACES = HOLO_CUDA_WINOGRAD_PLACES, SEEN = 4 };

// ---- the choice

// Only class fused: others round what they multiply, or add in one order.
bool holo_cuda_winograd_fits(const HoloNode *node, const HoloLowering *lowering, HoloCudaWinograd *out)
{
    enum { OPERANDS = 3 }; // image, filters, bias
    HoloCudaStepParams params = holo_cuda_params(lowering);
    HoloCall           call   = holo_node_call(node);
    const HoloTensor  *in[OPERANDS];
    HoloTensor         y = node->out[0]->type, *made[] = {&y};
    for (int i = 0; i < OPERANDS; i++) in[i] = holo_node_in(node, i) ? &holo_node_in(node, i)->type : NULL;
    call.in = in, call.in_count = OPERANDS;
    call.out = made, call.out_count = 1;
    return lowering->kernel == HOLO_CUDA_STEP_CONV && lowering->pack_input == 1 && params.store == HOLO_CUDA_F32 &&
           params.numeric == HOLO_CUDA_NUMERIC_FUSED && holo_cuda_winograd_find(&call, out) &&
           out->channels * (int64_t)sizeof(float) <= HOLO_PACK_PART;
}

void holo_cuda_winograd_take(HoloLowering *lowering, int64_t part)
{
    HoloCudaStepParams params = holo_cuda_params(lowering);
    lowering->kernel          = HOLO_CUDA_STEP_WINOGRAD;
    params.part               = (uint32_t)part;
    holo_cuda_set_params(lowering, &params);
}

void holo_cuda_winograd_leave(HoloLowering *lowering)
{
    if (lowering->kernel != HOLO_CUDA_STEP_WINOGRAD) return;
    holo_cuda_winograd_take(lowering, 0);
    lowering->kernel = HOLO_CUDA_STEP_CONV;
}

void holo_cuda_winograd_choose(const HoloNode *node, HoloLowering *lowering)
{
    HoloCudaWinograd w;
    if (!holo_cuda_winograd_fits(node, lowering, &w) || !holo_cuda_winograd_pays(&w)) return;
    holo_cuda_winograd_take(lowering, holo_cuda_winograd_part(&w));
}

// ---- the weights

// G of G g G', see winograd.cu.
static const double transform[SEEN][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};

static int64_t part_rows(const HoloTensor *w)
{
    return HOLO_PACK_PART / (w->dim[1] * (int64_t)sizeof(float));
}

HoloPacking holo_cuda_packing_winograd(const HoloTensor *w)
{
    int64_t rows = PLACES * w->dim[0], each = part_rows(w);
    return (HoloPacking){.bytes      = (uint64_t)holo_cuda_packed_size(rows, w->dim[1], HOLO_CUDA_F32),
                         .part_count = (rows + each - 1) / each};
}

// Place `place` of a transformed filter [3][3].
static float place_of(const float *filter, int64_t place)
{
    double sum = 0;
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++)
            sum += transform[place / SEEN][y] * transform[place % SEEN][x] * (double)filter[y * 3 + x];
    return (float)sum;
}

size_t holo_cuda_pack_winograd(const HoloTensor *w, int64_t part, void *out)
{
    int64_t filters = w->dim[0], channels = w->dim[1], first = part * part_rows(w), rows = PLACES * filters - first;
    float  *to = out;
    if (rows > part_rows(w)) rows = part_rows(w);
    for (int64_t r = first; r < first + rows; r++) {
        const float *from = (const float *)w->data + r % filters * channels * 9;
        for (int64_t c = 0; c < channels; c++) *to++ = place_of(from + c * 9, r / filters);
    }
    return (size_t)(rows * channels) * sizeof *to;
}

bool holo_cuda_note(const HoloLowering *lowering, const HoloTensor *w, char text[HOLO_NOTE_TEXT], HoloNote *out)
{
    if (lowering->kernel != HOLO_CUDA_STEP_WINOGRAD) return false;
    holo_note_text(
        text,
        "they are stored transformed, 16 numbers for 9: the GPU computes tiles of 2x2 pixels with 2.25 times "
        "fewer multiplications, %u tiles at a time",
        holo_cuda_params(lowering).part);
    (void)w;
    *out =
        (HoloNote){.pass = "tiles", .what = "filters of a 3x3 convolution", .why = text, .verdict = HOLO_VERDICT_MADE};
    return true;
}
