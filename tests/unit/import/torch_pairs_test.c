// torch_pairs_test.c - operators of PyTorch beside others that give the same (tests/torch/pairs.txt), and which operators
// of the tables have no case at all.
#include "import/import.h"
#include "import/torch/torch.h"
#include "ops/tensor.h"
#include "support/torch_archive.h"

#include <ctype.h>
#include <math.h>

// ---- inputs that a line may name

typedef struct Input {
    const char *name, *storage;
    HoloDtype   dtype;
    int         rank;
    int64_t     dim[5];
    double (*number)(int64_t i);
} Input;

static double wave(int64_t i)
{
    return 1.5 * sin(0.7 + 1.3 * (double)i + 0.11 * (double)(i * i));
}

static double other(int64_t i)
{
    return 1.2 * cos(0.3 + 0.9 * (double)i + 0.07 * (double)(i * i));
}

static double above_0(int64_t i)
{
    return 0.3 + fabs(wave(i));
}

static double symmetric(int64_t i)
{
    static const double s[] = {3, 0.5, -0.2, 0.5, 2, 0.7, -0.2, 0.7, 1.5};
    return s[i];
}

static double small(int64_t i)
{
    return (double)(1 + i * 7 % 5);
}

static double smaller(int64_t i)
{
    return (double)(1 + (i * 3 + 1) % 5);
}

static double bit(int64_t i)
{
    return i * 5 % 3 == 1;
}

static double order(int64_t i)
{
    return (double)((i + 2) % 3);
}

static const Input inputs[] = {
    {"x", "Float", HOLO_F32, 3, {2, 3, 4}, wave},
    {"y", "Float", HOLO_F32, 3, {2, 3, 4}, other},
    {"p", "Float", HOLO_F32, 3, {2, 3, 4}, above_0},
    {"m", "Float", HOLO_F32, 2, {3, 4}, other},
    {"n", "Float", HOLO_F32, 2, {4, 5}, wave},
    {"v", "Float", HOLO_F32, 1, {4}, other},
    {"s", "Float", HOLO_F32, 2, {3, 3}, symmetric},
    {"im", "Float", HOLO_F32, 4, {1, 4, 5, 6}, wave},
    {"vol", "Float", HOLO_F32, 5, {1, 2, 4, 5, 6}, wave},
    {"i", "Long", HOLO_I64, 3, {2, 3, 4}, small},
    {"j", "Long", HOLO_I64, 3, {2, 3, 4}, smaller},
    {"b", "Bool", HOLO_BOOL, 3, {2, 3, 4}, bit},
    {"k", "Long", HOLO_I64, 1, {3}, order},
};

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// Whether a word is in the text, with that character behind it; 0: any that ends it.
static bool has_word(const char *text, const char *word, char behind)
{
    size_t size = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        if ((at == text || !is_letter(at[-1])) && (behind ? at[size] == behind : !is_letter(at[size])) &&
            !(at > text && at[-1] == '.' && !behind))
            return true;
    return false;
}

// ---- a model of a line

static void word32(Bytes *b, char code, uint32_t value)
{
    put(b, &code, 1);
    put(b, &value, 4);
}

static void text(Bytes *b, const char *value)
{
    word32(b, 'X', (uint32_t)strlen(value));
    put(b, value, strlen(value));
}

// The pickle of a tensor, of which only type and sizes matter.
static void example(Bytes *b, const Input *in)
{
    char    type[64];
    int64_t count = 1, stride = 1, strides[5];
    for (int d = in->rank - 1; d >= 0; d--, stride = count) {
        strides[d] = stride;
        count *= in->dim[d];
    }
    snprintf(type, sizeof type, "ctorch\n%sStorage\n", in->storage);
    put(b, "ctorch._utils\n_rebuild_tensor_v2\n((", 35);
    text(b, "storage");
    put(b, type, strlen(type));
    text(b, "0");
    text(b, "cpu");
    word32(b, 'J', (uint32_t)count);
    put(b, "tQ", 2);
    word32(b, 'J', 0);
    for (int k = 0; k < 2; k++) {
        put(b, "(", 1);
        for (int d = 0; d < in->rank; d++) word32(b, 'J', (uint32_t)(k ? strides[d] : in->dim[d]));
        put(b, "t", 1);
    }
    put(b,
        "\x89"
        "ccollections\nOrderedDict\n)RtR",
        30);
}

