// template_check.c - checks a compiled template once, so that nothing that walks it can leave it or run in circles.
#include "text/template.h"

#include <string.h>

const char *const holo_template_args[HOLO_TN_KINDS] = {
#define X(id, args) args,
    HOLO_TEMPLATE_NODE_MAP(X)
#undef X
};

static HoloStatus bad(HoloError *error, const char *what)
{
    return holo_fail(error, HOLO_BAD_ARCHIVE, "the compiled template is damaged: %s", what);
}

static bool fits(HoloTextSpan span, size_t element, size_t size)
{
    size_t bytes, end;
    return span.start % 8 == 0 && holo_size_mul(span.count, element, &bytes) &&
           holo_size_add(span.start, bytes, &end) && end <= size;
}

static bool span_fits(uint32_t start, uint32_t count, uint32_t size)
{
    return start <= size && count <= size - start;
}

static void deepen(const uint16_t *depth, uint32_t node, uint16_t *deepest)
{
    if (depth[node] > *deepest) *deepest = depth[node];
}

// Checks the arguments of a node. Returns how deep the tree below it is; 0: it is damaged.
static uint16_t node_depth(const HoloTemplate *t, uint32_t at, const uint16_t *depth)
{
    const HoloTemplateHeader *h       = t->header;
    const HoloTemplateNode   *node    = &t->node[at];
    uint16_t                  deepest = 0;
    if (node->kind >= HOLO_TN_KINDS || node->op >= HOLO_TO_OPS) return 0;
    const char *letter = holo_template_args[node->kind];
    for (const uint32_t *arg = node->arg; *letter; letter++, arg++) {
        bool good = true;
        if (*letter == 'n' || (*letter == 'o' && *arg != HOLO_NO_NODE)) {
            if ((good = *arg < at)) deepen(depth, *arg, &deepest);
        } else if (*letter == 'v') {
            good = *arg < h->names.count;
        } else if (*letter == 's') {
            good = span_fits(arg[0], arg[1], h->text.count);
        } else if (*letter == 'l') {
            good = span_fits(arg[0], arg[1], h->lists.count);
            for (uint32_t i = 0; good && i < arg[1]; i++)
                if ((good = t->list[arg[0] + i] < at)) deepen(depth, t->list[arg[0] + i], &deepest);
        }
        if (!good) return 0;
    }
    return (uint16_t)(deepest + 1);
}

static HoloStatus check_nodes(const HoloTemplate *t, HoloError *error)
{
    const HoloTemplateHeader *h      = t->header;
    uint16_t                 *depth  = holo_realloc(NULL, h->nodes.count * sizeof *depth);
    HoloStatus                status = depth ? HOLO_OK : holo_fail_memory(error);
    uint64_t                  work   = 0; // nodes may share lists: their sum is limited, too
    for (uint32_t i = 0; !status && i < h->nodes.count; i++) {
        depth[i] = node_depth(t, i, depth);
        if (!depth[i] || depth[i] > HOLO_TEMPLATE_DEPTH) status = bad(error, "a node");
        const char *list = status ? NULL : strchr(holo_template_args[t->node[i].kind], 'c');
        if (list) work += t->node[i].arg[list - holo_template_args[t->node[i].kind]];
        if (work > h->lists.count) status = bad(error, "nodes share a list");
    }
    holo_free(depth);
    return status;
}

HoloStatus holo_template_view(const void *block, size_t size, HoloTemplate *t, HoloError *error)
{
    const HoloTemplateHeader *h     = block;
    const uint8_t            *bytes = block;
    if (size < sizeof *h || memcmp(h->magic, HOLO_TEMPLATE_MAGIC, sizeof h->magic))
        return bad(error, "it does not begin as one");
    if (h->version != HOLO_TEMPLATE_VERSION)
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "the compiled template has version %u, and this library reads version %d: compile it anew",
                         h->version, HOLO_TEMPLATE_VERSION);
    if (h->size != size) return bad(error, "its size");
    if (!fits(h->nodes, sizeof(HoloTemplateNode), size) || !fits(h->lists, sizeof(uint32_t), size) ||
        !fits(h->names, sizeof(HoloTextSpan), size) || !fits(h->text, 1, size) || !fits(h->defaults, 1, size))
        return bad(error, "a list lies outside of it");
    if (h->root >= h->nodes.count) return bad(error, "the root");
    t->header = h;
    t->node   = (const void *)(bytes + h->nodes.start);
    t->list   = (const void *)(bytes + h->lists.start);
    t->name   = (const void *)(bytes + h->names.start);
    t->text   = (const char *)bytes + h->text.start;
    for (uint32_t i = 0; i < h->names.count; i++)
        if (!span_fits(t->name[i].start, t->name[i].count, h->text.count)) return bad(error, "a name");
    return check_nodes(t, error);
}
