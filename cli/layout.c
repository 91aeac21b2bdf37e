// layout.c - places the boxes of a picture and routes its lines.
//
// It uses layers from top to bottom (Sugiyama): each box is below everything that it depends on. A wire that passes a
// layer has a point there, which all users of its value share. Points are ordered by the mean position of their
// neighbors, so that few lines cross; then they are moved sideways to be below their neighbors as well as the order
// allows.

#include "picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEPS = 16, GAP_X = 26, GAP_Y = 50, MARGIN = 24, POINT_WIDTH = 10 };

typedef struct Point { // a box, or where a wire passes a layer
    int    box;        // -1: a wire
    int    source;     // of a wire: the box that it comes from
    int    anchor;     // a box above that this one is straight below; -1: none
    int    layer, place;
    double x, width, wish, weight;
} Point;

typedef struct Link {
    int from, to; // points, in layers next to each other
} Link;

typedef struct Layout {
    Picture *picture;
    Point   *points; // boxes first
    int      point_count, point_room;
    Link    *links;
    int      link_count, link_room;
    int     *up_start, *up, *down_start, *down; // neighbors of each point
    int      layer_count;
    int    **layers; // points of each layer, in order
    int     *sizes;
    double  *row_top, *row_height;
    int    **spines; // by wire: its points in the layers that it passes
} Layout;

// ---- layers

static void find_layers(Layout *layout)
{
    Picture *picture = layout->picture;
    int      boxes   = picture->box_count;
    int     *nearest = cli_take((size_t)boxes + 1, sizeof *nearest);
    bool    *is_root = cli_take((size_t)boxes + 1, sizeof *is_root);
    memset(is_root, 1, (size_t)boxes);
    // Wires by the box they come from. Users come after producers in the list, so one walk is enough.
    int *head = cli_take((size_t)boxes + 1, sizeof *head),
        *next = cli_take((size_t)picture->wire_count + 1, sizeof *next);
    for (int b = 0; b < boxes; b++) head[b] = -1, nearest[b] = boxes;
    for (int w = 0; w < picture->wire_count; w++) {
        next[w]                      = head[picture->wires[w].from];
        head[picture->wires[w].from] = w;
    }
    for (int b = 0; b < boxes; b++)
        for (int w = head[b]; w >= 0; w = next[w])
            for (int k = 0; k < picture->wires[w].to_count; k++) {
                PictureBox *user                 = &picture->boxes[picture->wires[w].to[k]];
                is_root[picture->wires[w].to[k]] = false;
                if (user->layer <= picture->boxes[b].layer) user->layer = picture->boxes[b].layer + 1;
            }
    for (int w = 0; w < picture->wire_count; w++) // boxes that depend on nothing are near their users
        for (int k = 0; k < picture->wires[w].to_count; k++) {
            int layer = picture->boxes[picture->wires[w].to[k]].layer, from = picture->wires[w].from;
            if (layer < nearest[from]) nearest[from] = layer;
        }
    for (int b = 0; b < boxes; b++) {
        if (is_root[b] && nearest[b] < boxes && nearest[b] > 0) picture->boxes[b].layer = nearest[b] - 1;
        if (picture->boxes[b].layer >= layout->layer_count) layout->layer_count = picture->boxes[b].layer + 1;
    }
}

static int add_point(Layout *layout, int box, int source, int layer, double width)
{
    if (layout->point_count == layout->point_room) {
        layout->point_room = layout->point_room ? layout->point_room * 2 : 256;
        layout->points =
            cli_grow(layout->points, (size_t)layout->point_count, (size_t)layout->point_room, sizeof *layout->points);
    }
    layout->points[layout->point_count] =
        (Point){.box = box, .source = source, .anchor = -1, .layer = layer, .width = width};
    return layout->point_count++;
}

static void add_link(Layout *layout, int from, int to)
{
    if (layout->link_count == layout->link_room) {
        layout->link_room = layout->link_room ? layout->link_room * 2 : 256;
        layout->links =
            cli_grow(layout->links, (size_t)layout->link_count, (size_t)layout->link_room, sizeof *layout->links);
    }
    layout->links[layout->link_count++] = (Link){from, to};
}

