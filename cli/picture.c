// picture.c - turns a listing into boxes and wires: what is shown of each node, and in which color.
//
// Constants get no box of their own; they are lines in the box of the node that uses them.

#include "picture.h"

#include <inttypes.h>
#include <string.h>

enum { LINE_WIDTH = 34 }; // characters

// ---- colors: families of operators

static const struct {
    const char *color, *names;
} families[] = {
    {"matrix",
     " Conv ConvTranspose ConvInteger ConvIntegerToFloat QLinearConv DeformConv MatMul MatMulInteger MatMulFloat8 QLinearMatMul Gemm Einsum "
     "Attention RNN LSTM GRU "},
    {"active",
     " Relu LeakyRelu PRelu Elu Celu Selu Sigmoid HardSigmoid Tanh Softplus Softsign Gelu HardSwish Mish Swish "
     "Softmax LogSoftmax Hardmax Clip Erf ThresholdedRelu "},
    {"pool", " MaxPool AveragePool GlobalAveragePool GlobalMaxPool LpPool GlobalLpPool ReduceMean ReduceSum ReduceMax "
             "ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare ArgMax ArgMin TopK "
             "CumSum "},
    {"normal", " BatchNormalization LayerNormalization InstanceNormalization GroupNormalization RMSNormalization LRN "
               "LpNormalization MeanVarianceNormalization SkipLayerNormalization "},
    {"move", " Reshape Transpose Flatten Squeeze Unsqueeze Concat Split Slice Gather GatherElements GatherND Scatter "
             "ScatterElements ScatterND Expand Tile Pad Shape Size Identity Cast CastLike Constant ConstantOfShape "
             "DepthToSpace SpaceToDepth Resize Upsample Range Where "},
    {"control", " If Loop Scan SequenceMap SequenceAt SequenceInsert SequenceConstruct SplitToSequence "
                "ConcatFromSequence Optional OptionalGetElement OptionalHasElement "},
    {"point", " Add Sub Mul Div Pow Sqrt Exp Log Neg Abs Sum Mean Max Min Reciprocal Floor Ceil Round Sign Not And Or "
              "Xor Equal Less Greater LessOrEqual GreaterOrEqual Mod Sin Cos "},
};

static const char *color_of(const char *op)
{
    char *word = cli_format(" %s ", op);
    for (int i = 0; i < CLI_COUNT(families); i++)
        if (strstr(families[i].names, word)) return families[i].color;
    return "other";
}

// ---- the text of a box

static void add_line(PictureBox *box, const char *text)
{
    if (box->line_count < PICTURE_LINES) box->lines[box->line_count++] = text;
}

// Attributes, as many on a line as fit; the last line says if there are more.
static void add_details(PictureBox *box, const char *detail, int lines)
{
    while (*detail && lines-- > 0) {
        size_t size = strlen(detail), cut = size;
        if (size > LINE_WIDTH) { // at a space between two attributes where there is one
            cut = LINE_WIDTH;
            for (size_t i = 1; i < LINE_WIDTH; i++)
                if (detail[i] == ' ' && detail[i - 1] != ',') cut = i;
        }
        bool is_last = lines == 0 && cut < size;
        add_line(box, cli_format("%.*s%s", (int)cut, detail, is_last ? "…" : ""));
        detail += cut + (detail[cut] == ' ');
    }
}

static void add_constants(PictureBox *box, const HoloListing *listing, const HoloListingNode *node)
{
    int shown = 0, more = 0;
    for (int i = 0; i < node->in_count; i++) {
        if (node->in[i] < 0 || !listing->values[node->in[i]].is_constant) continue;
        const HoloListingValue *value = &listing->values[node->in[i]];
        if (shown++ < 3)
            add_line(box, cli_format("▪ %s", value->shape));
        else
            more++;
    }
    if (more) add_line(box, cli_format("▪ %d more constants", more));
}

static char *about_values(const HoloListing *listing, const char *title, const int *values, int count)
{
    char *text = "";
    for (int i = 0; i < count && i < 24; i++) {
        if (values[i] < 0) continue;
        const HoloListingValue *value  = &listing->values[values[i]];
        char                   *offset = value->offset >= 0 ? cli_format(" at %" PRId64, value->offset) : "";
        text                           = cli_format("%s%s %s %s%s%s\n", text, title, value->name, value->shape,
                          value->is_constant ? " constant" : "", offset);
    }
    return text;
}

static int count_inside(const HoloListing *listing, int index)
{
    int count = 0;
    for (int i = 0; i < listing->node_count; i++) count += listing->nodes[i].parent == index;
    return count;
}

static void fill_node(PictureBox *box, const HoloListing *listing, int index)
{
    const HoloListingNode *node   = &listing->nodes[index];
    int                    inside = strcmp(color_of(node->op), "control") ? 0 : count_inside(listing, index);
    box->title =
        *node->domain && strcmp(node->domain, "ai.onnx") ? cli_format("%s.%s", node->domain, node->op) : node->op;
    box->color    = color_of(node->op);
    box->is_plain = !strcmp(node->runs, "eval");
    box->about  = cli_format("%s\n%s\n%s%s%s%s%s%s%s", box->title, node->name, *node->runs ? "runs: " : "", node->runs,
                            *node->runs ? "\n" : "", node->detail, *node->detail ? "\n" : "",
                             about_values(listing, "in:", node->in, node->in_count),
                             about_values(listing, "out:", node->out, node->out_count));
    box->result = node->out_count && node->out[0] >= 0 ? listing->values[node->out[0]].shape : "";
    if (*node->runs && !box->is_plain) add_line(box, cli_format("» %s", node->runs));
    if (inside) add_line(box, cli_format("%d nodes inside", inside));
    add_details(box, node->detail, 2);
    add_constants(box, listing, node);
}

