// columns_deform.h - a deformed convolution as rows of samples and a product of matrices.
#ifndef HOLO_PASSES_LAYOUT_COLUMNS_DEFORM_H
#define HOLO_PASSES_LAYOUT_COLUMNS_DEFORM_H

#include "passes/rewrite.h"

// *out: the replacement of a DeformConv of f32 images; NULL: the node is something else, or has dynamic sizes other than
// the number of images. False: no memory.
bool holo_columns_deform(HoloRewrite *rewrite, const HoloNode *node, HoloValue **out);

#endif
