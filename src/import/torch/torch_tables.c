// torch_tables.c - the tables of ATen operators.
#include "import/torch/torch.h"

extern const HoloTorchOp holo_torch_pointwise[], holo_torch_unary[], holo_torch_views[], holo_torch_shapes[],
    holo_torch_creates[], holo_torch_reduces[], holo_torch_indexes[], holo_torch_convs[], holo_torch_norms[],
    holo_torch_linears[], holo_torch_resizes[], holo_torch_rnns[], holo_torch_quants[], holo_torch_searches[],
    holo_torch_complexes[], holo_torch_ffts[], holo_torch_quantizeds[];

const HoloTorchOp *const holo_torch_tables[] = {
    holo_torch_pointwise, holo_torch_unary,      holo_torch_views,
    holo_torch_shapes,    holo_torch_creates,    holo_torch_reduces,
    holo_torch_indexes,   holo_torch_convs,      holo_torch_norms,
    holo_torch_linears,   holo_torch_resizes,    holo_torch_rnns,
    holo_torch_quants,    holo_torch_searches,   holo_torch_complexes,
    holo_torch_ffts,      holo_torch_quantizeds, NULL,
};
