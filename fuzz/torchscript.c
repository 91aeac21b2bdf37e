// torchscript.c - fuzzes the import of scripts: a zip file with the code that the fuzzer makes, and one attribute.
//
// The input is the code; the object is fixed. So the fuzzer need not find out what a zip file is.
#include "zip_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Net: training is False, k is 2.
static const char object[] = "\x80\2c__torch__\nNet\n)\x81}(X\10\0\0\0training\x89X\1\0\0\0kK\2ub.";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    File f = {.bytes = malloc(size + 4096)};
    if (!f.bytes || size > 1 << 20) {
        free(f.bytes);
        return 0;
    }
    add(&f, "m/code/__torch__.py", data, size);
    add(&f, "m/data.pkl", object, sizeof object - 1);
    add(&f, "m/constants.pkl", "\x80\2).", 4);
    import(&f);
    return 0;
}
