// huggingface_test.c - HuggingFace folders: a tiny BERT, made here and computed here in plain C, in every form that
// folders come in; folders that are wrong; and a checkpoint of PyTorch with its answers, where that is there.
#include "base/system.h"
#include "ops/tensor.h"
#include "support/models.h"
#include "support/tiny_bert.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABELS = 3, SEQUENCE = 5, BATCH = 2 };

// ---- the tiny BERT in plain C

static const float *get(const Weights *w, const char *format, int layer)
{
    char name[96];
    snprintf(name, sizeof name, format, layer);
    for (int i = 0; i < w->count; i++)
        if (!strcmp(w->list[i].name, name)) return w->list[i].data;
    fail_msg("the test has no weight %s", name);
    return NULL;
}

static void linear(const Weights *w, const char *name, int layer, const double *x, int in, int out, double *y)
{
    char         full[96];
    const float *weight, *bias;
    snprintf(full, sizeof full, "%s.weight", name);
    weight = get(w, full, layer);
    snprintf(full, sizeof full, "%s.bias", name);
    bias = get(w, full, layer);
    for (int o = 0; o < out; o++) {
        y[o] = (double)bias[o];
        for (int i = 0; i < in; i++) y[o] += (double)weight[o * in + i] * x[i];
    }
}

static void norm(const Weights *w, const char *name, int layer, double *x)
{
    char         full[96];
    const float *weight, *bias;
    double       mean = 0, variance = 0;
    snprintf(full, sizeof full, "%s.weight", name);
    weight = get(w, full, layer);
    snprintf(full, sizeof full, "%s.bias", name);
    bias = get(w, full, layer);
    for (int i = 0; i < HIDDEN; i++) mean += x[i] / HIDDEN;
    for (int i = 0; i < HIDDEN; i++) variance += (x[i] - mean) * (x[i] - mean) / HIDDEN;
    for (int i = 0; i < HIDDEN; i++)
        x[i] = (x[i] - mean) / sqrt(variance + 1e-12) * (double)weight[i] + (double)bias[i];
}

typedef double Rows[SEQUENCE][HIDDEN];

static void attend(Rows q, Rows k, Rows v, const int64_t *mask, Rows out)
{
    enum { SIZE = HIDDEN / HEADS };
    for (int h = 0; h < HEADS; h++)
        for (int i = 0; i < SEQUENCE; i++) {
            double score[SEQUENCE], sum = 0;
            for (int j = 0; j < SEQUENCE; j++) {
                score[j] = 0;
                for (int c = h * SIZE; c < (h + 1) * SIZE; c++) score[j] += q[i][c] * k[j][c];
                score[j] = mask[j] ? exp(score[j] / sqrt(SIZE)) : 0;
                sum += score[j];
            }
            for (int c = h * SIZE; c < (h + 1) * SIZE; c++) {
                out[i][c] = 0;
                for (int j = 0; j < SEQUENCE; j++) out[i][c] += score[j] / sum * v[j][c];
            }
        }
}

static void layer_run(const Weights *w, int layer, const int64_t *mask, Rows x)
{
    Rows q, k, v, a;
    for (int i = 0; i < SEQUENCE; i++) {
        linear(w, "encoder.layer.%d.attention.self.query", layer, x[i], HIDDEN, HIDDEN, q[i]);
        linear(w, "encoder.layer.%d.attention.self.key", layer, x[i], HIDDEN, HIDDEN, k[i]);
        linear(w, "encoder.layer.%d.attention.self.value", layer, x[i], HIDDEN, HIDDEN, v[i]);
    }
    attend(q, k, v, mask, a);
    for (int i = 0; i < SEQUENCE; i++) {
        double y[HIDDEN], inner[INNER];
        linear(w, "encoder.layer.%d.attention.output.dense", layer, a[i], HIDDEN, HIDDEN, y);
        for (int c = 0; c < HIDDEN; c++) x[i][c] += y[c];
        norm(w, "encoder.layer.%d.attention.output.LayerNorm", layer, x[i]);
        linear(w, "encoder.layer.%d.intermediate.dense", layer, x[i], HIDDEN, INNER, inner);
        for (int c = 0; c < INNER; c++) inner[c] = 0.5 * inner[c] * (1 + erf(inner[c] / sqrt(2)));
        linear(w, "encoder.layer.%d.output.dense", layer, inner, INNER, HIDDEN, y);
        for (int c = 0; c < HIDDEN; c++) x[i][c] += y[c];
        norm(w, "encoder.layer.%d.output.LayerNorm", layer, x[i]);
    }
}