// One chain of points for a value, down to the layer above its last user.
static void add_spine(Layout *layout, int wire)
{
    const Picture     *picture = layout->picture;
    const PictureWire *w       = &picture->wires[wire];
    int                top = picture->boxes[w->from].layer, bottom = top + 1;
    for (int k = 0; k < w->to_count; k++)
        if (picture->boxes[w->to[k]].layer > bottom) bottom = picture->boxes[w->to[k]].layer;
    int *spine = layout->spines[wire] = cli_take((size_t)(bottom - top), sizeof *spine);
    spine[0]                          = w->from;
    for (int layer = top + 1; layer < bottom; layer++) {
        spine[layer - top] = add_point(layout, -1, w->from, layer, POINT_WIDTH);
        add_link(layout, spine[layer - top - 1], spine[layer - top]);
    }
    for (int k = 0; k < w->to_count; k++) add_link(layout, spine[picture->boxes[w->to[k]].layer - 1 - top], w->to[k]);
}

static void find_neighbors(Layout *layout)
{
    size_t points = (size_t)layout->point_count, links = (size_t)layout->link_count;
    layout->up_start   = cli_take(points + 2, sizeof(int));
    layout->down_start = cli_take(points + 2, sizeof(int));
    layout->up         = cli_take(links + 1, sizeof(int));
    layout->down       = cli_take(links + 1, sizeof(int));
    for (size_t i = 0; i < links; i++) {
        layout->up_start[layout->links[i].to + 2]++;
        layout->down_start[layout->links[i].from + 2]++;
    }
    for (size_t p = 2; p < points + 2; p++) {
        layout->up_start[p] += layout->up_start[p - 1];
        layout->down_start[p] += layout->down_start[p - 1];
    }
    for (size_t i = 0; i < links; i++) { // the start of p+1 moves to its place while p's are filled in
        layout->up[layout->up_start[layout->links[i].to + 1]++]       = layout->links[i].from;
        layout->down[layout->down_start[layout->links[i].from + 1]++] = layout->links[i].to;
    }
}

// In the order of a walk from the top, so that chains begin side by side.
static void fill_layers(Layout *layout)
{
    size_t layers  = (size_t)layout->layer_count;
    layout->layers = cli_take(layers + 1, sizeof *layout->layers);
    layout->sizes  = cli_take(layers + 1, sizeof *layout->sizes);
    int  *stack    = cli_take((size_t)layout->point_count + (size_t)layout->link_count + 1, sizeof *stack);
    bool *seen     = cli_take((size_t)layout->point_count + 1, sizeof *seen);
    for (int p = 0; p < layout->point_count; p++) layout->sizes[layout->points[p].layer]++;
    for (size_t l = 0; l < layers; l++) layout->layers[l] = cli_take((size_t)layout->sizes[l] + 1, sizeof(int));
    memset(layout->sizes, 0, layers * sizeof *layout->sizes);
    for (int root = 0; root < layout->point_count; root++) {
        int depth      = 0;
        stack[depth++] = root;
        while (depth) {
            int p = stack[--depth];
            if (seen[p]) continue;
            seen[p]                                       = true;
            int layer                                     = layout->points[p].layer;
            layout->points[p].place                       = layout->sizes[layer];
            layout->layers[layer][layout->sizes[layer]++] = p;
            for (int k = layout->down_start[p + 1]; k-- > layout->down_start[p];) stack[depth++] = layout->down[k];
        }
    }
}

// ---- order in a layer

static const Point *sorting; // for the functions that qsort calls, which get no context

static int by_wish(const void *a, const void *b)
{
    const Point *x = &sorting[*(const int *)a], *y = &sorting[*(const int *)b];
    if (x->wish != y->wish) return x->wish < y->wish ? -1 : 1;
    return x->place - y->place;
}

static void order_layer(Layout *layout, int layer, const int *start, const int *list)
{
    int *row = layout->layers[layer], size = layout->sizes[layer];
    for (int i = 0; i < size; i++) {
        Point *p     = &layout->points[row[i]];
        int    count = start[row[i] + 1] - start[row[i]];
        double sum   = 0;
        for (int k = start[row[i]]; k < start[row[i] + 1]; k++) {
            const Point *other = &layout->points[list[k]];
            sum += (other->place + 0.5) / layout->sizes[other->layer];
        }
        p->wish = count ? sum / count : (p->place + 0.5) / size;
    }
    sorting = layout->points;
    qsort(row, (size_t)size, sizeof *row, by_wish);
    for (int i = 0; i < size; i++) layout->points[row[i]].place = i;
}

