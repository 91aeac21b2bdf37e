// cmd_atlas.c - hologram atlas: the class of a byte, the meaning of a sigil expression, the address of content.

#include "json.h"

#include "hologram_atlas.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// A document that is one list.
static void list_open(Json *json, const char *key)
{
    json_open(json, NULL, '{');
    json_open(json, key, '[');
}

static void list_close(Json *json)
{
    json_close(json, ']');
    json_close(json, '}');
}

// ---- bytes

static const char *const modalities[] = {"neutral", "produce", "consume"};

// A number below 256, decimal or with 0x; -1: it is not such a number.
static int parse_byte(const char *text)
{
    bool          hex    = !strncmp(text, "0x", 2) || !strncmp(text, "0X", 2);
    const char   *digits = hex ? text + 2 : text;
    char         *end;
    unsigned long value = strtoul(digits, &end, hex ? 16 : 10);
    bool          ok    = strspn(digits, "0123456789abcdefABCDEF") == strlen(digits) && *digits && !*end;
    return ok && value < 256 ? (int)value : -1;
}

static void print_byte(int byte, int class_id, HoloAtlasParts parts, const uint8_t *member, int count)
{
    cli_row(stdout, "byte", "0x%02X (%d)", byte, byte);
    cli_row(stdout, "class", "%d", class_id);
    cli_row(stdout, "scope", "%d", parts.scope);
    cli_row(stdout, "modality", "%d, %s", parts.modality, modalities[parts.modality]);
    cli_row(stdout, "slot", "%d", parts.slot);
    cli_row(stdout, "canonical", "0x%02X", holo_atlas_byte(class_id));
    char *text = cli_format("0x%02X", member[0]);
    for (int i = 1; i < count; i++) text = cli_format("%s 0x%02X", text, member[i]);
    cli_row(stdout, "members", "%s", text);
}

static void byte_json(Json *json, int byte, int class_id, HoloAtlasParts parts, const uint8_t *member, int count)
{
    json_open(json, NULL, '{');
    json_int(json, "byte", byte);
    json_int(json, "class", class_id);
    json_int(json, "scope", parts.scope);
    json_int(json, "modality", parts.modality);
    json_int(json, "slot", parts.slot);
    json_int(json, "canonical", holo_atlas_byte(class_id));
    json_open(json, "members", '[');
    for (int i = 0; i < count; i++) json_int(json, NULL, member[i]);
    json_close(json, ']');
    json_close(json, '}');
}

static int atlas_byte(const Cli *cli, Json *json)
{
    for (int i = 1; i < cli->arg_count; i++)
        if (parse_byte(cli->args[i]) < 0)
            return cli_usage(cli, "'%s' is not a byte: give 0 to 255, or 0x00 to 0xFF", cli->args[i]);
    if (json) list_open(json, "bytes");
    for (int i = 1; i < cli->arg_count; i++) {
        int            byte = parse_byte(cli->args[i]), class_id = holo_atlas_class((uint8_t)byte);
        HoloAtlasParts parts;
        uint8_t        member[HOLO_ATLAS_MEMBERS_MAX];
        int            count = holo_atlas_members(class_id, member);
        holo_atlas_parts(class_id, &parts);
        if (json)
            byte_json(json, byte, class_id, parts, member, count);
        else
            print_byte(byte, class_id, parts, member, count);
        if (!json && i + 1 < cli->arg_count) putchar('\n');
    }
    if (json) list_close(json);
    return CLI_OK;
}

// ---- sigils

// The line of the text with the mistake, and a mark below the place.
static char *pointed(const char *text, size_t at)
{
    size_t begin = at, width = 0;
    while (begin > 0 && text[begin - 1] != '\n') begin--;
    for (size_t i = begin; i < at; i++) width += (text[i] & 0xC0) != 0x80;
    return cli_format("%.*s\n  %*s^", (int)strcspn(text + begin, "\n"), text + begin, (int)width, "");
}

static void print_sigil(const HoloSigil *sigil)
{
    printf("%s  %-10s %-6s %-5s %-5s %s%s\n", cli_color(stdout, "bold"), "generator", "class", "byte", "page", "belt",
           cli_color(stdout, "reset"));
    for (int i = 0; i < sigil->leaf_count; i++) {
        const HoloSigilLeaf *leaf = &sigil->leaves[i];
        printf("  %-10s c%-5d 0x%02X", leaf->generator, leaf->class_id, leaf->byte);
        if (leaf->page >= 0) printf("  %-5d %d", leaf->page, leaf->belt);
        putchar('\n');
    }
    printf("%s  words%s\n ", cli_color(stdout, "bold"), cli_color(stdout, "reset"));
    for (int i = 0; i < sigil->word_count; i++) printf(" %s", sigil->words[i]);
    putchar('\n');
}