static const int64_t ids[BATCH][SEQUENCE]   = {{3, 1, 10, 7, 0}, {2, 2, 9, 0, 5}};
static const int64_t masks[BATCH][SEQUENCE] = {{1, 1, 1, 1, 0}, {1, 1, 1, 1, 1}};
static const int64_t kinds[BATCH][SEQUENCE] = {{0, 0, 1, 1, 0}, {0, 1, 1, 1, 1}};

static void bert_run(const Weights *w, int b, Rows x)
{
    for (int i = 0; i < SEQUENCE; i++) {
        for (int c = 0; c < HIDDEN; c++)
            x[i][c] = (double)get(w, "embeddings.word_embeddings.weight", 0)[ids[b][i] * HIDDEN + c] +
                      (double)get(w, "embeddings.position_embeddings.weight", 0)[i * HIDDEN + c] +
                      (double)get(w, "embeddings.token_type_embeddings.weight", 0)[kinds[b][i] * HIDDEN + c];
        norm(w, "embeddings.LayerNorm", 0, x[i]);
    }
    for (int layer = 0; layer < LAYERS; layer++) layer_run(w, layer, masks[b], x);
}

static void pool_run(const Weights *w, Rows x, double *out)
{
    linear(w, "pooler.dense", 0, x[0], HIDDEN, HIDDEN, out);
    for (int c = 0; c < HIDDEN; c++) out[c] = tanh(out[c]);
}

// ---- running

// Compiles the folder, runs it on the inputs above, and hands out the outputs. To be closed.
static HoloSession *run(const char *folder, HoloModel **out_model)
{
    HoloSession *session;
    HoloTensor   in = {.dtype = HOLO_I64, .rank = 2, .dim = {BATCH, SEQUENCE}};
    EXPECT_OK(holo_compile_model(NULL, folder, out_model, NULL, &error));
    EXPECT_OK(holo_session_create(*out_model, NULL, &session, &error));
    const void *data[] = {ids, masks, kinds};
    assert_int_equal(holo_model_input_count(*out_model), 3);
    for (int i = 0; i < 3; i++) {
        in.data = (void *)data[i];
        EXPECT_OK(holo_session_set_input(session, i, &in, &error));
    }
    EXPECT_OK(holo_session_run(session, &error));
    return session;
}

static HoloTensor output(const HoloSession *session, int index)
{
    HoloTensor t;
    EXPECT_OK(holo_session_output(session, index, &t, &error));
    return t;
}

static void expect_near(double got, double want, double off)
{
    if (!(fabs(got - want) <= off)) fail_msg("%.9g where %.9g is right", got, want);
}

static void expect_bert(const char *folder, const Weights *w, double off)
{
    HoloModel   *model;
    HoloSession *session = run(folder, &model);
    HoloTensor   last = output(session, 0), pooled = output(session, 1);
    assert_string_equal(holo_model_output(model, 0)->name, "last_hidden_state");
    assert_string_equal(holo_model_output(model, 1)->name, "pooler_output");
    for (int b = 0; b < BATCH; b++) {
        Rows   x;
        double want[HIDDEN];
        bert_run(w, b, x);
        pool_run(w, x, want);
        for (int i = 0; i < SEQUENCE * HIDDEN; i++)
            expect_near(holo_get_f(&last, b * SEQUENCE * HIDDEN + i), x[i / HIDDEN][i % HIDDEN], off);
        for (int c = 0; c < HIDDEN; c++) expect_near(holo_get_f(&pooled, b * HIDDEN + c), want[c], off);
    }
    holo_session_destroy(session);
    holo_model_close(model);
}

