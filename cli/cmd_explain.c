// cmd_explain.c - hologram explain: what was known before the first input, what is looked up, what is computed, and
// why.

#include "json.h"
#include "loading.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct Group { // steps of a plan that are alike
    const char *op, *runs;
    bool        is_once; // they depend on no input, so they run once for each set of sizes
    uint64_t    count;
} Group;

typedef struct Subject {
    const char *path;
    HoloModel  *model;
    HoloNote   *notes;
    int         note_count;
    Group      *groups; // the largest first
    int         group_count;
    uint64_t    steps, once;
} Subject;

// ---- what there is to tell

static int by_count(const void *a, const void *b)
{
    const Group *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    int order = strcmp(x->op, y->op);
    return order ? order : strcmp(x->runs, y->runs);
}

static void group_add(Subject *s, const HoloListingNode *node, bool is_once)
{
    s->steps++;
    s->once += is_once;
    for (int i = 0; i < s->group_count; i++) {
        Group *g = &s->groups[i];
        if (g->is_once != is_once || strcmp(g->op, node->op) || strcmp(g->runs, node->runs)) continue;
        g->count++;
        return;
    }
    s->groups[s->group_count++] = (Group){cli_format("%s", node->op), cli_format("%s", node->runs), is_once, 1};
}

// Does a step of the model itself, which is not random and gives no output of the model, depend on no input? `sees` is
// by value. (The runtime finds such steps by itself: see src/runtime/session/reuse.h.)
static bool runs_once(const HoloListing *listing, const HoloListingNode *node, bool *sees)
{
    bool any = node->parent >= 0 || !strncmp(node->op, "Random", 6) || !strcmp(node->op, "Multinomial") ||
               !strcmp(node->op, "Bernoulli") || !strcmp(node->op, "If") || !strcmp(node->op, "Loop") ||
               !strcmp(node->op, "Scan"),
         output = false;
    for (int k = 0; k < node->in_count; k++)
        any = any || (node->in[k] >= 0 && (sees[node->in[k]] || listing->values[node->in[k]].is_input));
    for (int k = 0; k < node->out_count; k++) {
        if (node->out[k] < 0) continue;
        sees[node->out[k]] = any;
        output             = output || listing->values[node->out[k]].is_output;
    }
    return !any && !output;
}

static int subject_read(Subject *s)
{
    HoloError    error = {0};
    HoloListing *listing;
    HoloStatus   status = holo_listing_model(s->model, &listing, &error);
    if (status) return cli_fail_error(s->path, &error, status);
    s->groups  = cli_take((size_t)listing->node_count + 1, sizeof *s->groups);
    bool *sees = cli_take((size_t)listing->value_count + 1, sizeof *sees);
    for (int i = 0; i < listing->node_count; i++)
        group_add(s, &listing->nodes[i], runs_once(listing, &listing->nodes[i], sees));
    qsort(s->groups, (size_t)s->group_count, sizeof *s->groups, by_count);
    holo_listing_close(listing);
    s->note_count = holo_model_note_count(s->model);
    s->notes      = cli_take((size_t)s->note_count + 1, sizeof *s->notes);
    for (int i = 0; i < s->note_count; i++) holo_model_note(s->model, i, &s->notes[i]);
    return CLI_OK;
}

// ---- for people

enum { WIDTH = 100, INDENT = 4 };

static void title(const char *text, const char *meaning)
{
    printf("\n%s%s%s", cli_color(stdout, "bold"), text, cli_color(stdout, "reset"));
    if (*meaning) printf("  %s%s%s", cli_color(stdout, "dim"), meaning, cli_color(stdout, "reset"));
    putchar('\n');
}

// Prints words in lines of WIDTH; each line but the first is indented. `at` is where the first line begins.
static void print_wrapped(const char *text, int at, int indent)
{
    while (*text) {
        int size = (int)strcspn(text, " ");
        if (at > indent && at + size > WIDTH) {
            printf("\n%*s", indent, "");
            at = indent;
        }
        printf("%.*s", size, text);
        at += size;
        text += size;
        if (*text == ' ') {
            if (text[1]) putchar(' ');
            at++;
            text++;
        }
    }
    putchar('\n');
}

static bool is_of(const HoloNote *note, const char *pass)
{
    return note->verdict == HOLO_VERDICT_MADE && !strcmp(note->pass, pass);
}

// Operators that were removed in the same way, as one sentence: "14: 6 Shape, 4 Gather ..."
static void print_gone(const Subject *s, const char *pass, const char *name, const char *meaning)
{
    uint64_t all  = 0;
    char    *list = cli_format("%s", "");
    for (int i = 0; i < s->note_count; i++)
        if (is_of(&s->notes[i], pass)) {
            list = cli_format("%s%s%" PRIu64 " %s", list, all ? ", " : "", s->notes[i].count, s->notes[i].what);
            all += s->notes[i].count;
        }
    if (!all) return;
    title(name, meaning);
    printf("%*s", INDENT, "");
    print_wrapped(cli_format("%" PRIu64 " operator%s: %s", all, all == 1 ? "" : "s", list), INDENT, INDENT + 2);
}

