// hdf5.c - fuzzes the reader of HDF5 files: the whole tree, strings of attributes, contents of data sets.
#include "import/wire/hdf5.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned touch(HoloString text)
{
    unsigned sum = 0;
    for (size_t i = 0; i < text.size; i++) sum += (unsigned char)text.data[i];
    return sum;
}

static unsigned visit(HoloHdf5 *file, const HoloHdf5Node *node)
{
    unsigned   sum = touch(node->name);
    HoloTensor t;
    for (int i = 0; i < node->attr_count; i++) {
        const HoloHdf5Attr *attr  = &node->attr[i];
        HoloString         *texts = attr->count < 10000 ? calloc((size_t)attr->count + 1, sizeof *texts) : NULL;
        sum += touch(attr->name) + touch(attr->data);
        if (texts && !holo_hdf5_strings(file, attr, texts))
            for (int64_t k = 0; k < attr->count; k++) sum += touch(texts[k]);
        free(texts);
    }
    if (!holo_hdf5_tensor(file, node, &t) && holo_tensor_count(&t) > 0)
        sum += touch((HoloString){t.data, holo_tensor_bytes(&t)});
    for (int i = 0; i < node->child_count; i++) sum += visit(file, &node->child[i]);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HoloArena         arena = {0};
    HoloError         error = {0};
    HoloHdf5          file;
    volatile unsigned sum    = 0;
    HoloStatus        status = holo_hdf5_open(&arena, data, size, &file, &error);
    if (!status) sum += visit(&file, &file.root);
    if (status && !error.text[0]) abort(); // a failure comes with words
    holo_arena_deinit(&arena);
    return 0;
}