static char *hex_of(const Bytes *b)
{
    char *hex = malloc(2 * b->size + 1);
    for (size_t i = 0; i < b->size; i++) snprintf(hex + 2 * i, 3, "%02x", b->data[i]);
    return hex;
}

// Statements, and then what they give, under a name.
static void add_side(HoloText *code, const char *side, const char *name)
{
    const char *end;
    while ((end = strstr(side, "; "))) {
        holo_text_add(code, "    %.*s\n", (int)(end - side), side);
        side = end + 2;
    }
    holo_text_add(code, "    %s = %s\n", name, side);
}

static json_t *pair_model(const char *left, const char *right, const Input **used, int *count)
{
    static const char data[] = "8002635f5f746f7263685f5f0a4d6f640a29817d2858080000007472"
                               "61696e696e67897562"
                               "2e";
    HoloText          code   = {0};
    Bytes             pickle = {0};
    *count                   = 0;
    put(&pickle, "\x80\x02}(X\7\0\0\0forward](", 18);
    holo_text_add(&code, "class Mod(Module):\n  training : bool\n  def forward(self: __torch__.Mod");
    for (int i = 0; i < HOLO_COUNT(inputs); i++) {
        if (!has_word(left, inputs[i].name, 0) && !has_word(right, inputs[i].name, 0)) continue;
        used[(*count)++] = &inputs[i];
        holo_text_add(&code, ",\n    %s: Tensor", inputs[i].name);
        example(&pickle, &inputs[i]);
    }
    put(&pickle, "eu.", 3);
    holo_text_add(&code, ") -> Tuple[Tensor, Tensor]:\n");
    add_side(&code, left, "left_side");
    add_side(&code, right, "right_side");
    holo_text_add(&code, "    return (left_side, right_side)\n");
    char   *traced  = hex_of(&pickle);
    json_t *entries = json_pack("{s:s, s:s, s:s, s:s}", "data.pkl", data, "code/__torch__.py", code.data,
                                "constants.pkl", "8002292e", "traced_inputs.pkl", traced);
    assert_non_null(entries);
    free(traced);
    free(pickle.data);
    holo_text_deinit(&code);
    return entries;
}

static bool is_same(const HoloTensor *a, const HoloTensor *b, HoloError *error)
{
    double largest = 0, worst = 0;
    bool   is_alike = a->dtype == b->dtype && a->rank == b->rank;
    for (int d = 0; is_alike && d < a->rank; d++) is_alike = a->dim[d] == b->dim[d];
    if (!is_alike) {
        snprintf(error->text, sizeof error->text, "types or sizes differ: %s of %d dimensions, %s of %d",
                 holo_dtype_name((HoloDtype)a->dtype), a->rank, holo_dtype_name((HoloDtype)b->dtype), b->rank);
        return false;
    }
    for (int64_t i = 0; i < holo_tensor_count(a); i++) {
        double one = holo_get_f(a, i), two = holo_get_f(b, i);
        if (isnan(one) || isnan(two)) worst = INFINITY;
        if (fabs(two) > largest) largest = fabs(two);
        if (one != two && fabs(one - two) > worst) worst = fabs(one - two);
    }
    snprintf(error->text, sizeof error->text, "they differ by %g of %g", worst, largest);
    return worst <= 2e-5 * (largest > 0 ? largest : 1);
}