static bool is_lookup(const HoloNote *note)
{
    static const char *const others[] = {"fold", "contents", "cse", "plan", "devices"}; // reported in another way
    for (int i = 0; i < CLI_COUNT(others); i++)
        if (is_of(note, others[i])) return false;
    return note->verdict == HOLO_VERDICT_MADE;
}

// What a decision is about, in plain words; the pass's own name if there are none.
static const char *subject_of(const HoloNote *note)
{
    static const char *const words[][2] = {
        {"tables", "operators on an element of 8 or 16 bits"},
        {"rows", "work on the rows of a constant table"},
        {"few", "everything that depends only on some inputs"},
        {"fold", "a known value"},
        {"contents", "a value that depends only on sizes"},
        {"onehot", "rows of a matrix"},
        {"pairs", "operators on two elements of 8 bits"},
        {"codes", "weights with few different numbers"},
        {"approx", "a product with centroids"},
    };
    for (int i = 0; i < CLI_COUNT(words); i++)
        if (!strcmp(words[i][0], note->pass)) return words[i][1];
    return note->pass;
}

static const char *verdict_meaning(uint32_t verdict)
{
    switch (verdict) {
    case HOLO_VERDICT_NOT_FASTER: return "computing it costs no more than looking it up";
    case HOLO_VERDICT_OVER_BUDGET: return "it would take more memory than allowed";
    case HOLO_VERDICT_NOT_FINITE: return "its inputs can have too many values";
    case HOLO_VERDICT_NOT_ALONE: return "it has other inputs, or other nodes need a value inside it";
    case HOLO_VERDICT_FAILS: return "the model itself fails for some inputs";
    case HOLO_VERDICT_TURNED_OFF: return "an option turned it off";
    case HOLO_VERDICT_TOO_LONG: return "computing all of it would take too long";
    case HOLO_VERDICT_UNFIT: return "it is not possible, or not accurate enough";
    }
    return "";
}

static void print_note(const HoloNote *note)
{
    CliText bytes;
    char   *head = cli_format("%s", *note->place ? note->place : note->pass);
    if (note->count > 1) head = cli_format("%s and %" PRIu64 " more", head, note->count - 1);
    printf("%*s%s%s%s", INDENT, "", cli_color(stdout, "cyan"), head, cli_color(stdout, "reset"));
    printf("  %s%s%s%s%s\n", cli_color(stdout, "dim"), subject_of(note), note->bytes ? ", " : "",
           note->bytes ? cli_bytes(&bytes, (double)note->bytes) : "", cli_color(stdout, "reset"));
    if (*note->what) {
        printf("%*s%s", INDENT + 2, "", note->verdict == HOLO_VERDICT_MADE ? "for " : "");
        print_wrapped(note->what, INDENT + 6, INDENT + 4);
    }
    printf("%*s", INDENT + 2, "");
    print_wrapped(note->why, INDENT + 2, INDENT + 4);
}

static void print_lookups(const Subject *s)
{
    bool any = false;
    for (int i = 0; i < s->note_count; i++) {
        if (!is_lookup(&s->notes[i])) continue;
        if (!any) title("looked up, not computed", "and the operators that each replaces");
        any = true;
        print_note(&s->notes[i]);
    }
    if (holo_model_memo_count(s->model)) {
        title("answers in the file", "for these inputs nothing is computed");
        printf("%*s%" PRId64 " patterns\n", INDENT, "", holo_model_memo_count(s->model));
    }
}

static void print_once(const Subject *s)
{
    uint64_t count = 0, bytes = 0;
    CliText  text;
    for (int i = 0; i < s->note_count; i++)
        if (is_of(&s->notes[i], "cse") || is_of(&s->notes[i], "plan")) {
            count += s->notes[i].count;
            bytes += s->notes[i].bytes;
        }
    if (!count) return;
    title("stored once", "equal constants, compared byte by byte");
    printf("%*s%" PRIu64 " constant%s equal to another, %s\n", INDENT, "", count, count == 1 ? "" : "s",
           cli_bytes(&text, (double)bytes));
}

// What plans for the CPU and for devices read, if there are both.
static void print_devices(const Subject *s)
{
    bool any = false;
    for (int i = 0; i < s->note_count; i++) {
        if (!is_of(&s->notes[i], "devices")) continue;
        CliText bytes;
        if (!any) title("stored for devices", "the archive has a plan for the CPU alone, too");
        any = true;
        printf("%*s%s, ", INDENT, "", cli_bytes(&bytes, (double)s->notes[i].bytes));
        print_wrapped(cli_format("%s: %s", s->notes[i].what, s->notes[i].why), INDENT + 12, INDENT + 2);
    }
}

