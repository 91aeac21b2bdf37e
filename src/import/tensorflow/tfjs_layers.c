// tfjs_layers.c - layers models of TensorFlow.js: the configuration of a Keras model, with weights by the names of layers.
#include "import/keras/keras.h"
#include "import/tensorflow/tfjs.h"

typedef struct LayersFile {
    HoloTfjs     *js;
    HoloKerasPool pool;
} LayersFile;

static HoloStatus find_weight(HoloKeras *k, const HoloKerasPlace *place, const char *name, int index, HoloTensor *out,
                              bool *found)
{
    LayersFile *file = k->format;
    int         at   = holo_keras_find(&file->pool, place, name);
    (void)index;
    if (at < 0 && place->outer)
        at = holo_keras_find(&file->pool, place->outer, name); // a layer around it has its weights
    *found = at >= 0;
    return *found ? holo_tfjs_weight(file->js, &file->js->weight[at], out) : HOLO_OK;
}

HoloStatus holo_tfjs_layers(HoloTfjs *js)
{
    LayersFile    file     = {.js = js};
    HoloKeras     k        = {.import = js->import, .is_js = true, .weight = find_weight, .format = &file};
    const json_t *topology = json_object_get(js->json, "modelTopology"),
                 *model    = json_object_get(topology, "model_config");
    file.pool.name         = HOLO_NEW(js->import->arena, HoloString, js->weight_count + 1);
    if (!file.pool.name) return holo_fail_memory(js->import->error);
    for (int i = 0; i < js->weight_count; i++) file.pool.name[i] = js->weight[i].name;
    file.pool.count = js->weight_count;
    if (!json_is_object(model)) model = topology;
    if (!json_object_get(model, "config"))
        return holo_fail(js->import->error, HOLO_BAD_MODEL, "model.json has neither a graph nor layers in it");
    return holo_keras_build(&k, model);
}
