// cmd_classify.c - hologram classify: the labels that a model gives to texts, to their tokens, or to pictures.

#include "image_input.h"
#include "json.h"
#include "language.h"
#include "text_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum Problem { ONE_LABEL, MANY_LABELS, REGRESSION } Problem;

typedef struct Classifier {
    CliReader    reader;
    const char **label;
    int64_t      label_count;
    Problem      problem;
    int64_t      top;
    Json         json;
    bool         as_json, has_heads;
    int          picture; // the input that pictures are for; -1: the model reads texts
} Classifier;

typedef struct Score {
    int64_t id;
    double  score;
} Score;

// ---- labels

static void labels_read(Classifier *c)
{
    HoloString all;
    int64_t    room = 0;
    if (!holo_model_asset(c->reader.model, "labels", &all)) return;
    for (const char *at = all.data, *end = all.data + all.size, *stop; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        if (c->label_count == room) {
            c->label = cli_grow(c->label, (size_t)room, (size_t)room * 2 + 64, sizeof *c->label);
            room     = room * 2 + 64;
        }
        c->label[c->label_count++] = cli_format("%.*s", (int)(stop - at), at);
    }
}

static const char *label_of(const Classifier *c, int64_t id)
{
    return id < c->label_count ? c->label[id] : cli_format("LABEL_%lld", (long long)id);
}

// ---- scores

static void softmax(Score *s, int64_t count)
{
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < count; i++) most = fmax(most, s[i].score);
    for (int64_t i = 0; i < count; i++) sum += s[i].score = exp(s[i].score - most);
    for (int64_t i = 0; i < count; i++) s[i].score /= sum;
}

static int by_score(const void *a, const void *b)
{
    const Score *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return x->id < y->id ? -1 : x->id > y->id;
}

// Row `row` of the model's scores, the best first. A model with one label says how sure it is of it.
static Score *scores_of(const Classifier *c, const HoloTensor *t, int64_t row)
{
    int64_t count = t->dim[t->rank - 1];
    double *x     = cli_take((size_t)count, sizeof *x);
    Score  *s     = cli_take((size_t)count, sizeof *s);
    holo_tensor_numbers(t, row * count, count, x);
    for (int64_t i = 0; i < count; i++) s[i] = (Score){i, x[i]};
    if (c->problem == MANY_LABELS || (c->problem == ONE_LABEL && count == 1))
        for (int64_t i = 0; i < count; i++) s[i].score = 1 / (1 + exp(-s[i].score));
    else if (c->problem == ONE_LABEL)
        softmax(s, count);
    qsort(s, (size_t)count, sizeof *s, by_score);
    return s;
}

static int scores_find(const Classifier *c, HoloTensor *out)
{
    static const char *const names[] = {"logits", "scores", "probabilities", NULL};
    HoloError                error   = {0};
    CliText                  type;
    bool                     is_found = cli_reader_output(&c->reader, names, out);
    if (!is_found && holo_model_output_count(c->reader.model) == 1)
        is_found = !holo_session_output(c->reader.session, 0, out, &error);
    if (!is_found)
        return cli_fail("hologram run shows any outputs",
                        "%s: the model gives no scores of labels: its outputs are %s, and not logits", c->reader.path,
                        cli_port_names(c->reader.model, false));
    if (out->kind != HOLO_TENSOR || out->dtype == HOLO_STRING || (out->rank != 2 && out->rank != 3) ||
        out->dim[0] != 1 || holo_tensor_count(out) <= 0)
        return cli_fail("hologram run shows any outputs",
                        "%s: the scores of labels are %s, and should be [1, labels] or [1, tokens, labels]",
                        c->reader.path, cli_type(&type, out, NULL));
    int64_t count = out->dim[out->rank - 1];
    if (out->rank == 3 ? c->label_count != count : c->label_count > count)
        return cli_fail(out->rank == 3 ? "hologram generate generates text with a language model" : NULL,
                        "%s: the model gives %lld scores%s, but has %lld labels", c->reader.path, (long long)count,
                        out->rank == 3 ? " for each token" : "", (long long)c->label_count);
    return CLI_OK;
}