// A mask that is left out is all ones, token types are all 0. A second run has other sizes.
static void test_left_out(void **state)
{
    (void)state;
    static const int64_t ones[BATCH][SEQUENCE] = {{1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}}, zeros[BATCH][SEQUENCE];
    const void          *data[]                = {ids, ones, zeros};
    Weights              w                     = bert_weights();
    HoloModel           *model;
    HoloSession         *all, *some;
    EXPECT_OK(holo_compile_model(NULL, save_folder("left_out", "BertModel", &w, &(Form){0}), &model, NULL, &error));
    EXPECT_OK(holo_session_create(model, NULL, &all, &error));
    EXPECT_OK(holo_session_create(model, NULL, &some, &error));
    for (int i = 0; i < 3; i++) assert_int_equal(holo_model_input(model, i)->optional, i > 0);
    EXPECT_FAIL(holo_session_run(some, &error), HOLO_BAD_INPUT, "input input_ids is not set");
    for (int batch = 1; batch <= BATCH; batch++) {
        HoloTensor in = {.dtype = HOLO_I64, .rank = 2, .dim = {batch, SEQUENCE}};
        for (int i = 0; i < 3; i++) {
            in.data = (void *)data[i];
            EXPECT_OK(holo_session_set_input(all, i, &in, &error));
            if (!i) EXPECT_OK(holo_session_set_input(some, i, &in, &error));
        }
        EXPECT_OK(holo_session_run(all, &error));
        EXPECT_OK(holo_session_run(some, &error));
        HoloTensor want = output(all, 0), got = output(some, 0);
        assert_int_equal(holo_tensor_bytes(&want), holo_tensor_bytes(&got));
        assert_memory_equal(want.data, got.data, holo_tensor_bytes(&want));
    }
    holo_session_destroy(all);
    holo_session_destroy(some);
    holo_model_close(model);
    weights_free(&w);
}

static void test_forms_of_folders(void **state)
{
    (void)state;
    static const Form forms[] = {
        {0},
        {.prefix = "bert."},
        {.is_old = true},
        {.prefix = "bert.", .is_old = true, .is_sharded = false},
        {.is_sharded = true},
        {.is_f16 = true},
    };
    Weights w = bert_weights();
    for (int i = 0; i < HOLO_COUNT(forms); i++) {
        char name[16];
        snprintf(name, sizeof name, "bert%d", i);
        expect_bert(save_folder(name, "BertModel", &w, &forms[i]), &w, forms[i].is_f16 ? 0.03 : 1e-5);
    }
    weights_free(&w);
}

static void test_heads(void **state)
{
    (void)state;
    Weights w = bert_weights();
    weights_add_linear(&w, "classifier", HIDDEN, LABELS);
    weights_add_linear(&w, "qa_outputs", HIDDEN, 2);
    HoloModel   *model;
    HoloSession *session;
    Rows         x[BATCH];
    double       pooled[HIDDEN], want[LABELS];
    for (int b = 0; b < BATCH; b++) bert_run(&w, b, x[b]);

    session      = run(save_folder("class", "BertForSequenceClassification", &w, &(Form){0}), &model);
    HoloTensor t = output(session, 0);
    assert_int_equal(t.rank, 2);
    assert_int_equal(t.dim[1], LABELS);
    assert_string_equal(holo_model_meta_find(model, "source.unused_weights"), "2, qa_outputs.bias, qa_outputs.weight");
    for (int b = 0; b < BATCH; b++) {
        pool_run(&w, x[b], pooled);
        linear(&w, "classifier", 0, pooled, HIDDEN, LABELS, want);
        for (int c = 0; c < LABELS; c++) expect_near(holo_get_f(&t, b * LABELS + c), want[c], 1e-5);
    }
    holo_session_destroy(session);
    holo_model_close(model);

    session = run(save_folder("tokens", "BertForTokenClassification", &w, &(Form){0}), &model);
    t       = output(session, 0);
    assert_int_equal(t.rank, 3);
    linear(&w, "classifier", 0, x[1][2], HIDDEN, LABELS, want);
    for (int c = 0; c < LABELS; c++) expect_near(holo_get_f(&t, (SEQUENCE + 2) * LABELS + c), want[c], 1e-5);
    holo_session_destroy(session);
    holo_model_close(model);

    session = run(save_folder("answers", "BertForQuestionAnswering", &w, &(Form){0}), &model);
    linear(&w, "qa_outputs", 0, x[1][2], HIDDEN, 2, want);
    assert_string_equal(holo_model_output(model, 1)->name, "end_logits");
    for (int i = 0; i < 2; i++) {
        t = output(session, i);
        expect_near(holo_get_f(&t, SEQUENCE + 2), want[i], 1e-5);
    }
    holo_session_destroy(session);
    holo_model_close(model);
    weights_free(&w);
}

