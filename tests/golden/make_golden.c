// make_golden.c - writes the archives of tests/golden and tests/golden/bad, and the text beside each: what a good one
// answers, and what a bad one must be refused with. `make golden` runs it; the same version writes the same bytes.
#include "support/archive_edit.h"
#include "support/golden.h"
#include "support/onnx_writer.h"

#include "archive/archive.h"
#include "graph/graph.h"
#include "plan/plan.h"

static const char *folder;

static const char *in_folder(const char *name, const char *suffix)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
    return path;
}

static void write_text(const char *name, const char *text)
{
    file_write(in_folder(name, ".txt"), text, strlen(text));
}

// ---- models

static const char *model_static(void)
{
    OnnxModel   m    = {0};
    const char *path = temp_path("static.onnx");
    onnx_input(&m.graph, "x", HOLO_F32, "2,4");
    onnx_output(&m.graph, "y", HOLO_F32, "2,3");
    onnx_weights(&m.graph, "w", "4,3", 1, 1);
    onnx_weights(&m.graph, "b", "3", 2, 1);
    onnx_node(&m.graph, "MatMul", "x,w", "p", "");
    onnx_node(&m.graph, "Add", "p,b", "s", "");
    onnx_node(&m.graph, "Relu", "s", "y", "");
    onnx_save(&m, path);
    return path;
}

static const char *model_parts(void)
{
    OnnxModel     m       = {0};
    const char   *path    = temp_path("parts.onnx");
    const int64_t sizes[] = {1, 3};
    onnx_input(&m.graph, "x", HOLO_F32, "4,3");
    onnx_output(&m.graph, "y", HOLO_F32, "1,3");
    onnx_output(&m.graph, "z", HOLO_F32, "3,3");
    onnx_ints(&m.graph, "sizes", "2", sizes);
    onnx_node(&m.graph, "Softmax", "x", "s", "axis=0");
    onnx_node(&m.graph, "Split", "s,sizes", "a,b", "axis=0");
    onnx_node(&m.graph, "Softmax", "a", "y", "axis=1");
    onnx_node(&m.graph, "Softmax", "b", "z", "axis=1");
    onnx_save(&m, path);
    return path;
}

static const char *model_quantized(void)
{
    OnnxModel     m     = {0};
    const char   *path  = temp_path("quantized.onnx");
    const float   scale = 1.0f / 64;
    const uint8_t zero  = 128;
    int8_t        none  = 0, weights[12];
    for (int i = 0; i < 12; i++) weights[i] = (int8_t)(11 * i - 60);
    onnx_input(&m.graph, "x", HOLO_F32, "2,4");
    onnx_output(&m.graph, "y", HOLO_F32, "2,3");
    onnx_constant(&m.graph, "scale", HOLO_F32, "", &scale, sizeof scale);
    onnx_constant(&m.graph, "zero", HOLO_U8, "", &zero, sizeof zero);
    onnx_constant(&m.graph, "none", HOLO_I8, "", &none, sizeof none);
    onnx_constant(&m.graph, "w", HOLO_I8, "4,3", weights, sizeof weights);
    onnx_node(&m.graph, "QuantizeLinear", "x,scale,zero", "q", "");
    onnx_node(&m.graph, "QLinearMatMul", "q,scale,zero,w,scale,none,scale,zero", "p", "");
    onnx_node(&m.graph, "DequantizeLinear", "p,scale,zero", "y", "");
    onnx_save(&m, path);
    return path;
}

static const char *model_kernel(void)
{
    OnnxModel   m    = {0};
    const char *path = temp_path("kernel.onnx");
    onnx_opset(&m, "", 17);
    onnx_opset(&m, "com.example", 1);
    onnx_input(&m.graph, "table", HOLO_F32, "8");
    onnx_input(&m.graph, "index", HOLO_U8, "4");
    onnx_output(&m.graph, "y", HOLO_F32, "4");
    onnx_node(&m.graph, "com.example::Pick", "table,index", "y", "");
    onnx_save(&m, path);
    return path;
}

static const char kernel_source[] =
    "@kernel(operator=\"com.example::Pick\")\n"
    "def pick(table: DeviceArray[f32], index: DeviceArray[u8], y: DeviceArray[f32], n: i64):\n"
    "    i = get_global_id()\n"
    "    if i < n:\n"
    "        y[i] = table[i64(index[i])]\n"
    "\n"
    "def pick_shape(table: DeviceArray[i64], index: DeviceArray[i64], y: DeviceArray[i64]):\n"
    "    y[0] = index[0]\n";