// ---- what comes out

static void print_head(Classifier *c, const char *kind, HoloString name)
{
    if (c->as_json) {
        json_open(&c->json, NULL, '{');
        json_text(&c->json, kind, cli_format("%.*s", (int)name.size, name.data));
    } else if (c->has_heads) {
        printf("%s%.*s%s\n", cli_color(stdout, "bold"), (int)name.size, name.data, cli_color(stdout, "reset"));
    }
}

static void json_score(Classifier *c, const Score *s)
{
    json_text(&c->json, "label", label_of(c, s->id));
    json_int(&c->json, "id", s->id);
    json_number(&c->json, "score", s->score);
}

static void print_labels(Classifier *c, const HoloTensor *t)
{
    const Score *s = scores_of(c, t, 0);
    if (c->as_json) json_open(&c->json, "labels", '[');
    for (int64_t i = 0; i < t->dim[1] && i < c->top; i++) {
        if (c->as_json) {
            json_open(&c->json, NULL, '{');
            json_score(c, &s[i]);
            json_close(&c->json, '}');
        } else {
            printf("%s%.6f  %s\n", c->has_heads ? "  " : "", s[i].score, label_of(c, s[i].id));
        }
    }
    if (c->as_json) json_close(&c->json, ']');
}

// The best label of each token that is of the text itself.
static void print_tokens(Classifier *c, const HoloTensor *t)
{
    const CliReader *r = &c->reader;
    if (c->as_json) json_open(&c->json, "tokens", '[');
    for (int64_t i = r->first; i < t->dim[1] && i < r->end; i++) {
        HoloString   token = holo_tokenizer_token(r->tokenizer, r->ids[i]);
        const Score *s     = scores_of(c, t, i);
        if (c->as_json) {
            json_open(&c->json, NULL, '{');
            json_text(&c->json, "token", cli_format("%.*s", (int)token.size, token.data ? token.data : ""));
            json_score(c, s);
            json_close(&c->json, '}');
        } else {
            printf("%s%.6f  %-12s %.*s\n", c->has_heads ? "  " : "", s->score, label_of(c, s->id), (int)token.size,
                   token.data ? token.data : "");
        }
    }
    if (c->as_json) json_close(&c->json, ']');
}

// ---- texts and pictures

// The input for a picture of a model that reads nothing else; -1: there is none.
static int find_picture(const HoloModel *model)
{
    int found = holo_model_input_find(model, "pixel_values"), needed = 0;
    for (int i = 0; i < holo_model_input_count(model); i++) {
        const HoloPort *port = holo_model_input(model, i);
        if (found < 0 && port->type.rank == 4) found = i;
        needed += !port->optional && !port->any_shape;
    }
    return needed == 1 && found >= 0 && !holo_model_input(model, found)->optional ? found : -1;
}

static int run_picture(const Cli *cli, Classifier *c, const char *path)
{
    const HoloPort *port   = holo_model_input(c->reader.model, c->picture);
    CliInput        input  = {0};
    HoloError       error  = {0};
    int             result = cli_image_prepare(cli, c->reader.model, port, path, &input);
    if (result) return result;
    HoloStatus status = holo_session_set_input(c->reader.session, c->picture, input.tensor, &error);
    if (!status) status = holo_session_run(c->reader.session, &error);
    holo_tensors_destroy(input.tensors);
    return status ? cli_fail_error(path, &error, status) : CLI_OK;
}

