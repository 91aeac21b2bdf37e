// models.h - small models and the few calls that most tests of the whole path begin with.
//
// Whatever should work and does not ends the test with the message of the library.
#ifndef HOLO_TESTS_MODELS_H
#define HOLO_TESTS_MODELS_H

#include "hologram_compiler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

// ---- files

// A path in a folder of this program alone, which is removed at its end. The text lives as long.
const char *temp_path(const char *name);
const char *temp_folder(void);
// How many files are in a folder.
int  folder_count(const char *path);
void file_write(const char *path, const void *data, size_t size);
// The bytes of a file, 64-byte aligned, for free().
uint8_t *file_read(const char *path, size_t *out_size);

// ---- models, as .onnx files in the temporary folder; each returns the path

const char *model_conv(void);    // f32[1,3,12,12] x -> f32[1,10] y: Conv, Relu, MaxPool, Conv, Flatten, Gemm, Softmax
const char *model_mlp(void);     // f32[4,40] x -> f32[4,7] y: MatMul, Add, Relu, Gemm, Tanh
const char *model_dynamic(void); // f32[N,6] x, f32[N,6] z -> f32[N,3] y, f32[2*N,6] both
const char *model_loop(int64_t rounds); // f32[8] x -> f32[8] y: a Loop of so many rounds
const char *model_tiny(void);           // f32[2,3] x -> f32[2,3] y: Add of a constant, Relu
const char *model_data(void);           // f32[6] x -> i64[1,?] places, f32[?] dense: sizes that depend on values

// ---- the whole path

#define EXPECT_OK(call)                                                                  \
    do {                                                                                 \
        HoloError  error  = {0};                                                         \
        HoloStatus status = (call);                                                      \
        if (status) fail_msg("%s: %s: %s", #call, holo_status_text(status), error.text); \
    } while (0)

// The call, which uses `error`, fails with this status and a message in which `words` occurs.
#define EXPECT_FAIL(call, expected, words)                          \
    do {                                                            \
        HoloError  error  = {0};                                    \
        HoloStatus status = (call);                                 \
        expect_message(#call, status, expected, error.text, words); \
    } while (0)
void expect_message(const char *call, HoloStatus status, HoloStatus expected, const char *text, const char *words);

HoloModel *compiled(const char *path, HoloNumeric numeric);
struct HoloGraph;
struct HoloLowered;
// Plans a graph, whose types are inferred, and opens its archive. *out_kernels: how many steps run a fast kernel.
HOLO_MUST HoloStatus model_of(const struct HoloGraph *graph, HoloNumeric numeric, HoloModel **out,
                              uint32_t *out_kernels, HoloError *error);
// The same of one that is lowered.
HOLO_MUST HoloStatus model_of_lowered(const struct HoloGraph *graph, const struct HoloLowered *lowered,
                                      HoloNumeric numeric, HoloModel **out, uint32_t *out_kernels, HoloError *error);
// An archive of the model at `path`, beside it; returns its path.
const char *archived(const char *path, HoloNumeric numeric, int threads);

// An archive whose entries are the graphs of some texts, the first without a name, the second called "second"; returns its
// path. *out_deduplicated: how many constants were there already; NULL: that is not asked for.
const char *text_archive(const char *name, const char *const *texts, int count, uint32_t *out_deduplicated);

// A tensor with memory for free(), filled from a seed: floats in [-1, 1), the rest 1. Sizes left open become `open`.
HoloTensor made(const HoloTensor *type, uint64_t seed, int64_t open);

// The bytes of all outputs of one run with made inputs, one after the other, for free().
uint8_t *answer(const HoloModel *model, HoloPool *pool, uint64_t seed, int64_t open, size_t *out_size);
void     expect_same_bytes(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size);

#endif
