// padding.c - turns zeros that a Pad puts around an image into pads of the convolution that reads it.
//
// The pads must be known whole pixels, and the filters must be constant, finite, and larger than the pads: an infinite
// weight times a stored zero is NaN, but a pad is not multiplied.
#include "passes/build.h"

#include <string.h>

// What a Pad adds to each dimension: first all begins, then all ends.
typedef struct Around {
    int     rank;
    int64_t pads[2 * HOLO_MAX_RANK];
} Around;

// The dimensions that the Pad names; all if it names none. False: not known.
static bool axes_of(const HoloNode *pad, int rank, int *axes, int *count)
{
    const HoloValue *given = holo_node_in(pad, 3);
    *count                 = given ? (int)holo_tensor_count(&given->type) : rank;
    if (given && (!holo_contents_are_numbers(given) || *count > rank)) return false;
    for (int i = 0; i < *count; i++) {
        int64_t axis = given ? given->contents[i] : i;
        if (axis < 0) axis += rank;
        if (axis < 0 || axis >= rank) return false;
        axes[i] = (int)axis;
    }
    return true;
}

static bool pads_with_zeros(const HoloNode *pad)
{
    HoloCall call = {.attr = pad->attr, .attr_count = pad->attr_count};
    double   number;
    if (!holo_attr_is(&call, "mode", "constant", "constant") || holo_attr_float(&call, "value", 0) != 0) return false;
    return !holo_node_in(pad, 2) || (holo_value_number(holo_node_in(pad, 2), &number) && number == 0);
}

static bool around_of(const HoloNode *pad, Around *a)
{
    const HoloValue *list = holo_node_in(pad, 1);
    const HoloAttr  *attr = holo_node_attr(pad, "pads");
    int              axes[HOLO_MAX_RANK], count;
    *a = (Around){.rank = holo_node_in(pad, 0) ? pad->in[0]->type.rank : -1};
    if (a->rank < 3 || !pads_with_zeros(pad) || !axes_of(pad, a->rank, axes, &count)) return false;
    if (list ? !holo_contents_are_numbers(list) || holo_tensor_count(&list->type) != 2 * count
             : !attr || attr->kind != HOLO_ATTR_INTS || attr->count != 2 * count)
        return false;
    for (int i = 0; i < 2 * count; i++)
        a->pads[axes[i % count] + (i < count ? 0 : a->rank)] = list ? list->contents[i] : attr->ints[i];
    return true;
}

// The pads of the convolution, with the new ones. Each must be smaller than the window.
static bool pads_of(const HoloNode *conv, const Around *a, int64_t *pads)
{
    HoloCall          call                    = {.attr = conv->attr, .attr_count = conv->attr_count};
    const HoloTensor *w                       = &conv->in[1]->type;
    int64_t           dilation[HOLO_MAX_RANK] = {0}, reach;
    int               spatial                 = a->rank - 2;
    bool              valid                   = holo_attr_is(&call, "auto_pad", "NOTSET", "VALID");
    int               dilated                 = holo_attr_ints(&call, "dilations", dilation, spatial);
    memset(pads, 0, 2 * (size_t)spatial * sizeof *pads);
    if (!valid && !holo_attr_is(&call, "auto_pad", "NOTSET", "NOTSET")) return false;
    if (!valid && holo_node_attr(conv, "pads") && holo_attr_ints(&call, "pads", pads, 2 * spatial) != 2 * spatial)
        return false;
    if (w->rank != a->rank || (holo_node_attr(conv, "dilations") && dilated != spatial)) return false;
    for (int i = 0; i < 2 * a->rank; i++) {
        int d = i % a->rank - 2, to = d + (i < a->rank ? 0 : spatial);
        if (d < 0 && a->pads[i]) return false;
        if (d < 0) continue;
        if (__builtin_mul_overflow(w->dim[d + 2] - 1, dilated > 0 ? dilation[d] : 1, &reach)) return false;
        if (a->pads[i] < 0 || a->pads[i] > reach || pads[to] < 0 || pads[to] > reach - a->pads[i]) return false;
        pads[to] += a->pads[i];
    }
    return true;
}

static bool set_pads(HoloRewrite *r, HoloNode *conv, const int64_t *pads, int count)
{
    HoloAttr *attr = HOLO_NEW(r->graph->arena, HoloAttr, conv->attr_count + 1);
    int       kept = 0;
    if (!attr) return false;
    for (int i = 0; i < conv->attr_count; i++)
        if (strcmp(conv->attr[i].name, "auto_pad") && strcmp(conv->attr[i].name, "pads")) attr[kept++] = conv->attr[i];
    if (!holo_build_list(r->graph, "pads", count, pads, &attr[kept++])) return false;
    conv->attr       = attr;
    conv->attr_count = kept;
    return true;
}

bool holo_rewrite_padding(HoloRewrite *rewrite, HoloNode *conv, bool *failed)
{
    const HoloValue *x = holo_node_in(conv, 0), *w = holo_node_in(conv, 1);
    const HoloNode  *pad = x ? x->producer : NULL;
    int64_t          pads[2 * HOLO_MAX_RANK];
    Around           around;
    if (!pad || !HOLO_IS(pad, Pad) || pad->version < 2 || !w || !w->is_constant || !w->type.data) return false;
    if (!around_of(pad, &around) || !pads_of(conv, &around, pads) || !holo_tensor_is_finite(&w->type)) return false;
    if (!set_pads(rewrite, conv, pads, 2 * (around.rank - 2))) {
        *failed = true;
        return false;
    }
    conv->in[0] = holo_rewrite_find(rewrite, pad->in[0]);
    rewrite->changes++;
    return true;
}