static void order(Layout *layout)
{
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int l = 1; l < layout->layer_count; l++) order_layer(layout, l, layout->up_start, layout->up);
        for (int l = layout->layer_count - 1; l-- > 0;) order_layer(layout, l, layout->down_start, layout->down);
    }
}

// ---- places in a layer

static double distance(const Point *a, const Point *b)
{
    bool wires = a->box < 0 && b->box < 0;
    return (a->width + b->width) / 2 + (wires ? 4 : GAP_X);
}

// Moves each point as close to its wish as possible, in order and with gaps: weighted least squares, by merging
// neighbors that would collide (isotonic regression).
static void settle(Layout *layout, int layer, double *mean, double *weight, int *length)
{
    int   *row = layout->layers[layer], size = layout->sizes[layer], pools = 0;
    double offset = 0;
    for (int i = 0; i < size; i++) {
        Point *p = &layout->points[row[i]];
        if (i) offset += distance(&layout->points[row[i - 1]], p);
        mean[pools] = p->wish - offset, weight[pools] = p->weight, length[pools] = 1;
        pools++;
        while (pools > 1 && mean[pools - 2] > mean[pools - 1]) {
            double sum        = weight[pools - 2] + weight[pools - 1];
            mean[pools - 2]   = (mean[pools - 2] * weight[pools - 2] + mean[pools - 1] * weight[pools - 1]) / sum;
            weight[pools - 2] = sum;
            length[pools - 2] += length[pools - 1];
            pools--;
        }
    }
    offset = 0;
    for (int pool = 0, i = 0; pool < pools; pool++)
        for (int k = 0; k < length[pool]; k++, i++) {
            if (i) offset += distance(&layout->points[row[i - 1]], &layout->points[row[i]]);
            layout->points[row[i]].x = mean[pool] + offset;
        }
}

static int by_x(const void *a, const void *b)
{
    double x = sorting[*(const int *)a].x, y = sorting[*(const int *)b].x;
    return (x > y) - (x < y);
}

// Boxes that depend on something count most, then passing wires, then boxes that depend on nothing. So the trunk of a
// graph stays straight.
static int importance(const Layout *layout, int point)
{
    if (layout->points[point].box < 0) return 2;
    return layout->up_start[point + 1] > layout->up_start[point] ? 3 : 1;
}

// The median position of the most important neighbors: unlike the mean, it gives straight lines with a few bends
// instead of slanted ones. Sorts the list.
static double median(const Layout *layout, int *list, int count, double fallback)
{
    int highest = 0, kept = 0;
    for (int k = 0; k < count; k++) {
        int this = importance(layout, list[k]);
        if (this > highest) highest = this;
    }
    for (int k = 0; k < count; k++) { // the important ones first
        if (importance(layout, list[k]) < highest) continue;
        int point    = list[k];
        list[k]      = list[kept];
        list[kept++] = point;
    }
    if (!kept) return fallback;
    sorting = layout->points;
    qsort(list, (size_t)kept, sizeof *list, by_x);
    return (layout->points[list[kept / 2]].x + layout->points[list[(kept - 1) / 2]].x) / 2;
}

// Does `box` depend on the box `above`? `seen` and `stack` have room for all points; `stamp` is new.
static bool depends(const Layout *layout, int box, int above, int *seen, int *stack, int stamp)
{
    int depth      = 0;
    stack[depth++] = box;
    while (depth) {
        int p = stack[--depth];
        if (p == above) return true;
        if (seen[p] == stamp || layout->points[p].layer <= layout->points[above].layer) continue;
        seen[p] = stamp;
        for (int k = layout->up_start[p]; k < layout->up_start[p + 1]; k++) stack[depth++] = layout->up[k];
    }
    return false;
}

