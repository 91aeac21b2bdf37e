// tflite_custom.c - the table of custom operators: those of sounds, of the vision tools and of MediaPipe.
#include "import/import_sound.h"
#include "import/tensorflow/tf_single.h"
#include "import/tflite/tflite.h"
#include "import/tflite/tflite_emit.h"
#include "import/wire/flexbuffer.h"

#include <string.h>

double holo_tf_option(const HoloTfOp *op, const char *key, double fallback)
{
    return holo_flex_number(holo_flat_list_bytes(op->custom), op->custom.count, key, fallback);
}

// A whole number of it; 0 if it is none that could be meant.
static int64_t whole(const HoloTfOp *op, const char *key, double fallback)
{
    double number = holo_tf_option(op, key, fallback);
    return number >= 0 && number < 1e9 ? (int64_t)number : 0;
}

static void spectrogram(HoloTfOp *op)
{
    holo_tf_give(op, 0,
                 holo_sound_spectrogram(op->e, holo_tf_in(op, 0), whole(op, "window_size", 0), whole(op, "stride", 0),
                                        holo_tf_option(op, "magnitude_squared", 0) != 0));
}

static void mfcc(HoloTfOp *op)
{
    HoloSoundMel mel = {holo_tf_option(op, "lower_frequency_limit", 20),
                        holo_tf_option(op, "upper_frequency_limit", 4000), whole(op, "filterbank_channel_count", 40),
                        whole(op, "dct_coefficient_count", 13)};
    HoloValue   *x   = holo_tf_in(op, 0);
    holo_tf_give(op, 0, holo_sound_mfcc(op->e, x, holo_tf_in(op, 1), &mel));
}

// An operator of TensorFlow itself: its options are its name and a NodeDef.
static void flex(HoloTfOp *op)
{
    enum { PORTS_MAX = 256 };
    HoloValue *in[PORTS_MAX], *out[PORTS_MAX];
    HoloString node;
    int        in_count = (int)op->in.count, out_count = (int)op->out.count;
    if (op->in.count > PORTS_MAX || op->out.count > PORTS_MAX)
        return (void)holo_tf_fail(op, "it has too many inputs or outputs");
    if (!holo_flex_text(holo_flat_list_bytes(op->custom), op->custom.count, 1, &node))
        return (void)holo_tf_fail(op, "its options are no node of TensorFlow");
    for (int i = 0; i < in_count; i++)
        if (!(in[i] = holo_tf_real(op, i))) return;
    int given = holo_flow_single(op->e, node, in, in_count, out, out_count);
    if (op->e->status) return;
    if (given < out_count) return (void)holo_tf_fail(op, "it gives %d values, not %d", given, out_count);
    for (int i = 0; i < out_count; i++) holo_tf_give(op, i, out[i]);
}

static const HoloTfRow flex_row = {32, "Flex", 0, flex, NULL, 0, 1};

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
    {32, "Erf", 0, holo_tf_unary, "Erf", 1, 1},
    {32, "Mish", 0, holo_tf_unary, "Mish", 1, 1},
    {32, "AudioSpectrogram", 0, spectrogram, NULL, 1, 1},
    {32, "Mfcc", 0, mfcc, NULL, 2, 1},
    {32, "ComplexAbs", 0, holo_tf_complex_abs, NULL, 1, 1},
};

const HoloTfRow *holo_tf_custom(HoloString name)
{
    for (int i = 0; i < HOLO_COUNT(rows); i++)
        if (strlen(rows[i].name) == name.size && !memcmp(rows[i].name, name.data, name.size)) return &rows[i];
    bool is_flex = name.size > 4 && !memcmp(name.data, "Flex", 4);
    return is_flex && holo_flow_is_known((HoloString){name.data + 4, name.size - 4}) ? &flex_row : NULL;
}
