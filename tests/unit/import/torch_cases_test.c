// torch_cases_test.c - operators of PyTorch one by one: small TorchScript models with PyTorch's own answers, computed by
// the reference. tests/torch/make_cases.py made tests/torch/cases.json.
#include "import/import.h"
#include "ops/tensor.h"
#include "support/models.h"
#include "support/torch_archive.h"

#include <math.h>
#include <string.h>

enum { PORTS_MAX = 64 };

// ---- tensors

static const struct {
    const char *name;
    HoloDtype   dtype;
} types[] = {{"float32", HOLO_F32}, {"float64", HOLO_F64}, {"int64", HOLO_I64}, {"int32", HOLO_I32},
             {"int16", HOLO_I16},   {"int8", HOLO_I8},     {"uint8", HOLO_U8},  {"bool", HOLO_BOOL}};

static double real_of(const json_t *value)
{
    return json_is_string(value) ? strtod(json_string_value(value), NULL) : json_number_value(value);
}

static HoloTensor tensor_of(HoloArena *arena, const json_t *value)
{
    HoloTensor    t     = {0};
    const json_t *shape = json_object_get(value, "shape"), *data = json_object_get(value, "data");
    for (int i = 0; i < HOLO_COUNT(types); i++)
        if (!strcmp(types[i].name, json_string_value(json_object_get(value, "type"))))
            t.dtype = (uint8_t)types[i].dtype;
    assert_int_not_equal(t.dtype, HOLO_NONE);
    t.rank = (int8_t)json_array_size(shape);
    for (int i = 0; i < t.rank; i++) t.dim[i] = json_integer_value(json_array_get(shape, (size_t)i));
    t.data = holo_arena_take(arena, holo_tensor_bytes(&t) + 1);
    for (size_t i = 0; i < json_array_size(data); i++) {
        if (holo_dtype_class((HoloDtype)t.dtype) == HOLO_CLASS_FLOAT)
            holo_put_f(&t, (int64_t)i, real_of(json_array_get(data, i)));
        else
            holo_put_i(&t, (int64_t)i, json_integer_value(json_array_get(data, i)));
    }
    return t;
}

// The worst difference in parts of the largest number; infinity if something else is wrong.
static double difference(const HoloTensor *have, const HoloTensor *want)
{
    double largest = 0, worst = 0;
    if (have->dtype != want->dtype || have->rank != want->rank) return INFINITY;
    for (int d = 0; d < want->rank; d++)
        if (have->dim[d] != want->dim[d]) return INFINITY;
    for (int64_t i = 0; i < holo_tensor_count(want); i++) {
        double a = holo_get_f(want, i), b = holo_get_f(have, i);
        if (isfinite(a) && fabs(a) > largest) largest = fabs(a);
        if (isfinite(a) && isfinite(b) && fabs(a - b) > worst) worst = fabs(a - b);
        if (isfinite(a) != isfinite(b) || isnan(a) != isnan(b) || (isinf(a) && a != b)) return INFINITY;
    }
    return worst / (largest > 0 ? largest : 1);
}

// ---- a case

static bool run_case(HoloArena *arena, const json_t *test, HoloError *error)
{
    HoloModelSource   source;
    HoloTensor        in[PORTS_MAX], out[PORTS_MAX] = {0};
    const HoloTensor *given[PORTS_MAX];
    const json_t     *inputs = json_object_get(test, "inputs"), *outputs = json_object_get(test, "outputs");
    Bytes             file = archive_of(json_object_get(test, "entries"));
    void             *kept = holo_arena_take(arena, file.size);
    memcpy(kept, file.data, file.size);
    size_t size = file.size;
    free(file.data);
    if (holo_import_memory(arena, kept, size, &source, error)) return false;
    HoloGraph *graph = source.graph;
    bool       ok    = graph->input_count == (int)json_array_size(inputs) &&
              graph->output_count == (int)json_array_size(outputs) && graph->input_count <= PORTS_MAX &&
              graph->output_count <= PORTS_MAX;
    if (!ok)
        snprintf(error->text, sizeof error->text, "%d inputs, %d outputs", graph->input_count, graph->output_count);
    for (int i = 0; ok && i < graph->input_count; i++) {
        in[i]    = tensor_of(arena, json_array_get(inputs, (size_t)i));
        given[i] = &in[i];
    }
    ok = ok && !holo_graph_infer(graph, error) && !holo_graph_check_ops(graph, error) &&
         !holo_graph_eval(graph, given, out, arena, NULL, error);
    for (int i = 0; ok && i < graph->output_count; i++) {
        HoloTensor want = tensor_of(arena, json_array_get(outputs, (size_t)i));
        double     off  = difference(&out[i], &want);
        if (off <= 1e-4) continue;
        ok = false;
        snprintf(error->text, sizeof error->text, "output %d differs by %g", i, off);
    }
    holo_import_close(&source);
    return ok;
}

static void all_cases(void **state)
{
    json_error_t why;
    json_t      *cases  = json_load_file("tests/torch/cases.json", 0, &why);
    int          failed = 0;
    (void)state;
    assert_non_null(cases);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        HoloArena     arena = {0};
        HoloError     error = {0};
        const json_t *test  = json_array_get(cases, i);
        if (!run_case(&arena, test, &error)) {
            print_error("%s: %s\n", json_string_value(json_object_get(test, "name")), error.text);
            failed++;
        }
        holo_arena_deinit(&arena);
    }
    assert_true(json_array_size(cases) > 300);
    json_decref(cases);
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
