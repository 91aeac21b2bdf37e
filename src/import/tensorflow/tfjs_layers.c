#include "import/tensorflow/tfjs.h"
HoloStatus holo_tfjs_layers(HoloTfjs *js)
{
    return holo_fail(js->import->error, HOLO_UNSUPPORTED, "layers models are not read yet");
}
