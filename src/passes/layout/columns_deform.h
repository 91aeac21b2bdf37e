// columns_deform.h - a deformed convolution as rows of samples and a product of matrices.
#ifndef HOLO_PASSES_LAYOUT_COLUMNS_DEFORM_H
#define HOLO_PASSES_LAYOUT_COLUMNS_DEFORM_H

#include "passes/rewrite.h"

// *out: what stands in for a DeformConv of images of f32; NULL: the node is none, or has open sizes beside the number
// of images. False: no memory.
bool holo_columns_deform(HoloRewrite *rewrite, const HoloNode *node, HoloValue **out);

#endif
