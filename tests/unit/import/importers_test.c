// importers_test.c - the table of importers: every format is told by what it holds, whatever its file is called.
#include "import/importer.h"
#include "support/models.h"
#include "support/onnx_writer.h"

#include <stdlib.h>
#include <string.h>

#define BYTES(text) text, sizeof(text) - 1

typedef struct Sample {
    const char *name, *bytes; // `name`: that of the row; NULL: there is none
    size_t      size;
} Sample;

static const Sample samples[] = {
    {"empty", BYTES("")},
    {"GGUF", BYTES("GGUF\3\0\0\0")},
    {"TFLite", BYTES("\x1c\0\0\0TFL3\x14\0")},
    {"TFLite task", BYTES("PK\3\4\x14\0\0\0hand.tflite")},
    {"TFLite data", BYTES("some bytes\x1c\0\0\0TFL3\x14\0")},
    {"ORT", BYTES("\x1c\0\0\0ORTM\x14\0")},
    {"Keras", BYTES("PK\3\4\x14\0metadata.jsonPK\1\2model.weights.h5")},
    {"torch.export", BYTES("PK\3\4\0\0m/models/model.json  PK\1\2m/archive_format")},
    {"Keras HDF5", BYTES("\x89HDF\r\n\x1a\n")},
    {"TorchScript", BYTES("PK\3\4\0\0m/data.pkl  PK\1\2m/constants.pkl")},
    {"PyTorch", BYTES("PK\3\4\0\0archive/data.pkl")},
    {"pickle", BYTES("\x80\2}q\0.")},
    {"SavedModel", BYTES("\x08\1\x12\x0b\x0a\x09\x22\5serve\x2a\0")},
    {"TensorFlow", BYTES("\n\x10\n\1x\x12\x0bPlaceholder")},
    {"TensorFlow text", BYTES("node {\n  name: \"x\"\n  op: \"Relu\"\n}\n")},
    {"TensorFlow.js", BYTES("{\"format\": \"graph-model\", \"modelTopology\": {}}")},
    {"SafeTensors", BYTES("\2\0\0\0\0\0\0\0{}")},
    {"pickle3", BYTES("\x80\3}q\0.")},
    {"pickle4", BYTES("\x80\4}q\0.")},
    {"git-lfs", BYTES("version https://git-lfs.github.com/spec/v1\n")},
    {"html", BYTES("<!DOCTYPE html><html>")},
    {"html", BYTES("<!doctype html>")},
    {"html", BYTES("<html>")},
    {"OpenVINO", BYTES("<?xml version=\"1.0\"?>\n<net name=\"x\" version=\"11\"><layers></layers></net>")},
    {"NNEF", BYTES("# by hand\nversion 1.0;\ngraph g( x ) -> ( y ) {}")},
    {"gzip", BYTES("\x1f\x8b\x08\0")},
    {"xz", BYTES("\3757zXZ\0")},
    {"zstd", BYTES("\x28\xb5\x2f\xfd\0")},
    {"npy", BYTES("\x93NUMPY\1\0")},
    {"elf", BYTES("\177ELF\2\1\1")},
    {"png", BYTES("\x89PNG\r\n\x1a\n")},
    {"jpeg", BYTES("\xff\xd8\xff\xe0")},
    {"gif", BYTES("GIF89a\1\0")},
    {"webp", BYTES("RIFF\0\0\0\0WEBP")},
    {"tiff", BYTES("II*\0\x08\0")},
    {"jpeg2000", BYTES("\0\0\0\x0cjP  \r\n")},
    {"mp4", BYTES("\0\0\0\x20"
                  "ftypisom")},
    {"wav", BYTES("RIFF\0\0\0\0WAVEfmt ")},
    {"ogg", BYTES("OggS\0\2")},
    {"flac", BYTES("fLaC\0\0")},
    {"mp3", BYTES("ID3\3\0")},
    {"matlab", BYTES("MATLAB 5.0 MAT-file")},
    {"parquet", BYTES("PAR1\x15\0")},
    {"pdf", BYTES("%PDF-1.4")},
    {"holo", BYTES("\x89HOLO\r\n\x1a")},
    {"zip", BYTES("PK\3\4\x14\0\0\0a.txt")},
    {"text", BYTES("hello, world\n")},
    {"config", BYTES("{\"model_type\": \"bert\"}")}, // without weights
    {"html", BYTES("\n <HTML>\n<body>")},
    {"answer", BYTES("<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>")},
    {"answer", BYTES("Entry not found")},
    {"zeros", BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")},
    {"ONNX", BYTES("\x08\x08\x12\4test:\0")},   // an empty graph
    {"ONNX", BYTES("\x08\x08\x12\4test:\x7f")}, // cut off
    {"ONNX text", BYTES("ir_version: 8\ngraph {\n  name: \"g\"\n}\n")},
    {"ONNX syntax",
     BYTES("\n<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[2] x) => (float[2] y) { y = Neg(x) }")},
    {"ONNX JSON", BYTES("{\"irVersion\": \"8\", \"graph\": {}}")},
    {NULL, BYTES("\x08\1\x08\x10\x08\4\x10\1")}, // a tensor of ONNX
    {NULL, BYTES("\x08\4\x10\1\x4a\4....")},     // another
};

static const HoloImporter *found(const char *path)
{
    const HoloImporter *row;
    EXPECT_OK(holo_import_find(path, &row, &error));
    return row;
}

static void expect_row(const char *path, const char *name)
{
    const HoloImporter *row = found(path);
    if (!row && !name) return;
    if (!row || !name || strcmp(row->name, name))
        fail_msg("%s: taken for %s, not %s", path, row ? row->name : "nothing", name ? name : "nothing");
}

// Whatever a file is called, and with the others' names as well as its own.
static void test_every_file_is_told(void **state)
{
    (void)state;
    static const char *const names[] = {"model.onnx", "model.safetensors", "x.holo", "noname"};
    for (int i = 0; i < HOLO_COUNT(samples); i++)
        for (int k = 0; k < HOLO_COUNT(names); k++) {
            file_write(temp_path(names[k]), samples[i].bytes, samples[i].size);
            expect_row(temp_path(names[k]), samples[i].name);
        }
    char tar[512] = "folder/";
    memcpy(tar + 257, "ustar", 5);
    file_write(temp_path("model.onnx"), tar, sizeof tar);
    expect_row(temp_path("model.onnx"), "tar");
    strcpy(tar, "./graph.nnef");
    file_write(temp_path("model.onnx"), tar, sizeof tar);
    expect_row(temp_path("model.onnx"), "NNEF archive");
}

static const char *folder_with(const char *folder, const char *file, const char *text)
{
    const char *path = temp_path(folder);
    (void)holo_folder_make(path, false);
    char *name = malloc(strlen(folder) + strlen(file) + 2);
    sprintf(name, "%s/%s", folder, file);
    file_write(temp_path(name), text, strlen(text));
    free(name);
    return path;
}

static void test_every_folder_is_told(void **state)
{
    (void)state;
    expect_row(folder_with("saved", "saved_model.pb", "\x08\1"), "SavedModel");
    expect_row(folder_with("saved_text", "saved_model.pbtxt", "meta_graphs {}"), "SavedModel text");
    expect_row(folder_with("js", "model.json", "{\"modelTopology\": {}}"), "TensorFlow.js");
    (void)folder_with("old_js", "weights_manifest.json", "[]");
    expect_row(folder_with("old_js", "tensorflowjs_model.pb", "\n"), "TensorFlow.js before model.json");
    expect_row(folder_with("pipeline", "model_index.json", "{}"), "Diffusers");
    (void)folder_with("face", "config.json", "{}");
    expect_row(folder_with("face", "model.safetensors", ""), "HuggingFace");
    (void)folder_with("shards", "config.json", "{}");
    expect_row(folder_with("shards", "model.safetensors.index.json", "{}"), "HuggingFace");
    expect_row(folder_with("weights", "model.safetensors", ""), "weights");
    expect_row(folder_with("exchange", "graph.nnef", "version 1.0;"), "NNEF");
    expect_row(folder_with("package", "Manifest.json", "{\"x\": \"com.apple.CoreML\"}"), "CoreML");
    assert_null(found(folder_with("other", "model.json", "{}")));
    expect_row(folder_with("notes", "config.json", "{\"model_type\": \"bert\"}"), "config");
}

// Those of folders are above.
static void test_no_row_without_a_sample(void **state)
{
    (void)state;
    static const char *const others[] = {
        "tar",         "weights",         "NNEF archive", "Diffusers",   "CoreML",
        "HuggingFace", "SavedModel text", "ONNX folder",  "TFLite task", "TensorFlow.js before model.json"};
    for (int t = 0; holo_importer_tables[t]; t++)
        for (const HoloImporter *row = holo_importer_tables[t]; row->name; row++) {
            bool has = false;
            for (int i = 0; i < HOLO_COUNT(samples); i++) has |= samples[i].name && !strcmp(samples[i].name, row->name);
            for (int i = 0; i < HOLO_COUNT(others); i++) has |= !strcmp(others[i], row->name);
            if (!has) fail_msg("there is no sample of %s", row->name);
            if (!row->words || (!row->magic && !row->sniff)) fail_msg("the row of %s is not complete", row->name);
            if (row->is_model && !row->open && !row->advice) fail_msg("%s: nothing says what to do", row->name);
        }
}

// The message names the format and says what to do, and is another one for what is no model.
static void test_what_cannot_be_read(void **state)
{
    (void)state;
    HoloModel   *model;
    HoloFileKind kind;
    file_write(temp_path("weights.onnx"), "\x1c\0\0\0ORTM", 8);
    EXPECT_FAIL(holo_compile_model(NULL, temp_path("weights.onnx"), &model, NULL, &error), HOLO_UNSUPPORTED,
                "which cannot be read yet: give the ONNX model that it was made from");
    EXPECT_OK(holo_file_kind(temp_path("weights.onnx"), &kind, &error));
    assert_int_equal(kind, HOLO_FILE_MODEL);
    EXPECT_FAIL(holo_compile_model(NULL, folder_with("saved", "saved_model.pb", "\x08\1"), &model, NULL, &error),
                HOLO_BAD_MODEL, "the SavedModel has no graph");
    file_write(temp_path("picture.onnx"), "\x89PNG\r\n\x1a\n", 8);
    EXPECT_FAIL(holo_compile_model(NULL, temp_path("picture.onnx"), &model, NULL, &error), HOLO_BAD_MODEL,
                "not a model; it looks like a picture (PNG)");
    EXPECT_FAIL(holo_compile_model(NULL, folder_with("other", "readme", "x"), &model, NULL, &error), HOLO_NO_FILE,
                "is not a model that can be read, which would be");
    EXPECT_FAIL(holo_file_kind(temp_path("other"), &kind, &error), HOLO_NO_FILE, "is a folder, not a model");
}

// A model's own name does not matter either.
static void test_a_model_of_another_name(void **state)
{
    (void)state;
    size_t   size;
    uint8_t *bytes = file_read(model_tiny(), &size);
    file_write(temp_path("picture.png"), bytes, size);
    free(bytes);
    HoloModel *model;
    EXPECT_OK(holo_compile_model(NULL, temp_path("picture.png"), &model, NULL, &error));
    assert_string_equal(holo_model_meta_find(model, "source.format"), "ONNX");
    holo_model_close(model);
}

// Keys of the format and of the author are told apart, and come in order.
static void test_metadata(void **state)
{
    (void)state;
    OnnxModel m = {.ir_version = 9};
    onnx_input(&m.graph, "x", HOLO_F32, "2");
    onnx_output(&m.graph, "y", HOLO_F32, "2");
    onnx_node(&m.graph, "Relu", "x", "y", "");
    onnx_opset(&m, "", 17);
    onnx_opset(&m, "my.domain", 3);
    onnx_metadata(&m, "opset", "the author's");
    onnx_metadata(&m, "license", "MIT");
    onnx_save(&m, temp_path("meta.onnx"));
    HoloModel *model;
    EXPECT_OK(holo_compile_model(NULL, temp_path("meta.onnx"), &model, NULL, &error));
    assert_string_equal(holo_model_meta_find(model, "source.ir_version"), "9");
    assert_string_equal(holo_model_meta_find(model, "source.opset"), "ai.onnx 17, my.domain 3");
    assert_string_equal(holo_model_meta_find(model, "model.opset"), "the author's");
    assert_string_equal(holo_model_meta_find(model, "model.license"), "MIT");
    holo_model_close(model);
    HoloSource *source;
    const char *key;
    EXPECT_OK(holo_source_open(temp_path("meta.onnx"), &source, &error));
    assert_string_equal(holo_source_meta(source, 0, &key), "ONNX");
    assert_string_equal(key, "format");
    assert_string_equal(holo_source_meta(source, holo_source_meta_count(source) - 1, &key), "MIT");
    assert_string_equal(key, "license");
    holo_source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_file_is_told),      cmocka_unit_test(test_every_folder_is_told),
        cmocka_unit_test(test_no_row_without_a_sample), cmocka_unit_test(test_what_cannot_be_read),
        cmocka_unit_test(test_a_model_of_another_name), cmocka_unit_test(test_metadata),
    };
    return cmocka_run_group_tests_name("importers", tests, NULL, NULL);
}