// The last product is with the embeddings of words, where it has no weights of its own.
static void test_masked_words(void **state)
{
    (void)state;
    Weights w = bert_weights();
    weights_add_linear(&w, "cls.predictions.transform.dense", HIDDEN, HIDDEN);
    weights_add_norm(&w, "cls.predictions.transform.LayerNorm");
    weights_add(&w, "cls.predictions.bias", VOCAB, 0);
    HoloModel   *model;
    HoloSession *session = run(save_folder("words", "BertForMaskedLM", &w, &(Form){0}), &model);
    HoloTensor   t       = output(session, 0);
    Rows         x;
    double       h[HIDDEN];
    assert_int_equal(t.dim[2], VOCAB);
    assert_string_equal(holo_model_output(model, 0)->name, "logits");
    bert_run(&w, 1, x);
    linear(&w, "cls.predictions.transform.dense", 0, x[3], HIDDEN, HIDDEN, h);
    for (int c = 0; c < HIDDEN; c++) h[c] = 0.5 * h[c] * (1 + erf(h[c] / sqrt(2)));
    norm(&w, "cls.predictions.transform.LayerNorm", 0, h);
    for (int v = 0; v < VOCAB; v++) {
        double want = (double)get(&w, "cls.predictions.bias", 0)[v];
        for (int c = 0; c < HIDDEN; c++)
            want += h[c] * (double)get(&w, "embeddings.word_embeddings.weight", 0)[v * HIDDEN + c];
        expect_near(holo_get_f(&t, (SEQUENCE + 3) * VOCAB + v), want, 1e-5);
    }
    holo_session_destroy(session);
    holo_model_close(model);
    weights_free(&w);
}

// Without a pooler there is one output less; the metadata say what the model is.
static void test_without_pooler(void **state)
{
    (void)state;
    Weights    w = bert_weights();
    HoloModel *model;
    EXPECT_OK(holo_compile_model(NULL, save_folder("bare", "BertModel", &w, &(Form){.without = "pooler"}), &model, NULL,
                                 &error));
    assert_int_equal(holo_model_output_count(model), 1);
    assert_string_equal(holo_model_meta_find(model, "source.format"), "HuggingFace");
    assert_string_equal(holo_model_meta_find(model, "source.architecture"), "BertModel");
    assert_string_equal(holo_model_meta_find(model, "source.model_type"), "bert");
    assert_string_equal(holo_model_meta_find(model, "source.producer"), "transformers 4.1");
    assert_null(holo_model_meta_find(model, "source.opset"));
    assert_null(holo_model_meta_find(model, "source.unused_weights"));
    holo_model_close(model);
    weights_free(&w);
}

// ---- what is refused

#define EXPECT_REFUSED(folder, status, words)                                                   \
    do {                                                                                        \
        HoloModel *refused;                                                                     \
        EXPECT_FAIL(holo_compile_model(NULL, (folder), &refused, NULL, &error), status, words); \
    } while (0)

