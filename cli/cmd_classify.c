// cmd_classify.c - hologram classify: the labels that a model gives to texts, to their tokens, or to pictures.

#include "image_input.h"
#include "json.h"
#include "language.h"
#include "text_input.h"

#include <string.h>

typedef struct Classifier {
    CliReader reader;
    size_t    top;
    Json      json;
    bool      as_json, has_heads, is_open; // is_open: the beginning of the JSON is written
    bool      sees;                        // the model reads pictures
} Classifier;

// ---- what comes out

static const char *text_of(HoloString s)
{
    return cli_format("%.*s", (int)s.size, s.data ? s.data : "");
}

static void print_head(Classifier *c, HoloString name)
{
    if (c->as_json) {
        json_open(&c->json, NULL, '{');
        json_text(&c->json, c->sees ? "picture" : "text", text_of(name));
    } else if (c->has_heads) {
        printf("%s%.*s%s\n", cli_color(stdout, "bold"), (int)name.size, name.data, cli_color(stdout, "reset"));
    }
}

static void json_label(Classifier *c, const HoloLabel *label, bool has_token)
{
    json_open(&c->json, NULL, '{');
    if (has_token) json_text(&c->json, "token", text_of(label->token));
    json_text(&c->json, "label", text_of(label->name));
    json_int(&c->json, "id", label->id);
    json_number(&c->json, "score", label->score);
    json_close(&c->json, '}');
}

// The best labels, or the label of each token.
static void print_labels(Classifier *c, const HoloLabels *l)
{
    const char *edge = c->has_heads ? "  " : "";
    if (c->as_json) json_open(&c->json, l->is_of_tokens ? "tokens" : "labels", '[');
    for (size_t i = 0; i < l->count && (l->is_of_tokens || i < c->top); i++) {
        const HoloLabel *one = &l->label[i];
        if (c->as_json)
            json_label(c, one, l->is_of_tokens);
        else if (l->is_of_tokens)
            printf("%s%.6f  %-12s %s\n", edge, one->score, text_of(one->name), text_of(one->token));
        else
            printf("%s%.6f  %s\n", edge, one->score, text_of(one->name));
    }
    if (c->as_json) json_close(&c->json, ']');
}

// ---- texts and pictures

// As the model says, or as options for pictures do.
static int run_picture(const Cli *cli, Classifier *c, const char *path, HoloLabels *out)
{
    HoloError  error = {0};
    CliInput   input = {0};
    HoloStatus status;
    if (cli_image_is_said(cli, c->reader.model)) {
        status = holo_classify_picture(c->reader.reader, path, out, &error);
        return status ? cli_fail_error(path, &error, status) : CLI_OK;
    }
    const HoloPort *port   = holo_model_input(c->reader.model, cli_image_port(c->reader.model));
    int             result = cli_image_read(cli, port, &port->type, path, &input);
    if (result) return result;
    status = holo_classify_tensor(c->reader.reader, input.tensor, out, &error);
    holo_tensors_destroy(input.tensors);
    return status ? cli_fail_error(path, &error, status) : CLI_OK;
}

static int run_text(Classifier *c, HoloString text, HoloLabels *out)
{
    HoloError  error  = {0};
    HoloStatus status = holo_classify(c->reader.reader, text.data, text.size, out, &error);
    return status ? cli_reader_fail(&c->reader, &error, status) : CLI_OK;
}

// Once the first answer says what the scores are.
static void begin(const Cli *cli, Classifier *c, HoloLabelKind kind)
{
    static const char *const problems[] = {"single_label", "multi_label", "regression"};
    if (!c->as_json || c->is_open) return;
    c->is_open  = true;
    c->json.out = stdout;
    json_open(&c->json, NULL, '{');
    json_text(&c->json, "file", cli->args[0]);
    json_text(&c->json, "problem", problems[kind]);
    json_open(&c->json, "inputs", '[');
}

static int classify_one(const Cli *cli, Classifier *c, HoloString item)
{
    HoloLabels labels = {0};
    int        result = c->sees ? run_picture(cli, c, text_of(item), &labels) : run_text(c, item, &labels);
    if (result) return result;
    begin(cli, c, labels.kind);
    print_head(c, item);
    print_labels(c, &labels);
    if (c->as_json) json_close(&c->json, '}');
    return CLI_OK;
}

static int classify_all(const Cli *cli, Classifier *c, const HoloString *item, int count)
{
    int result = CLI_OK;
    for (int i = 0; i < count && !result; i++) result = classify_one(cli, c, item[i]);
    if (c->is_open) {
        json_close(&c->json, ']');
        json_close(&c->json, '}');
    }
    return result;
}

// ---- the command

static int classifier_open(const Cli *cli, Classifier *c)
{
    double            top     = 5;
    HoloReaderOptions options = {0};
    int               result  = cli_reader_open(cli, 0, &options, &c->reader);
    if (!result) result = cli_read_whole(cli, "top", 1, 1e9, &top);
    if (result) return result;
    c->sees = holo_reader_sees(c->reader.reader);
    if (c->sees && cli_option(cli, "max-length"))
        return cli_usage(cli, "--max-length is for texts, but the model reads pictures");
    c->top     = (size_t)top;
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