// A box that joins a detour with what it bypasses (the Add of a residual block) is placed below where they separated,
// so that a graph of many such blocks does not drift to one side.
static void find_anchors(Layout *layout)
{
    int *seen  = cli_take((size_t)layout->point_count + 1, sizeof *seen);
    int *stack = cli_take((size_t)layout->link_count + 2, sizeof *stack), stamp = 0;
    for (int b = 0; b < layout->picture->box_count; b++) {
        Point *point = &layout->points[b];
        for (int k = layout->up_start[b]; k < layout->up_start[b + 1]; k++) {
            int  wire = layout->up[k], source = layout->points[wire].source;
            bool ends = layout->down_start[wire + 1] - layout->down_start[wire] == 1; // nothing further down uses it
            if (source < 0 || !ends) continue;
            if (point->anchor >= 0 && layout->points[point->anchor].layer >= layout->points[source].layer) continue;
            for (int i = layout->up_start[b]; i < layout->up_start[b + 1]; i++)
                if (layout->points[layout->up[i]].box >= 0 &&
                    depends(layout, layout->up[i], source, seen, stack, ++stamp))
                    point->anchor = source;
        }
    }
}

static void wish(Layout *layout, int layer, const int *start, int *list)
{
    bool downwards = start == layout->up_start;
    for (int i = 0; i < layout->sizes[layer]; i++) {
        int    p = layout->layers[layer][i], count = start[p + 1] - start[p];
        Point *point  = &layout->points[p];
        point->wish   = median(layout, list + start[p], count, point->x);
        point->weight = point->box < 0 ? 2 : count ? 16 : 1;
        if (downwards && point->anchor >= 0) point->wish = layout->points[point->anchor].x;
    }
}

// Boxes that depend on nothing move near their users; the others stay.
static void wish_roots(Layout *layout, int layer)
{
    for (int i = 0; i < layout->sizes[layer]; i++) {
        int    p = layout->layers[layer][i], *list = layout->down + layout->down_start[p];
        Point *point   = &layout->points[p];
        bool   is_root = layout->up_start[p + 1] == layout->up_start[p];
        int    count   = layout->down_start[p + 1] - layout->down_start[p];
        point->wish    = is_root ? median(layout, list, count, point->x) : point->x;
        point->weight  = is_root ? 1 : 1e6;
    }
}

static void place(Layout *layout)
{
    size_t  widest = (size_t)layout->point_count + 1;
    double *mean = cli_take(widest, sizeof *mean), *weight = cli_take(widest, sizeof *weight);
    int    *length = cli_take(widest, sizeof *length);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int l = layout->layer_count; l-- > 0;) {
            wish(layout, l, layout->down_start, layout->down);
            settle(layout, l, mean, weight, length);
        }
        for (int l = 0; l < layout->layer_count; l++) {
            wish(layout, l, layout->up_start, layout->up);
            settle(layout, l, mean, weight, length);
        }
        for (int l = layout->layer_count; l-- > 0;) {
            wish_roots(layout, l);
            settle(layout, l, mean, weight, length);
        }
    }
}

static void move_into_view(Layout *layout)
{
    Picture *picture = layout->picture;
    double   left = INFINITY, right = -INFINITY, y = 58;
    for (int p = 0; p < layout->point_count; p++) {
        const Point *point = &layout->points[p];
        left               = fmin(left, point->x - point->width / 2);
        right              = fmax(right, point->x + point->width / 2);
    }
    layout->row_top    = cli_take((size_t)layout->layer_count + 1, sizeof(double));
    layout->row_height = cli_take((size_t)layout->layer_count + 1, sizeof(double));
    for (int b = 0; b < picture->box_count; b++)
        layout->row_height[picture->boxes[b].layer] =
            fmax(layout->row_height[picture->boxes[b].layer], picture->boxes[b].height);
    for (int l = 0; l < layout->layer_count; l++) {
        layout->row_top[l] = y;
        y += layout->row_height[l] + GAP_Y;
    }
    for (int p = 0; p < layout->point_count; p++) {
        Point *point = &layout->points[p];
        point->x += MARGIN - left;
        if (point->box < 0) continue;
        PictureBox *box = &picture->boxes[point->box];
        box->x          = point->x;
        box->y          = layout->row_top[box->layer];
    }
    picture->width  = picture->box_count ? right - left + 2 * MARGIN : 200;
    picture->height = y - GAP_Y + MARGIN;
}

// ---- lines

