// tflite_custom.c - the table of custom operators: those of the vision tools and of MediaPipe.
#include "import/tflite/tflite.h"
#include "import/tflite/tflite_emit.h"

#include <string.h>

static const HoloTfRow rows[] = {
    {32, "TFLite_Detection_PostProcess", 0, holo_tf_detection, NULL, 3, 4},
    {32, "Convolution2DTransposeBias", 0, holo_tf_mediapipe_deconv, NULL, 2, 1},
    {32, "MaxPoolingWithArgmax2D", 0, holo_tf_max_pool_places, NULL, 1, 1},
    {32, "MaxUnpooling2D", 0, holo_tf_max_unpool, NULL, 2, 1},
    {32, "TransformTensorBilinear", 0, holo_tf_transform_bilinear, NULL, 2, 1},
    {32, "TransformTensor", 0, holo_tf_transform_bilinear, NULL, 2, 1},
    {32, "TransformLandmarks", 0, holo_tf_transform_landmarks, NULL, 2, 1},
    {32, "Landmarks2TransformMatrix", 0, holo_tf_landmarks_matrix, NULL, 1, 1},
    {32, "Resampler", 0, holo_tf_resampler, NULL, 2, 1},
    {32, "RFFT2D", 0, holo_tf_rfft2d, NULL, 2, 1},
    {32, "FlexErf", 0, holo_tf_unary, "Erf", 1, 1},
    {32, "FlexSoftplus", 0, holo_tf_unary, "Softplus", 1, 1},
    {32, "FlexSelu", 0, holo_tf_unary, "Selu", 1, 1},
    {32, "FlexTan", 0, holo_tf_unary, "Tan", 1, 1},
    {32, "FlexAtan", 0, holo_tf_unary, "Atan", 1, 1},
    {32, "Erf", 0, holo_tf_unary, "Erf", 1, 1},
    {32, "Mish", 0, holo_tf_unary, "Mish", 1, 1},
    {32, "ComplexAbs", 0, holo_tf_complex_abs, NULL, 1, 1},
};

const HoloTfRow *holo_tf_custom(HoloString name)
{
    for (int i = 0; i < HOLO_COUNT(rows); i++)
        if (strlen(rows[i].name) == name.size && !memcmp(rows[i].name, name.data, name.size)) return &rows[i];
    return NULL;
}