static bool run_pair(HoloArena *arena, const char *left, const char *right, HoloError *error)
{
    const Input      *used[HOLO_COUNT(inputs)];
    HoloTensor        in[HOLO_COUNT(inputs)], out[2] = {0};
    const HoloTensor *given[HOLO_COUNT(inputs)];
    HoloModelSource   source;
    int               count;
    json_t           *entries = pair_model(left, right, used, &count);
    Bytes             file    = archive_of(entries);
    void             *kept    = holo_arena_take(arena, file.size);
    memcpy(kept, file.data, file.size);
    size_t size = file.size;
    free(file.data);
    json_decref(entries);
    if (holo_import_memory(arena, kept, size, &source, error)) return false;
    bool ok = source.graph->input_count == count && source.graph->output_count == 2;
    if (!ok) snprintf(error->text, sizeof error->text, "%d inputs", source.graph->input_count);
    for (int i = 0; i < count; i++) {
        in[i] = (HoloTensor){.dtype = (uint8_t)used[i]->dtype, .rank = (int8_t)used[i]->rank};
        memcpy(in[i].dim, used[i]->dim, sizeof used[i]->dim);
        in[i].data = holo_arena_take(arena, holo_tensor_bytes(&in[i]) + 1);
        for (int64_t k = 0; k < holo_tensor_count(&in[i]); k++) {
            if (used[i]->dtype == HOLO_F32)
                holo_put_f(&in[i], k, used[i]->number(k));
            else
                holo_put_i(&in[i], k, (int64_t)used[i]->number(k));
        }
        given[i] = &in[i];
    }
    ok = ok && !holo_graph_infer(source.graph, error) && !holo_graph_check_ops(source.graph, error) &&
         !holo_graph_eval(source.graph, given, out, arena, NULL, error) && is_same(&out[0], &out[1], error);
    holo_import_close(&source);
    return ok;
}

static void all_pairs(void **state)
{
    FILE *file   = fopen("tests/torch/pairs.txt", "r");
    char *line   = malloc(1 << 14);
    int   failed = 0;
    (void)state;
    assert_non_null(file);
    while (fgets(line, 1 << 14, file)) {
        char *middle              = strstr(line, " == ");
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '#' || !middle) continue;
        HoloArena arena = {0};
        HoloError error = {0};
        *middle         = 0;
        if (!run_pair(&arena, line, middle + 4, &error)) {
            print_error("%s: %s\n", line, error.text);
            failed++;
        }
        holo_arena_deinit(&arena);
    }
    fclose(file);
    free(line);
    assert_int_equal(failed, 0);
}

// ---- which operators have no case

extern const HoloTorchOp *const holo_torch_tables[];
extern const HoloTorchComposed  holo_torch_composed_bessel[], holo_torch_composed_losses[],
    holo_torch_composed_special[], holo_torch_composed_arrays[], holo_torch_composed_linear[],
    holo_torch_composed_rnn[], holo_torch_composed_backward[], holo_torch_composed_factors[],
    holo_torch_composed_rest[];
static const HoloTorchComposed *const composed[] = {
    holo_torch_composed_bessel,   holo_torch_composed_losses,  holo_torch_composed_special,
    holo_torch_composed_arrays,   holo_torch_composed_linear,  holo_torch_composed_rnn,
    holo_torch_composed_backward, holo_torch_composed_factors, holo_torch_composed_rest};

static char *contents(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    char  *text = malloc(size + 1);
    rewind(file);
    text[fread(text, 1, size, file)] = 0;
    fclose(file);
    return text;
}

static bool is_called(char *const *texts, const char *name)
{
    char in_place[120], special[120];
    snprintf(in_place, sizeof in_place, "%s_", name);
    snprintf(special, sizeof special, "__%s__", name);
    for (int i = 0; texts[i]; i++)
        if (has_word(texts[i], name, '(') || has_word(texts[i], in_place, '(') || has_word(texts[i], special, '('))
            return true;
    return false;
}

static void names(void **state)
{
    char *texts[] = {contents("tests/torch/cases.json"), contents("tests/torch/pairs.txt"),
                     contents("tests/torch/without_case.txt"), NULL};
    int   missing = 0;
    (void)state;
    for (int t = 0; holo_torch_tables[t]; t++)
        for (const HoloTorchOp *row = holo_torch_tables[t]; row->name; row++)
            if (!is_called(texts, row->name)) print_error("%s has no case\n", row->name), missing++;
    for (int t = 0; t < HOLO_COUNT(composed); t++)
        for (const HoloTorchComposed *row = composed[t]; row->name; row++) {
            char *own[HOLO_COUNT(composed) * 128 + 1] = {0};
            int   count                               = 0;
            for (int k = 0; k < HOLO_COUNT(composed); k++) // what others are written in has their cases
                for (const HoloTorchComposed *user = composed[k]; user->name; user++)
                    if (user != row && count < HOLO_COUNT(own) - 1) own[count++] = (char *)(uintptr_t)user->code;
            if (is_called(texts, row->name) || (row->name[0] == '_' && is_called(own, row->name))) continue;
            print_error("%s has no case\n", row->name);
            missing++;
        }
    for (int i = 0; texts[i]; i++) free(texts[i]);
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_pairs), cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