static PictureStroke *add_stroke(Picture *picture, int points)
{
    if (picture->stroke_count == picture->stroke_room) {
        picture->stroke_room = picture->stroke_room ? picture->stroke_room * 2 : 256;
        picture->strokes     = cli_grow(picture->strokes, (size_t)picture->stroke_count, (size_t)picture->stroke_room,
                                        sizeof *picture->strokes);
    }
    PictureStroke *stroke = &picture->strokes[picture->stroke_count++];
    stroke->x             = cli_take((size_t)points, sizeof *stroke->x);
    stroke->y             = cli_take((size_t)points, sizeof *stroke->y);
    return stroke;
}

static void pass(PictureStroke *stroke, double x, double y)
{
    stroke->x[stroke->count]   = x;
    stroke->y[stroke->count++] = y;
}

// Where a line leaves a point of a spine.
static void leave(const Layout *layout, PictureStroke *stroke, int point)
{
    const Point *p = &layout->points[point];
    if (p->box >= 0)
        pass(stroke, p->x, layout->picture->boxes[p->box].y + layout->picture->boxes[p->box].height);
    else
        pass(stroke, p->x, layout->row_top[p->layer] + layout->row_height[p->layer]);
}

// How many of the lines into a box come from further left than x, plus half of those that come from x.
static double rank_of(const Layout *layout, int box, double x)
{
    double before = -0.5;
    for (int k = layout->up_start[box]; k < layout->up_start[box + 1]; k++) {
        double other = layout->points[layout->up[k]].x;
        before += other < x ? 1 : other == x ? 0.5 : 0;
    }
    return before;
}

// Where the line from `from` enters a box: lines from the left enter further left, and one from straight above stays
// straight.
static double entrance(const Layout *layout, int box, int from)
{
    const Point *p      = &layout->points[box];
    int          count  = layout->up_start[box + 1] - layout->up_start[box];
    double       middle = (count - 1) / 2.0;
    for (int k = layout->up_start[box]; k < layout->up_start[box + 1]; k++) {
        const Point *above = &layout->points[layout->up[k]];
        if (above->box >= 0 && fabs(above->x - p->x) < 1) middle = rank_of(layout, box, above->x);
    }
    double reach = fmax(middle, count - 1 - middle), room = p->width / 2 - 10;
    double step = reach > 0 ? fmin(room / reach, 22) : 0;
    return p->x + (rank_of(layout, box, layout->points[from].x) - middle) * step;
}

static void draw_wire(Layout *layout, int wire)
{
    Picture           *picture = layout->picture;
    const PictureWire *w       = &picture->wires[wire];
    const int         *spine   = layout->spines[wire];
    int                top = picture->boxes[w->from].layer, longest = 1;
    for (int k = 0; k < w->to_count; k++) {
        int layer = picture->boxes[w->to[k]].layer, from = spine[layer - 1 - top];
        if (layer - top > longest) longest = layer - top;
        PictureStroke *stroke = add_stroke(picture, 2);
        leave(layout, stroke, from);
        pass(stroke, entrance(layout, w->to[k], from), picture->boxes[w->to[k]].y);
        stroke->has_arrow = true;
    }
    if (longest == 1) return;
    PictureStroke *stroke = add_stroke(picture, 2 * longest);
    leave(layout, stroke, spine[0]);
    for (int i = 1; i < longest; i++) {
        const Point *p = &layout->points[spine[i]];
        pass(stroke, p->x, layout->row_top[p->layer]);
        leave(layout, stroke, spine[i]);
    }
}

void picture_layout(Picture *picture)
{
    Layout layout = {.picture = picture};
    find_layers(&layout);
    for (int b = 0; b < picture->box_count; b++) {
        PictureBox *box = &picture->boxes[b];
        add_point(&layout, b, -1, box->layer, box->width);
    }
    layout.spines = cli_take((size_t)picture->wire_count + 1, sizeof *layout.spines);
    for (int w = 0; w < picture->wire_count; w++) add_spine(&layout, w);
    find_neighbors(&layout);
    fill_layers(&layout);
    order(&layout);
    find_anchors(&layout);
    place(&layout);
    move_into_view(&layout);
    for (int w = 0; w < picture->wire_count; w++) draw_wire(&layout, w);
}