static int classify_one(const Cli *cli, Classifier *c, HoloString item)
{
    HoloTensor  t;
    const char *path   = cli_format("%.*s", (int)item.size, item.data);
    int         result = c->picture < 0 ? cli_reader_run(&c->reader, item) : run_picture(cli, c, path);
    if (!result) result = scores_find(c, &t);
    if (!result && c->picture >= 0 && t.rank != 2)
        result = cli_fail("hologram run shows any outputs", "%s: the model has no labels for a whole picture",
                          c->reader.path);
    if (result) return result;
    print_head(c, c->picture < 0 ? "text" : "picture", item);
    if (t.rank == 2)
        print_labels(c, &t);
    else
        print_tokens(c, &t);
    if (c->as_json) json_close(&c->json, '}');
    return CLI_OK;
}

static int classify_all(const Cli *cli, Classifier *c, const HoloString *item, int count)
{
    static const char *const problems[] = {"single_label", "multi_label", "regression"};
    int                      result     = CLI_OK;
    if (c->as_json) {
        c->json.out = stdout;
        json_open(&c->json, NULL, '{');
        json_text(&c->json, "file", cli->args[0]);
        json_text(&c->json, "problem", problems[c->problem]);
        json_open(&c->json, "inputs", '[');
    }
    for (int i = 0; i < count && !result; i++) result = classify_one(cli, c, item[i]);
    if (c->as_json) {
        json_close(&c->json, ']');
        json_close(&c->json, '}');
    }
    return result;
}

// ---- the command

static int classifier_open(const Cli *cli, Classifier *c)
{
    double top    = 5;
    int    result = cli_reader_open(cli, 0, &c->reader);
    if (!result) result = cli_read_whole(cli, "top", 1, 1e9, &top);
    if (result) return result;
    c->picture = find_picture(c->reader.model);
    if (c->picture < 0) result = cli_reader_check(&c->reader);
    if (!result && c->picture >= 0 && cli_option(cli, "max-length"))
        result = cli_usage(cli, "--max-length is for texts, but the model reads pictures");
    if (result) return result;
    const char *problem = holo_model_meta_find(c->reader.model, "labels.problem");
    labels_read(c);
    if (problem && !strcmp(problem, "multi_label_classification")) c->problem = MANY_LABELS;
    if (problem && !strcmp(problem, "regression")) c->problem = REGRESSION;
    c->top     = (int64_t)top;
    c->as_json = cli_option(cli, "json");
    return CLI_OK;
}

static int classify(Cli *cli)
{
    Classifier        c      = {0};
    int               count  = 0;
    int               result = classifier_open(cli, &c);
    const HoloString *item   = result ? NULL : cli_texts(cli, 1, &count);
    if (!result && !count) result = cli_fail("hologram classify FILE 'some words'", "there is nothing to classify");
    c.has_heads = count > 1;
    if (!result) result = classify_all(cli, &c, item, count);
    if (!result) result = cli_images_check(cli);
    cli_reader_close(&c.reader);
    return result;
}

static const CliOption options[] = {
    {"top", 0, "N", "show the best N labels (default 5)"},          CLI_OPTION_MAX_LENGTH, CLI_OPTIONS_IMAGE,
    {"json", 0, NULL, "print the labels and their scores as JSON"}, CLI_OPTION_THREADS,    {0},
};

const CliCommand cli_classify = {
    .name      = "classify",
    .purpose   = "label texts or pictures",
    .arguments = "FILE [TEXT|PICTURE...]",
    .arg_min   = 1,
    .arg_max   = -1,
    .details   = "FILE is an archive of a classification model, or the model itself: a HuggingFace folder, an ONNX\n"
                 "file. Prints the best labels of each text or picture with their scores, or the label of each token\n"
                 "if the model labels tokens. Without TEXT, or if it is -, each line of the standard input is a text,\n"
                 "or the name of a picture file. Pictures are prepared as preprocessor_config.json in the folder says;\n"
                 "without it, or with an option for pictures, as in `hologram run`.",
    .examples  = "  hologram classify model.holo 'what a film' --top 2\n"
                 "  hologram classify model.holo photo.jpg photo.png --json\n"
                 "  hologram classify model_folder - --json < lines.txt\n",
    .options   = options,
    .run       = classify,
};
