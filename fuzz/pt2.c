// pt2.c - fuzzes the import of programs of torch.export: a zip file with the program that the fuzzer makes, and weights.
//
// The input is the JSON of the program; the weights' config is fixed. So the fuzzer need not find out what a zip file is.
#include "zip_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char config[] =
    "{\"config\":{\"w.own\":{\"path_name\":\"weight_0\",\"use_pickle\":false,\"tensor_meta\":{\"dtype\":7,\"sizes\":[{\"as_int\":4},"
    "{\"as_int\":3}],\"strides\":[{\"as_int\":3},{\"as_int\":1}],\"storage_offset\":{\"as_int\":0}}}}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const float weights[12] = {1, 2, 3};
    File               f           = {.bytes = malloc(size + 4096)};
    if (!f.bytes || size > 1 << 20) {
        free(f.bytes);
        return 0;
    }
    add(&f, "m/models/model.json", data, size);
    add(&f, "m/data/weights/weight_0", weights, sizeof weights);
    add(&f, "m/data/weights/model_weights_config.json", config, sizeof config - 1);
    add(&f, "m/archive_format", "pt2", 3);
    import(&f);
    return 0;
}