static void test_refused(void **state)
{
    (void)state;
    Weights w = bert_weights();
    EXPECT_REFUSED(
        save_folder("other", "LlamaForCausal", &w, &(Form){0}), HOLO_UNSUPPORTED,
        "no description of the architecture LlamaForCausal (model type bert); the nearest that is known is LlamaForCausalLM. ");
    EXPECT_REFUSED(save_folder("less", "BertModel", &w, &(Form){.without = "layer.1.output.dense.weight"}),
                   HOLO_BAD_MODEL, "needs the weight 'encoder.layer.1.output.dense.weight', which is missing");
    EXPECT_REFUSED(save_folder("act", "BertModel", &w, &(Form){.config = ", \"hidden_act\": \"sine\""}),
                   HOLO_UNSUPPORTED, "activation 'sine' is not known; known are gelu");
    EXPECT_REFUSED(
        save_folder("rel", "BertModel", &w, &(Form){.config = ", \"position_embedding_type\": \"relative_key\""}),
        HOLO_UNSUPPORTED, "its positions are 'relative_key'");
    EXPECT_REFUSED(save_folder("kind", "BertModel", &w, &(Form){.config = ", \"type_vocab_size\": 3"}), HOLO_BAD_MODEL,
                   "'embeddings.token_type_embeddings.weight' has sizes [2, 8]; by the model's config they are [3, 8]");
    EXPECT_REFUSED(save_folder("text", "BertModel", &w, &(Form){.config = ", \"type_vocab_size\": \"two\""}),
                   HOLO_BAD_MODEL, "'type_vocab_size' should be a whole number");
    EXPECT_REFUSED(save_folder("json", "BertModel", &w, &(Form){.config = ", "}), HOLO_BAD_MODEL,
                   "config.json, line 1: this is not JSON");
    const char *folder = save_folder("shards", "BertModel", &w, &(Form){.is_sharded = true});
    assert_true(holo_file_remove(path_in("shards", "model-00002-of-00002.safetensors")));
    EXPECT_REFUSED(folder, HOLO_NO_FILE, "model-00002-of-00002.safetensors");
    const char *index = "{\"weight_map\": {\"a\": \"../x.safetensors\"}}";
    file_write(path_in("shards", "model.safetensors.index.json"), index, strlen(index));
    EXPECT_REFUSED(folder, HOLO_NO_FILE, "is not a plain path below the model's folder");
    index = "{\"weight_map\": {\"a\": \"model-00001-of-00002.safetensors\"}}";
    file_write(path_in("shards", "model.safetensors.index.json"), index, strlen(index));
    EXPECT_REFUSED(folder, HOLO_BAD_MODEL, "the weight 'a' is not in its file");
    index = "{}";
    file_write(path_in("shards", "model.safetensors.index.json"), index, strlen(index));
    EXPECT_REFUSED(folder, HOLO_BAD_MODEL, "no weight_map");
    (void)holo_folder_make(temp_path("pickled"), false);
    save_config("pickled", "BertModel", NULL);
    file_write(path_in("pickled", "pytorch_model.bin"), "\x80\2", 2);
    EXPECT_REFUSED(temp_path("pickled"), HOLO_BAD_MODEL,
                   "pytorch_model.bin, byte 2: the pickle is broken: it is cut off");
    weights_free(&w);
}

// Sizes that a config makes up are refused by the weights, which are not there.
static void test_hostile_configs(void **state)
{
    (void)state;
    static const char *const keys[]   = {"vocab_size",          "hidden_size",       "num_hidden_layers",
                                         "num_attention_heads", "intermediate_size", "max_position_embeddings",
                                         "type_vocab_size"};
    static const char *const values[] = {"0",   "-1",  "9223372036854775807", "-9223372036854775808", "3", "1e300",
                                         "[1]", "true"};
    Weights                  w        = bert_weights();
    const char              *folder   = save_folder("hostile", "BertModel", &w, &(Form){0});
    for (int k = 0; k < HOLO_COUNT(keys); k++)
        for (int v = 0; v < HOLO_COUNT(values); v++) {
            char       text[200];
            HoloError  error = {0};
            HoloModel *model;
            int        size =
                snprintf(text, sizeof text, "{\"architectures\": [\"BertModel\"], \"%s\": %s}", keys[k], values[v]);
            file_write(path_in("hostile", "config.json"), text, (size_t)size);
            assert_int_not_equal(holo_compile_model(NULL, folder, &model, NULL, &error), HOLO_OK);
            assert_true(error.text[0]);
        }
    weights_free(&w);
}

// ---- a checkpoint with PyTorch's answers

