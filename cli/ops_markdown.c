// ops_markdown.c - docs/operators.md: the operator table, its tests, and what does not agree with ONNX's suites.

#include "ops_text.h"

#include "base/system.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// ---- the files of the project

static const char *read_one(const char *path)
{
    const char *why, *text = cli_read_text(path, &why);
    return text ? text : "";
}

// The text of all files of a folder whose names begin and end so; "" if there are none.
static const char *read_all(const char *folder, const char *start, const char *end)
{
    HoloFolder found;
    char      *text = "";
    (void)holo_folder_list(folder, &found, NULL);
    for (int i = 0; i < found.count; i++) {
        const char *name = found.name[i];
        size_t      size = strlen(name);
        if (name[0] == '.' || strncmp(name, start, strlen(start))) continue;
        if (size < strlen(end) || strcmp(name + size - strlen(end), end)) continue;
        text = cli_format("%s%s", text, read_one(cli_format("%s/%s", folder, name)));
    }
    holo_folder_free(&found);
    return text;
}

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == ':';
}

// How often the operator occurs in graph text: "Relu@14(", "com.microsoft::Gelu@1(".
static int count_uses(const char *text, const HoloOpInfo *op)
{
    const char *name = cli_format("%s%s%s@", op->domain, *op->domain ? "::" : "", op->name);
    int         uses = 0;
    for (const char *at = text; (at = strstr(at, name)); at += strlen(name)) {
        int version = atoi(at + strlen(name)); // 0: a blank that stands for several
        uses += (at == text || !in_name(at[-1])) &&
                (!version || (version >= op->since && (!op->until || version <= op->until)));
    }
    return uses;
}

// ---- the parts of the page

static const char introduction[] =
    "# Operators\n"
    "\n"
    "`make operators` generates this page, and a test checks that it is up to date.\n"
    "\n"
    "**Types** are the types that the first input may have. float is f16 bf16 f32 f64, int is i8 i16 i32 i64, uint is the\n"
    "unsigned types, f8 is the four 8-bit floats, complex is c64 c128. **Runs** says how the operator runs: by a *kernel*\n"
    "(fast, for common cases; *eval* runs the rest), by *eval* (the slower reference implementation), or as its *body* (made\n"
    "of other operators). If it depends only on constants, the compiler computes it. **Cases** counts single-node graphs in\n"
    "`tests/ops` with expected outputs that a person can check. **Pairs** counts the forms of the operator in the pair suite\n"
    "(`tests/support/sample_table.c`). ONNX's own suites are not counted here (`make onnx`).\n";

static const char *count_text(int count)
{
    return count ? cli_format("%d", count) : "";
}

static void print_operators(void)
{
    const char *cases = read_all("tests/ops", "", ".txt"), *pairs = read_all("tests/support", "sample_table", ".c");
    const char *domain = NULL;
    HoloOpInfo  op;
    for (int i = 0; holo_op_info(i, &op); i++) {
        if (!domain || strcmp(domain, op.domain))
            printf("\n## %s\n\n| operator | versions | types | runs | cases | pairs |\n|---|---|---|---|---|---|\n",
                   op_domain(&op));
        domain = op.domain;
        printf("| %s | %s | %s | %s | %s | %s |\n", op.name, op_versions(&op), op_types(&op), op.runs,
               count_text(count_uses(cases, &op)), count_text(count_uses(pairs, &op)));
    }
}

// A list of known differences: lines "case: reason".
static void print_known(const char *title, const char *path)
{
    const char *at = read_one(path);
    printf("\n%s:\n\n", title);
    if (!*at) printf("- none\n");
    while (*at) {
        size_t      size  = strcspn(at, "\n");
        const char *colon = memchr(at, ':', size);
        if (colon) printf("- `%.*s`%.*s\n", (int)(colon - at), at, (int)(size - (size_t)(colon - at)), colon);
        at += size + (at[size] == '\n');
    }
}

// The names of operators for which `is` is true, as a list in a sentence.
static void print_names(bool (*is)(const HoloOpInfo *op))
{
    const char *last = NULL;
    HoloOpInfo  op;
    for (int i = 0; holo_op_info(i, &op); i++) {
        if (!is(&op) || (last && !strcmp(last, op.name))) continue;
        printf("%s%s", last ? ", " : "", op.name);
        last = op.name;
    }
}

static bool is_random(const HoloOpInfo *op)
{
    return op->is_random;
}

static bool is_refused(const HoloOpInfo *op)
{
    return !strcmp(op->runs, "refused");
}

void ops_markdown(void)
{
    fputs(introduction, stdout);
    print_operators();
    printf("\n## What does not agree with ONNX's suites\n\n"
           "All other cases agree. `make onnx` fails if another case disagrees, or if one of these agrees.\n");
    print_known("ONNX 1.12, as Debian has it (`libonnx-testdata`)", "tests/onnx/known-1.12.txt");
    print_known("The newest suite", "tests/onnx/known-newest.txt");
    printf("\nFor operators that are random by definition, only type, shape and bounds are compared, not values: ");
    print_names(is_random);
    printf(". With a `seed` they give the same numbers in every run.\n\n## What is refused\n\n");
    print_names(is_refused);
    printf(
        ": Hologram runs models and does not train them. A model with this operator is refused with that message, and its\n"
        "tests count as skipped.\n");
}
