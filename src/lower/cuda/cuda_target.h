// cuda_target.h - for the files of this folder: the target cuda in one of its numeric classes.
#ifndef HOLO_LOWER_CUDA_CUDA_TARGET_H
#define HOLO_LOWER_CUDA_CUDA_TARGET_H

#include "devices/cuda/cuda_kernel.h"
#include "devices/cuda/cuda_winograd.h"
#include "lower/lower.h"

typedef struct HoloCudaClass {
    const char *name;           // "fused"
    uint8_t     store, numeric; // see HoloCudaStepParams
} HoloCudaClass;

// How a node runs. False: it does not.
bool holo_cuda_choose(const HoloCudaClass *class, const HoloNode *node, HoloLowering *out);
// How a value, which is no constant, crosses.
HoloLowering holo_cuda_transfer_choose(const HoloCudaClass *class, const HoloNode *node);
// The parameters in a choice.
HoloCudaStepParams holo_cuda_params(const HoloLowering *lowering);
void               holo_cuda_set_params(HoloLowering *lowering, const HoloCudaStepParams *params);

// What the end of a product's kernel does, from its tail. False: the tail must run by itself.
bool holo_cuda_end(const HoloNode *node, const HoloProgram *tail, HoloCudaStepParams *params);

// What steps do along, and by which kind of step: see cuda_merge.c.
bool     holo_cuda_merge(HoloGraph *graph, const int *target, int number);
uint32_t holo_cuda_merged(const HoloCall *call, uint32_t kernel);

// Packed weights.
HoloPacking holo_cuda_packing(const HoloLowering *lowering, const HoloTensor *w);
size_t      holo_cuda_pack(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out);
void        holo_cuda_unpack(HoloLowering *lowering);
bool        holo_cuda_share_weights(HoloLowering *lowering, const HoloLowering *host, const HoloTensor *w);
// Can input 1 of a product, or of a convolution with channels last, be packed?
bool holo_cuda_packs(const HoloNode *node, HoloLowering *lowering);

// The same for weights of few bits (cuda_blocks.c): do they fit, with the type as the layout in `params`; what a choice must say of
// them; and their packed form.
bool        holo_cuda_blocks_fit(const HoloNode *node, const HoloCall *call, HoloCudaStepParams *params);
void        holo_cuda_blocks_choose(HoloLowering *lowering);
HoloPacking holo_cuda_packing_blocks(const HoloLowering *lowering, const HoloTensor *w);
size_t      holo_cuda_pack_blocks(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out);

// The same for products and convolutions of bytes (cuda_integers.c); which nodes of quantized models that kind of step runs; and
// whether a batch is one that kernels have.
bool        holo_cuda_packs_bytes(const HoloNode *node, HoloLowering *lowering);
HoloPacking holo_cuda_packing_bytes(const HoloLowering *lowering, const HoloTensor *w);
size_t      holo_cuda_pack_bytes(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out);
bool        holo_cuda_integers_fit(uint32_t kernel, const HoloNode *node, const HoloCall *call);
bool        holo_cuda_batch_fits(const HoloTensor *a, const HoloTensor *b);

// Convolutions by tiles of 2x2 pixels (cuda_pack_winograd.c). `choose` takes that way for a choice that packs its weights if it is
// clearly faster; `fits` says whether it could; `take` takes it, with so many tiles at a time; `leave` goes back.
void        holo_cuda_winograd_choose(const HoloNode *node, HoloLowering *lowering);
bool        holo_cuda_winograd_fits(const HoloNode *node, const HoloLowering *lowering, HoloCudaWinograd *out);
void        holo_cuda_winograd_take(HoloLowering *lowering, int64_t part);
void        holo_cuda_winograd_leave(HoloLowering *lowering);
HoloPacking holo_cuda_packing_winograd(const HoloTensor *w);
size_t      holo_cuda_pack_winograd(const HoloTensor *w, int64_t part, void *out);
bool        holo_cuda_note(const HoloLowering *lowering, const HoloTensor *w, char text[HOLO_NOTE_TEXT], HoloNote *out);

// The program of a node that runs by one, or of the tail that does; nothing for others. See HoloTarget.
HoloStatus holo_cuda_node_program(const HoloNode *node, const HoloLowering *lowering, HoloArena *arena, HoloBytes *out,
                                  HoloError *error);
// Could the node, which is pointwise, run by a program?
bool holo_cuda_has_program(const HoloNode *node);

// A value before it was brought to the device.
static inline const HoloValue *holo_cuda_origin(const HoloValue *v)
{
    return v && v->producer && HOLO_IS(v->producer, HOLOGRAM_Transfer) ? v->producer->in[0] : v;
}

// ---- code

HoloStatus holo_cuda_code(const HoloTargetUse *use, HoloTargetCode *out, int *out_count, HoloError *error);

// Device code that was built into this program by `make cuda`: machine code and PTX of src/devices/cuda/code.
typedef struct HoloCudaBuilt {
    const char          *module, *kind; // a module of NULL ends the table
    const unsigned char *begin, *end;
} HoloCudaBuilt;
extern const HoloCudaBuilt holo_cuda_built[];

#endif