static void expect_answers(const char *folder, const HoloModel *model, int set)
{
    HoloSession *session;
    HoloTensors *files[2], *want;
    char         path[600];
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/test_data_set_%d/input_%d.pb", folder, set, i);
        EXPECT_OK(holo_tensors_read(path, NULL, &files[i], &error));
        EXPECT_OK(holo_session_set_input(session, i, holo_tensors_get(files[i], 0, NULL), &error));
    }
    HoloTensor zeros = *holo_tensors_get(files[0], 0, NULL); // as PyTorch takes them where they are not given
    zeros.data       = calloc((size_t)holo_tensor_count(&zeros), 8);
    EXPECT_OK(holo_session_set_input(session, 2, &zeros, &error));
    EXPECT_OK(holo_session_run(session, &error));
    for (int i = 0; i < holo_model_output_count(model); i++) {
        snprintf(path, sizeof path, "%s/test_data_set_%d/output_%d.pb", folder, set, i);
        EXPECT_OK(holo_tensors_read(path, NULL, &want, &error));
        const HoloTensor *right   = holo_tensors_get(want, 0, NULL);
        HoloTensor        got     = output(session, i);
        double            largest = 0, worst = 0;
        assert_int_equal(holo_tensor_count(&got), holo_tensor_count(right));
        for (int64_t k = 0; k < holo_tensor_count(right); k++) {
            largest = fmax(largest, fabs(holo_get_f(right, k)));
            worst   = fmax(worst, fabs(holo_get_f(right, k) - holo_get_f(&got, k)));
        }
        printf("           set %d, output %d: off by %.2g of the largest value\n", set, i, worst / largest);
        assert_true(worst <= 1e-4 * largest);
        holo_tensors_destroy(want);
    }
    free(zeros.data);
    for (int i = 0; i < 2; i++) holo_tensors_destroy(files[i]);
    holo_session_destroy(session);
}

static void test_checkpoint(void **state)
{
    (void)state;
    const char *models = getenv("HOLO_HF_MODELS");
    char        folder[500];
    snprintf(folder, sizeof folder, "%s/checkpoints/bert", models ? models : "../shared/models/hf");
    if (!holo_path_is_folder(folder)) {
        printf("           there is no %s: not tested (HOLO_HF_MODELS names another folder)\n", folder);
        skip();
    }
    HoloModel *model;
    EXPECT_OK(holo_compile_model(NULL, folder, &model, NULL, &error));
    for (int set = 0; set < 2; set++) expect_answers(folder, model, set);
    holo_model_close(model);
}

static void copy_file(const char *from, const char *to)
{
    HoloMapping file;
    EXPECT_OK(holo_file_map(from, &file, &error));
    file_write(to, file.data, file.size);
    holo_file_unmap(&file);
}

// The same weights as torch.save wrote them.
static void test_saved_by_pytorch(void **state)
{
    (void)state;
    const char *models = getenv("HOLO_HF_MODELS");
    char        folder[500], path[600];
    snprintf(folder, sizeof folder, "%s/checkpoints/bert", models ? models : "../shared/models/hf");
    if (!holo_path_is_folder(folder)) skip();
    (void)holo_folder_make(temp_path("saved"), false);
    snprintf(path, sizeof path, "%s/config.json", folder);
    copy_file(path, path_in("saved", "config.json"));
    snprintf(path, sizeof path, "%s/state_dict.pt", folder);
    copy_file(path, path_in("saved", "pytorch_model.bin"));
    HoloModel *model;
    EXPECT_OK(holo_compile_model(NULL, temp_path("saved"), &model, NULL, &error));
    for (int set = 0; set < 2; set++) expect_answers(folder, model, set);
    holo_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms_of_folders), cmocka_unit_test(test_heads),
        cmocka_unit_test(test_masked_words),     cmocka_unit_test(test_without_pooler),
        cmocka_unit_test(test_refused),          cmocka_unit_test(test_hostile_configs),
        cmocka_unit_test(test_checkpoint),       cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_saved_by_pytorch),
    };
    return cmocka_run_group_tests_name("huggingface", tests, NULL, NULL);
}
