// tflite_text.c - operators of models of text: skip grams, and projections by hashing.
#include "import/tflite/tflite.h"
#include "import/tflite/tflite_emit.h"

void holo_tf_skip_gram(HoloTfOp *op)
{
    HoloValue *x = holo_tf_in(op, 0);
    holo_tf_give(op, 0,
                 x ? holo_emit(op->e, "hologram::SkipGrams", HOLO_IN(x),
                               HOLO_ATTRS(holo_with_int("size", holo_flat_i32(op->options, SKIP_GRAM_SIZE, 0)),
                                          holo_with_int("skip", holo_flat_i32(op->options, SKIP_GRAM_MAX, 0)),
                                          holo_with_int("all", holo_flat_u8(op->options, SKIP_GRAM_ALL, 0) != 0)))
                   : NULL);
}

void holo_tf_lsh_projection(HoloTfOp *op) // seeds, x, and perhaps weights
{
    enum { SPARSE = 1, DENSE };
    int64_t    type  = holo_flat_i8(op->options, LSH_TYPE, 0);
    HoloValue *seeds = holo_tf_in(op, 0), *x = holo_tf_in(op, 1),
              *weight = holo_tf_has(op, 2) ? holo_tf_in(op, 2) : NULL;
    if (!seeds || !x) return;
    if (type != SPARSE && type != DENSE) return (void)holo_tf_fail(op, "its type is not known");
    holo_tf_give(op, 0,
                 holo_emit(op->e, "hologram::HashProjection", HOLO_IN(seeds, x, weight),
                           HOLO_ATTRS(holo_with_int("dense", type == DENSE))));
}