// What was not done, grouped by reason.
static void print_left(const Subject *s)
{
    bool any = false, *said = cli_take((size_t)s->note_count + 1, sizeof *said);
    for (int i = 0; i < s->note_count; i++) {
        if (said[i] || s->notes[i].verdict == HOLO_VERDICT_MADE) continue;
        if (!any) title("left to the run", "what could have been computed in advance, and why it was not");
        any = true;
        printf("  %s%s%s  %s%s%s\n", cli_color(stdout, "yellow"), holo_verdict_text(s->notes[i].verdict),
               cli_color(stdout, "reset"), cli_color(stdout, "dim"), verdict_meaning(s->notes[i].verdict),
               cli_color(stdout, "reset"));
        for (int k = i; k < s->note_count; k++) {
            if (s->notes[k].verdict != s->notes[i].verdict) continue;
            print_note(&s->notes[k]);
            said[k] = true;
        }
    }
}

static void print_steps(const Subject *s, bool once)
{
    uint64_t count = once ? s->once : s->steps - s->once;
    if (once && !count) return;
    title(once ? "computed once for each set of sizes" : "computed in every run",
          cli_format("%" PRIu64 " step%s", count, count == 1 ? "" : "s"));
    for (int i = 0; i < s->group_count; i++) {
        const Group *g    = &s->groups[i];
        bool         eval = !strcmp(g->runs, "eval");
        if (g->is_once != once) continue;
        printf("%*s%6" PRIu64 "  %-28s %s%s%s\n", INDENT, "", g->count, g->op,
               cli_color(stdout, eval ? "yellow" : "dim"), eval ? "plain implementation" : g->runs,
               cli_color(stdout, "reset"));
    }
}

static void print_text(const Subject *s)
{
    const char *before = holo_model_meta_find(s->model, "nodes.before");
    uint64_t    runs   = s->steps - s->once;
    printf("%s%s%s  %s operators in the model, %" PRIu64 " step%s per run\n", cli_color(stdout, "bold"), s->path,
           cli_color(stdout, "reset"), before ? before : "?", runs, runs == 1 ? "" : "s");
    print_gone(s, "fold", "computed while compiling", "these operators needed only constants");
    print_gone(s, "contents", "computed when sizes are known", "once for each set of sizes, not in every run");
    print_lookups(s);
    print_once(s);
    print_devices(s);
    print_steps(s, true);
    print_steps(s, false);
    print_left(s);
    if (!s->note_count)
        printf("\nThe archive has no notes: an earlier version made it, or there was nothing to decide.\n");
}

// ---- for programs

static void print_json(const Subject *s)
{
    Json json = {.out = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "file", s->path);
    json_int(&json, "steps", (int64_t)s->steps);
    json_int(&json, "memo", holo_model_memo_count(s->model));
    json_open(&json, "runs", '[');
    for (int i = 0; i < s->group_count; i++) {
        json_open(&json, NULL, '{');
        json_text(&json, "op", s->groups[i].op);
        json_text(&json, "kernel", s->groups[i].runs);
        json_int(&json, "count", (int64_t)s->groups[i].count);
        json_bool(&json, "once", s->groups[i].is_once);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_open(&json, "notes", '[');
    for (int i = 0; i < s->note_count; i++) {
        const HoloNote *n = &s->notes[i];
        json_open(&json, NULL, '{');
        json_text(&json, "pass", n->pass);
        json_text(&json, "verdict", holo_verdict_text(n->verdict));
        json_text(&json, "place", n->place);
        json_text(&json, "what", n->what);
        json_text(&json, "why", n->why);
        json_int(&json, "count", (int64_t)n->count);
        json_int(&json, "bytes", (int64_t)n->bytes);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

static int explain(Cli *cli)
{
    Subject s      = {0};
    int     result = cli_model_open(cli, 0, &s.model);
    if (result) return result;
    s.path = cli->args[0];
    result = subject_read(&s);
    if (!result && cli_option(cli, "json"))
        print_json(&s);
    else if (!result)
        print_text(&s);
    holo_model_close(s.model);
    return result;
}

static const CliOption options[] = {
    CLI_OPTION_MODEL_SHAPE, CLI_OPTION_MODEL_NUMERIC, CLI_OPTION_DEVICE, {"json", 0, NULL, "print JSON"}, {0},
};

const CliCommand cli_explain = {
    .name      = "explain",
    .purpose   = "explain what the compiler computed in advance, what not, and why",
    .arguments = "FILE",
    .arg_min   = 1,
    .arg_max   = 1,
    .details   = "FILE is an archive, or a model that is compiled in memory first. Lists what became constants\n"
                 "and tables, how large these are and what they replaced, what every run computes, and what\n"
                 "could have become a table but did not, with the reason.",
    .examples  = "  hologram explain model.holo\n"
                 "  hologram explain model.onnx --input-shape x:1,3,224,224\n"
                 "  hologram explain model.holo --json\n",
    .options   = options,
    .run       = explain,
};