// ---- good archives

// Class exact, for the same answers everywhere; not verified, for what a machine finds then is in the file.
static void compile(const char *name, const char *path)
{
    HoloCompiler *compiler;
    const char   *kernel = temp_path("kernel.py");
    file_write(kernel, kernel_source, strlen(kernel_source));
    EXPECT_OK(holo_compiler_create(&compiler));
    holo_compiler_set_numeric(compiler, HOLO_EXACT);
    holo_compiler_set_verify(compiler, false);
    if (!strcmp(name, "kernel")) EXPECT_OK(holo_compiler_add_kernel(compiler, kernel, &error));
    EXPECT_OK(holo_compile_file(compiler, path, in_folder(name, ".holo"), NULL, &error));
    holo_compiler_destroy(compiler);
}

static void write_answer(const char *name)
{
    HoloModel   *model;
    HoloSession *session;
    char         text[2048];
    EXPECT_OK(holo_model_open(in_folder(name, ".holo"), &model, &error));
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    golden_answer(model, session, text, sizeof text);
    write_text(name, text);
    holo_session_destroy(session);
    holo_model_close(model);
}

// The file that docs/format.md takes apart: planned as it is written, without passes and without kernels.
static void make_add(void)
{
    static const char text[] = "graph g(x: f32[2,n]) -> (y) {\n"
                               "    const w: f32[2,1] = {1, 2}\n"
                               "    y = Add@21(x, w)\n"
                               "}\n";
    HoloArena         arena  = {0};
    HoloGraph        *graph;
    HoloPlan          plan    = {0};
    HoloLowered       lowered = {0};
    HoloFileWriter   *file;
    uint64_t          size;
    EXPECT_OK(holo_graph_parse(&arena, text, &graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    EXPECT_OK(holo_lower_graph(graph, NULL, &lowered, &error));
    lowered.nodes[0].lowering = (HoloLowering){.pack_input = -1}; // the operator's own eval
    EXPECT_OK(holo_plan_create(graph, &lowered, &plan, &error));
    EXPECT_OK(holo_plan_meta(&plan, "producer", "hologram tests", &error));
    EXPECT_OK(holo_file_writer_open(in_folder("add", ".holo"), &file, &error));
    EXPECT_OK(holo_archive_write(&plan, file, NULL, &size, &error));
    EXPECT_OK(holo_file_writer_close(file, true, &error));
    holo_plan_deinit(&plan);
    holo_lowered_deinit(&lowered);
    holo_arena_deinit(&arena);
    write_answer("add");
}

static void make_memo(void)
{
    HoloModel   *model;
    HoloSession *session;
    char         text[2048];
    EXPECT_OK(holo_model_open(in_folder("static", ".holo"), &model, &error));
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_memo(session, 1 << 16, &error));
    golden_answer(model, session, text, sizeof text);
    EXPECT_OK(holo_session_save_memo(session, in_folder("memo", ".holo"), &error));
    holo_session_destroy(session);
    holo_model_close(model);
    write_answer("memo");
}

static void test_good(void **state)
{
    (void)state;
    const struct {
        const char *name, *path;
    } all[] = {
        {"static", model_static()},       {"open", model_dynamic()},  {"control", model_loop(5)},
        {"quantized", model_quantized()}, {"kernel", model_kernel()}, {"parts", model_parts()},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        compile(all[i].name, all[i].path);
        write_answer(all[i].name);
    }
    make_add();
    make_memo();
}

// ---- bad ones: bytes

static HoloHeader *header_of(uint8_t *bytes)
{
    return (void *)bytes;
}

// Changes one bit of the first byte of a section.
static size_t flip(uint8_t *bytes, size_t size, uint32_t id)
{
    const HoloSectionRecord *table = (const void *)(bytes + header_of(bytes)->header_size);
    while (table->id != id) table++;
    bytes[table->offset] ^= 1;
    return size;
}

static size_t old_version(uint8_t *bytes, size_t size)
{
    header_of(bytes)->major = 1;
    return size;
}
static size_t new_version(uint8_t *bytes, size_t size)
{
    header_of(bytes)->major = HOLO_FORMAT_MAJOR + 1;
    return size;
}
static size_t no_magic(uint8_t *bytes, size_t size)
{
    bytes[6] = '\r'; // as a transfer of text does it
    return size;
}
static size_t cut(uint8_t *bytes, size_t size)
{
    (void)bytes;
    return size / 2;
}
static size_t long_table(uint8_t *bytes, size_t size)
{
    header_of(bytes)->section_count = 1000;
    return size;
}
static size_t flags_unknown(uint8_t *bytes, size_t size)
{
    header_of(bytes)->flags_must |= 0x100;
    return size;
}
static size_t damaged_header(uint8_t *bytes, size_t size)
{
    header_of(bytes)->flags_may ^= 1;
    return size;
}
static size_t damaged_section(uint8_t *bytes, size_t size)
{
    return flip(bytes, size, HOLO_SECTION_SIZES);
}
static size_t damaged_weights(uint8_t *bytes, size_t size)
{
    return flip(bytes, size, HOLO_SECTION_WEIGHTS);
}
static size_t damaged_memo(uint8_t *bytes, size_t size)
{
    return flip(bytes, size, HOLO_SECTION_MEMO_DATA);
}

// ---- bad ones: records that are wrong, with all hashes right

#define RECORDS(file, id, type) ((type *)(void *)edit_section(file, HOLO_SECTION_##id)->data)
#define LATER                   (EDIT_ID_MAX - 1) // a section of a later version

static void section_needed(EditFile *f)
{
    edit_add(f, LATER, HOLO_SECTION_MUST);
}
static void section_flags(EditFile *f)
{
    edit_section(f, HOLO_SECTION_NOTES)->flags = 2;
}
static void section_missing(EditFile *f)
{
    EditSection *s = edit_section(f, HOLO_SECTION_CONSTANTS);
    s->id          = LATER;
    s->flags       = 0;
}
static void section_twice(EditFile *f)
{
    edit_section(f, HOLO_SECTION_BYTES)->id = HOLO_SECTION_STRINGS;
}
static void section_size(EditFile *f)
{
    edit_append(f, HOLO_SECTION_STEPS, "", 1);
}
static void texts_without_end(EditFile *f)
{
    edit_append(f, HOLO_SECTION_STRINGS, "x", 1);
}
static void expression(EditFile *f)
{
    RECORDS(f, DIMS, HoloDimRecord)->op = 99;
}
static void symbol(EditFile *f)
{
    *RECORDS(f, SYMBOLS, uint32_t) = UINT32_MAX;
}
static void size_of_none(EditFile *f)
{
    *RECORDS(f, SIZES, int64_t) = HOLO_DIM_BASE + 1000;
}
static void operator_name(EditFile *f)
{
    RECORDS(f, OPS, HoloOpRecord)->name = UINT32_MAX;
}
static void operator_unknown(EditFile *f)
{
    uint32_t name                       = (uint32_t)edit_append(f, HOLO_SECTION_STRINGS, "NoSuch", 7);
    RECORDS(f, OPS, HoloOpRecord)->name = name;
}
static void plan_none(EditFile *f)
{
    edit_section(f, HOLO_SECTION_PLANS)->size = 0;
}
static void plan_outside(EditFile *f)
{
    RECORDS(f, PLANS, HoloPlanRecord)->value_count = 1000;
}
static void plan_output(EditFile *f)
{
    RECORDS(f, OPERANDS, uint32_t)[RECORDS(f, PLANS, HoloPlanRecord)->output_first] = 1000;
}
static void value_type(EditFile *f)
{
    RECORDS(f, VALUES, HoloValueRecord)->dtype = 200;
}
static void value_space(EditFile *f)
{
    RECORDS(f, VALUES, HoloValueRecord)->space = 1;
}
static void step_operand(EditFile *f)
{
    RECORDS(f, OPERANDS, uint32_t)[RECORDS(f, STEPS, HoloStepRecord)->operand_first] = 1000;
}
static void step_early(EditFile *f) // it reads what it writes itself
{
    const HoloStepRecord *s = RECORDS(f, STEPS, HoloStepRecord);
    uint32_t             *o = RECORDS(f, OPERANDS, uint32_t) + s->operand_first;
    o[0]                    = o[s->in_count];
}
static void output_unwritten(EditFile *f) // all steps are gone
{
    RECORDS(f, PLANS, HoloPlanRecord)->step_count = 0;
}
static void step_target(EditFile *f)
{
    RECORDS(f, STEPS, HoloStepRecord)->target = 1;
}
static void step_kernel(EditFile *f)
{
    RECORDS(f, STEPS, HoloStepRecord)->kernel = 60000;
}
static void step_params(EditFile *f)
{
    RECORDS(f, STEPS, HoloStepRecord)->params_size = 0;
}
static void target_toy(EditFile *f)
{
    HoloTargetRecord targets[2] = {{.name = (uint32_t)edit_append(f, HOLO_SECTION_STRINGS, "cpu", 4)},
                                   {.name = (uint32_t)edit_append(f, HOLO_SECTION_STRINGS, "toy", 4)}};
    edit_add(f, HOLO_SECTION_TARGETS, HOLO_SECTION_MUST);
    edit_append(f, HOLO_SECTION_TARGETS, targets, sizeof targets);
}
static void attribute(EditFile *f)
{
    RECORDS(f, ATTRS, HoloAttrRecord)->kind = 99;
}
static void constant_outside(EditFile *f)
{
    RECORDS(f, CONSTANTS, HoloConstantRecord)->offset = (uint64_t)1 << 40;
}
static void constant_count(EditFile *f)
{
    RECORDS(f, CONSTANTS, HoloConstantRecord)->count++;
}
static void value_outside(EditFile *f)
{
    HoloValueRecord *v = RECORDS(f, VALUES, HoloValueRecord);
    while (v->storage != HOLO_STORE_ARENA) v++;
    v->at = (uint64_t)1 << 30;
}
static void program_outside(EditFile *f)
{
    RECORDS(f, PROGRAMS, HoloProgramRecord)->program_size = 1 << 30;
}
static void program_of_kernel(EditFile *f)
{
    const HoloAttrRecord *attr = RECORDS(f, ATTRS, HoloAttrRecord);
    while (strcmp(RECORDS(f, STRINGS, char) + attr->name, "programs")) attr++;
    const HoloSpan *span = (const void *)(RECORDS(f, BYTES, uint8_t) + attr->value);
    RECORDS(f, BYTES, uint8_t)[span->offset] ^= 0xFF;
}
static void note_text(EditFile *f)
{
    RECORDS(f, NOTES, HoloNoteRecord)->why = UINT32_MAX;
}
static void memo_part(EditFile *f)
{
    edit_section(f, HOLO_SECTION_MEMO_DATA)->id = LATER;
}
static void memo_slot(EditFile *f)
{
    *RECORDS(f, MEMO_SLOTS, uint32_t) = 1000;
}
static void memo_tensor(EditFile *f)
{
    RECORDS(f, MEMO_TENSORS, HoloMemoTensor)->size++;
}
static void memo_output(EditFile *f)
{
    HoloMemoTensor *t = RECORDS(f, MEMO_TENSORS, HoloMemoTensor) + 1; // behind that of x: y
    t->dim[0]         = 3;
    t->dim[1]         = 2;
}

typedef struct Bad {
    const char *name, *of;
    size_t (*damage)(uint8_t *bytes, size_t size); // or:
    void (*edit)(EditFile *file);
    const char *words;
} Bad;

static const Bad bad[] = {
    {"old_version", "add", old_version, NULL, "format 1.0; this program reads 2.x: compile the model again"},
    {"new_version", "add", new_version, NULL, "format 3.0; this program reads 2.x: use a newer hologram"},
    {"no_magic", "add", no_magic, NULL, "not a .holo file: it does not start with its magic bytes"},
    {"cut", "add", cut, NULL, "it is cut off or damaged"},
    {"long_table", "add", long_table, NULL, "the section table lies outside the file"},
    {"flags_unknown", "add", flags_unknown, NULL, "the file needs features (0x100) that this program does not have"},
    {"damaged_header", "add", damaged_header, NULL, "the header or the section table is damaged (the hash differs)"},
    {"damaged_section", "add", damaged_section, NULL, "is damaged (its hash differs)"},
    {"damaged_weights", "add", damaged_weights, NULL, "constant 0, "},
    {"damaged_memo", "memo", damaged_memo, NULL, "tensor 0 of the memo is damaged"},
    {"section_needed", "add", NULL, section_needed, "the file needs its section 31, which this program does not know"},
    {"section_flags", "static", NULL, section_flags, "section 19 has flags (0x2) that this program does not know"},
    {"section_missing", "add", NULL, section_missing, "section CONSTANTS is missing"},
    {"section_twice", "add", NULL, section_twice, "section STRINGS occurs twice"},
    {"section_size", "add", NULL, section_size, "which is not a multiple of its records of 40"},
    {"texts_without_end", "add", NULL, texts_without_end, "the section of texts does not end with a zero byte"},
    {"expression", "open", NULL, expression, "expression 0 is broken"},
    {"symbol", "open", NULL, symbol, "symbol 0 has no name"},
    {"size_of_none", "open", NULL, size_of_none, "size 0 names no expression"},
    {"operator_name", "add", NULL, operator_name, "operator 0 has no name"},
    {"operator_unknown", "add", NULL, operator_unknown, "this runtime has no operator "},
    {"plan_none", "add", NULL, plan_none, "there is no plan"},
    {"plan_outside", "add", NULL, plan_outside, "plan 0 lies outside its section"},
    {"plan_output", "add", NULL, plan_output, "the inputs or outputs of plan 0 are broken"},
    {"value_type", "add", NULL, value_type, "value 0 of plan g is broken"},
    {"value_space", "add", NULL, value_space,
     "value 0 of plan g is in the memory of target 1, but there are 1 targets"},
    {"value_outside", "static", NULL, value_outside, "lies outside the planned memory"},
    {"step_operand", "add", NULL, step_operand, "step 0 of plan g is broken"},
    {"step_early", "add", NULL, step_early, "step 0 of plan g reads value 2 before it is written"},
    {"output_unwritten", "add", NULL, output_unwritten, "no step writes output 0 of plan 0"},
    {"step_target", "add", NULL, step_target, "step 0 of plan g runs on target 1, but there are 1 targets"},
    {"step_kernel", "static", NULL, step_kernel, "this runtime has no kernel 60000"},
    {"step_params", "static", NULL, step_params, "the parameters are not those of matmul_f32"},
    {"target_toy", "add", NULL, target_toy, "'toy'"},
    {"attribute", "control", NULL, attribute, "attribute 0 is broken"},
    {"constant_outside", "add", NULL, constant_outside, "constant 0 lies outside the weights"},
    {"constant_count", "quantized", NULL, constant_count, "constant 0 has "},
    {"program_outside", "static", NULL, program_outside, "program 0 is broken"},
    {"program_of_kernel", "kernel", NULL, program_of_kernel, "these bytes are not a program"},
    {"note_text", "static", NULL, note_text, "note 0 is broken"},
    {"memo_part", "memo", NULL, memo_part, "the memo is incomplete"},
    {"memo_slot", "memo", NULL, memo_slot, "slot 0 of the memo names no entry"},
    {"memo_tensor", "memo", NULL, memo_tensor, "tensor 0 of the memo is broken"},
    {"memo_output", "memo", NULL, memo_output, "output 0 of entry 0 of the memo does not match the model"},
};

static void test_bad(void **state)
{
    (void)state;
    size_t   size, room = 1 << 16;
    uint8_t *out = aligned_alloc(64, room);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint8_t *bytes = file_read(in_folder(bad[i].of, ".holo"), &size);
        char     name[64];
        EditFile file;
        snprintf(name, sizeof name, "bad/%s", bad[i].name);
        if (bad[i].damage) {
            file_write(in_folder(name, ".holo"), bytes, bad[i].damage(bytes, size));
        } else {
            assert_true(edit_open(bytes, size, 1, &file));
            bad[i].edit(&file);
            size = edit_close(&file, out, room);
            assert_true(size > 0);
            file_write(in_folder(name, ".holo"), out, size);
            edit_free(&file);
        }
        write_text(name, bad[i].words);
        free(bytes);
    }
    free(out);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_good), cmocka_unit_test(test_bad)};
    if (argc != 2) return fprintf(stderr, "usage: make_golden FOLDER\n"), 2;
    folder = argv[1];
    return cmocka_run_group_tests_name("golden", tests, NULL, NULL);
}
