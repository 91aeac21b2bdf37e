// import_window.h - convolutions and pooling for formats whose channels come last.
//
// ONNX's operators want channels behind the batch. So each is put between two Transposes, and the layout passes remove
// what was put in: what is left computes with channels last.
#ifndef HOLO_IMPORT_IMPORT_WINDOW_H
#define HOLO_IMPORT_IMPORT_WINDOW_H

#include "import/emit.h"

enum { HOLO_WINDOW_MAX = 3 }; // dimensions of a window

typedef enum HoloPadding {
    HOLO_PADDING_VALID,
    HOLO_PADDING_SAME,     // as many outputs as inputs, divided by the stride; the odd element is at the end
    HOLO_PADDING_EXPLICIT, // `pad`
} HoloPadding;

typedef struct HoloImportWindow {
    int         rank;     // dimensions of the window: 1 to 3
    bool        is_first; // channels are behind the batch already
    int64_t     size[HOLO_WINDOW_MAX], stride[HOLO_WINDOW_MAX], dilation[HOLO_WINDOW_MAX];
    HoloPadding padding;
    int64_t     pad[2 * HOLO_WINDOW_MAX]; // at the beginnings, then at the ends
    int64_t     groups;
} HoloImportWindow;

// A window of ones, of so many dimensions.
HoloImportWindow holo_window(int rank);

// Moves the channels behind the batch, and back again.
HoloValue *holo_window_open(HoloEmit *e, const HoloImportWindow *w, HoloValue *x);
HoloValue *holo_window_close(HoloEmit *e, const HoloImportWindow *w, HoloValue *y);

// A convolution. The filter has the window's sizes, then inputs of a group, then outputs. The bias may be NULL.
HoloValue *holo_window_conv(HoloEmit *e, const HoloImportWindow *w, HoloValue *x, HoloValue *filter, HoloValue *bias);
// Each channel by itself. The filter has the window's sizes, then channels, then outputs of each channel.
HoloValue *holo_window_depthwise(HoloEmit *e, const HoloImportWindow *w, HoloValue *x, HoloValue *filter,
                                 HoloValue *bias);
// The transposed one. The filter has the window's sizes, then outputs of a group, then inputs. `sizes` are those of the output in
// the window's dimensions; NULL: as the padding says.
HoloValue *holo_window_deconv(HoloEmit *e, const HoloImportWindow *w, HoloValue *x, HoloValue *filter, HoloValue *bias,
                              const HoloDim *sizes);
// MaxPool or AveragePool.
HoloValue *holo_window_pool(HoloEmit *e, const HoloImportWindow *w, const char *op, HoloValue *x);

#endif