static void fill_port(PictureBox *box, const HoloListingValue *value, bool is_input)
{
    box->title   = value->name;
    box->color   = "port";
    box->is_port = true;
    box->result  = is_input ? value->shape : "";
    box->about   = cli_format("%s of the model\n%s\n%s", is_input ? "input" : "output", value->name, value->shape);
    if (!is_input) add_line(box, value->shape);
}

static int characters(const char *text)
{
    int count = 0;
    for (; *text; text++) count += (*text & 0xC0) != 0x80;
    return count;
}

static void measure(PictureBox *box)
{
    double width = 7.6 * (characters(box->title) < 40 ? characters(box->title) : 40) + 28;
    for (int i = 0; i < box->line_count; i++) {
        int    count = characters(box->lines[i]) < 40 ? characters(box->lines[i]) : 40;
        double line  = 5.4 * count + 24;
        if (line > width) width = line;
    }
    box->width  = width < 84 ? 84 : width;
    box->height = 30 + 15 * box->line_count + (box->line_count ? 5 : 0);
}

// ---- boxes and wires

typedef struct Made {
    const HoloListing *listing;
    Picture           *picture;
    int               *box_of_node;  // -1: none
    int               *box_of_value; // of inputs
} Made;

static int producer_box(const Made *made, int value)
{
    const HoloListingValue *v = &made->listing->values[value];
    return v->producer >= 0 ? made->box_of_node[v->producer] : made->box_of_value[value];
}

static void connect(PictureWire *wires, int value, int box)
{
    wires[value].to[wires[value].to_count++] = box;
}

static void make_boxes(Made *made)
{
    const HoloListing *listing = made->listing;
    Picture           *picture = made->picture;
    for (int i = 0; i < listing->input_count; i++) {
        made->box_of_value[listing->inputs[i]] = picture->box_count;
        fill_port(&picture->boxes[picture->box_count++], &listing->values[listing->inputs[i]], true);
    }
    for (int i = 0; i < listing->node_count; i++) {
        if (listing->nodes[i].parent >= 0) continue;
        made->box_of_node[i] = picture->box_count;
        fill_node(&picture->boxes[picture->box_count++], listing, i);
    }
    for (int i = 0; i < listing->output_count; i++)
        fill_port(&picture->boxes[picture->box_count++], &listing->values[listing->outputs[i]], false);
    for (int i = 0; i < picture->box_count; i++) measure(&picture->boxes[i]);
}

static void make_wires(Made *made)
{
    const HoloListing *listing = made->listing;
    Picture           *picture = made->picture;
    int               *uses    = cli_take((size_t)listing->value_count + 1, sizeof *uses);
    for (int i = 0; i < listing->node_count; i++)
        for (int k = 0; k < listing->nodes[i].in_count; k++)
            if (listing->nodes[i].in[k] >= 0) uses[listing->nodes[i].in[k]]++;
    for (int i = 0; i < listing->output_count; i++) uses[listing->outputs[i]]++;

    PictureWire *wires = cli_take((size_t)listing->value_count + 1, sizeof *wires);
    for (int v = 0; v < listing->value_count; v++) {
        wires[v].from  = listing->values[v].is_constant ? -1 : producer_box(made, v);
        wires[v].label = cli_format("%s %s", listing->values[v].name, listing->values[v].shape);
        wires[v].to    = cli_take((size_t)uses[v] + 1, sizeof *wires[v].to);
    }
    for (int i = 0; i < listing->node_count; i++) {
        const HoloListingNode *node = &listing->nodes[i];
        for (int k = 0; made->box_of_node[i] >= 0 && k < node->in_count; k++) {
            int v = node->in[k];
            if (v >= 0 && wires[v].from >= 0 && wires[v].from < made->box_of_node[i])
                connect(wires, v, made->box_of_node[i]);
        }
    }
    int first_output = picture->box_count - listing->output_count;
    for (int i = 0; i < listing->output_count; i++)
        if (wires[listing->outputs[i]].from >= 0) connect(wires, listing->outputs[i], first_output + i);

    picture->wires = wires;
    for (int v = 0; v < listing->value_count; v++)
        if (wires[v].to_count) wires[picture->wire_count++] = wires[v];
}

Picture *picture_make(const HoloListing *listing, const char *title)
{
    Picture *picture  = cli_take(1, sizeof *picture);
    Made     made     = {.listing = listing, .picture = picture};
    size_t   boxes    = (size_t)listing->input_count + (size_t)listing->node_count + (size_t)listing->output_count + 1;
    picture->title    = title;
    picture->boxes    = cli_take(boxes, sizeof *picture->boxes);
    made.box_of_node  = cli_take((size_t)listing->node_count + 1, sizeof *made.box_of_node);
    made.box_of_value = cli_take((size_t)listing->value_count + 1, sizeof *made.box_of_value);
    for (int i = 0; i < listing->node_count; i++) made.box_of_node[i] = -1;
    for (int i = 0; i < listing->value_count; i++) made.box_of_value[i] = -1;
    make_boxes(&made);
    make_wires(&made);
    return picture;
}