static void sigil_json(Json *json, const HoloSigil *sigil)
{
    list_open(json, "leaves");
    for (int i = 0; i < sigil->leaf_count; i++) {
        const HoloSigilLeaf *leaf = &sigil->leaves[i];
        json_open(json, NULL, '{');
        json_text(json, "generator", leaf->generator);
        json_int(json, "class", leaf->class_id);
        json_int(json, "byte", leaf->byte);
        if (leaf->page >= 0) json_int(json, "page", leaf->page);
        if (leaf->page >= 0) json_int(json, "belt", leaf->belt);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_open(json, "words", '[');
    for (int i = 0; i < sigil->word_count; i++) json_text(json, NULL, sigil->words[i]);
    list_close(json);
}

static int atlas_sigil(const Cli *cli, Json *json)
{
    const char *text  = cli->args[1];
    HoloError   error = {0};
    HoloSigil  *sigil;
    size_t      at = 0;
    if (cli->arg_count > 2) return cli_usage(cli, "too many arguments: '%s'. Quote the expression", cli->args[2]);
    HoloStatus status = holo_sigil_parse(text, strlen(text), &sigil, &at, &error);
    if (status == HOLO_BAD_ARGUMENT) return cli_fail(pointed(text, at), "%s", error.text);
    if (status) return cli_fail_error(NULL, &error, status);
    if (json)
        sigil_json(json, sigil);
    else
        print_sigil(sigil);
    holo_sigil_destroy(sigil);
    return CLI_OK;
}

// ---- addresses

typedef struct Content {
    const char   *name;
    HoloTensor    type;
    bool          is_packed;
    HoloContentId id;
} Content;

typedef struct Contents {
    Content *item;
    int      count;
} Contents;

static void print_content(const Content *c, const char *identity, HoloAddress a)
{
    CliText type;
    char   *place = cli_format("%u/%u/%u/%u", a.class_id, a.page, a.byte, a.sub);
    printf("  %s  %-19s  %s  %s%s%s%s\n", identity, place, cli_type(&type, &c->type, NULL), cli_color(stdout, "cyan"),
           c->name, cli_color(stdout, "reset"), c->is_packed ? " (packed)" : "");
}

static void content_json(Json *json, const Content *c, const char *identity, HoloAddress a)
{
    uint64_t number = 0;
    if (holo_address_number(HOLO_ADDRESS_EXTENDED, &a, &number, NULL)) return; // cannot happen
    json_open(json, NULL, '{');
    json_text(json, "name", c->name);
    json_text(json, "dtype", holo_dtype_name(c->type.dtype));
    json_open(json, "shape", '[');
    for (int d = 0; d < c->type.rank; d++) json_int(json, NULL, c->type.dim[d]);
    json_close(json, ']');
    json_bool(json, "packed", c->is_packed);
    json_text(json, "identity", identity);
    json_open(json, "address", '{');
    json_int(json, "class", a.class_id);
    json_int(json, "page", a.page);
    json_int(json, "byte", a.byte);
    json_int(json, "sub", a.sub);
    json_int(json, "number", (int64_t)number);
    json_close(json, '}');
    json_close(json, '}');
}

static void show(Json *json, const Contents *contents)
{
    if (json)
        list_open(json, "contents");
    else
        printf("%s  %-32s  %-19s  content%s\n", cli_color(stdout, "bold"), "identity", "class/page/byte/sub",
               cli_color(stdout, "reset"));
    for (int i = 0; i < contents->count; i++) {
        const Content *c        = &contents->item[i];
        HoloAddress    address  = holo_content_address(c->id);
        char          *identity = cli_format("%016" PRIx64 "%016" PRIx64, c->id.high, c->id.low);
        if (json)
            content_json(json, c, identity, address);
        else
            print_content(c, identity, address);
    }
    if (json) list_close(json);
}

// Makes room for `count` more.
static void contents_take(Contents *list, size_t count)
{
    *list = (Contents){cli_take(count + 1, sizeof *list->item), 0};
}

static Content *add(Contents *list, const char *name, const HoloTensor *type)
{
    Content *item = &list->item[list->count++];
    *item         = (Content){.name = cli_format("%s", name), .type = *type};
    return item;
}

static HoloStatus read_file(const char *path, Contents *out, HoloError *error)
{
    contents_take(out, 1);
    Content   *item   = add(out, path, &(HoloTensor){.dtype = HOLO_U8, .rank = 1});
    uint64_t   size   = 0;
    HoloStatus status = holo_content_id_file(path, &item->id, &size, error);
    item->type.dim[0] = (int64_t)size;
    return status;
}

static HoloStatus read_tensors(const char *path, Contents *out, HoloError *error)
{
    HoloTensors *tensors;
    HoloStatus   status = holo_tensors_read(path, NULL, &tensors, error);
    if (status) return status;
    contents_take(out, (size_t)holo_tensors_count(tensors));
    for (int i = 0; !status && i < holo_tensors_count(tensors); i++) {
        const char       *name;
        const HoloTensor *tensor = holo_tensors_get(tensors, i, &name);
        status                   = holo_content_id(tensor, &add(out, *name ? name : path, tensor)->id, error);
    }
    holo_tensors_destroy(tensors);
    return status;
}

static HoloStatus read_archive(const char *path, Contents *out, HoloError *error)
{
    HoloModel    *model;
    HoloModelInfo info;
    HoloConstant  constant;
    HoloStatus    status = holo_model_open(path, &model, error);
    if (status) return status;
    holo_model_info(model, &info);
    contents_take(out, info.constants);
    for (int i = 0; !status && holo_model_constant(model, i, &constant); i++) {
        Content *item   = add(out, constant.name, &constant.tensor);
        item->is_packed = constant.is_packed;
        status          = holo_content_id(&constant.tensor, &item->id, error);
    }
    holo_model_close(model);
    return status;
}

static bool ends_with(const char *path, const char *ending)
{
    size_t size = strlen(path), tail = strlen(ending);
    return size >= tail && !strcmp(path + size - tail, ending);
}

static int atlas_address(const Cli *cli, Json *json)
{
    const char  *path     = cli->args[1];
    Contents     contents = {0};
    HoloError    error    = {0};
    HoloFileKind kind;
    if (cli->arg_count > 2) return cli_usage(cli, "too many arguments: '%s'", cli->args[2]);
    HoloStatus status = holo_file_kind(path, &kind, &error);
    if (status) return cli_fail_error(path, &error, status);
    if (cli_option(cli, "bytes"))
        status = read_file(path, &contents, &error);
    else if (kind == HOLO_FILE_ARCHIVE)
        status = read_archive(path, &contents, &error);
    else if (ends_with(path, ".npy") || ends_with(path, ".npz"))
        status = read_tensors(path, &contents, &error);
    else
        status = read_file(path, &contents, &error);
    if (status) return cli_fail_error(path, &error, status);
    show(json, &contents);
    return CLI_OK;
}

// ---- the command

static const struct {
    const char *name;
    int (*run)(const Cli *cli, Json *json);
} topics[] = {{"byte", atlas_byte}, {"sigil", atlas_sigil}, {"address", atlas_address}};

static int atlas(Cli *cli)
{
    Json json = {.out = stdout};
    for (int i = 0; i < CLI_COUNT(topics); i++)
        if (!strcmp(topics[i].name, cli->args[0])) return topics[i].run(cli, cli_option(cli, "json") ? &json : NULL);
    return CLI_USAGE; // the table of verbs has no other
}

static const CliOption options[] = {
    {"json", 0, NULL, "print JSON"},
    {"bytes", 0, NULL, "treat FILE as plain bytes even if it holds tensors", .verbs = "address"},
    {0},
};

const CliCommand cli_atlas = {
    .name      = "atlas",
    .purpose   = "name things: classes of bytes, sigil expressions, addresses of content",
    .arguments = "byte|sigil|address ARGUMENT...",
    .verbs     = "byte sigil address",
    .arg_min   = 2,
    .arg_max   = -1,
    .details   = "byte BYTE...      print the class of a byte (one of 96), its parts, and all bytes of that class\n"
                 "sigil EXPRESSION  evaluate an expression: print the byte of each generator (and, with a page, its\n"
                 "                  belt address) and the words of the operation. Quote it for the shell.\n"
                 "address FILE      print the identity of the content and its address. The identity is 128 bits\n"
                 "                  computed from type, shape and bytes: equal content has an equal identity. For\n"
                 "                  a .npy, .npz or archive it is printed for each tensor, for any other file\n"
                 "                  for its bytes.\n"
                 "\n"
                 "An expression names generators (mark, copy, swap, merge, split, quote, evaluate) at classes (c0 to\n"
                 "c95), in sequence (.) or in parallel (||), in parentheses, under transforms: R+1 turns the scope,\n"
                 "D+1 the modality, T+1 the slot, and ~ mirrors. docs/atlas.md explains all of it.",
    .examples  = "  hologram atlas byte 0x2A\n"
                 "  hologram atlas sigil 'R+1@(copy@c05 . evaluate@c21)'\n"
                 "  hologram atlas sigil 'mark@c42^+3~@17' --json\n"
                 "  hologram atlas address weights.npy\n",
    .options   = options,
    .run       = atlas,
};
