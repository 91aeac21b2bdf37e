// training.c - the optimizers of ai.onnx.preview.training: Adagrad, Adam, Momentum.
//
// The inputs are the learning rate, the number of updates so far, and then groups of as many tensors
// each: the weights, their gradients, and one or two states. The outputs are new weights and states.
#include "base/math/math.h"
#include "ops/op.h"

#include <math.h>

// One element: its weight and its states are replaced.
typedef struct Element {
    double x, g, state[2];
} Element;

typedef struct Settings {
    double rate, alpha, beta, epsilon, norm, norm_post;
    bool   nesterov;
} Settings;

typedef struct Optimizer {
    int states;                                                       // per weight
    void (*prepare)(const HoloCall *call, double count, Settings *s); // s->rate and ->norm are set
    void (*update)(const Settings *s, Element *e);
} Optimizer;

static void prepare_adagrad(const HoloCall *call, double count, Settings *s)
{
    s->rate /= 1 + count * holo_attr_float(call, "decay_factor", 0);
    s->epsilon = holo_attr_float(call, "epsilon", 1e-6);
}

static void update_adagrad(const Settings *s, Element *e)
{
    double g = s->norm * e->x + e->g;
    e->state[0] += g * g;
    e->x -= s->rate * g / (sqrt(e->state[0]) + s->epsilon);
}

static void prepare_adam(const HoloCall *call, double count, Settings *s)
{
    s->alpha     = holo_attr_float(call, "alpha", 0.9);
    s->beta      = holo_attr_float(call, "beta", 0.999);
    s->epsilon   = holo_attr_float(call, "epsilon", 1e-6);
    s->norm_post = holo_attr_float(call, "norm_coefficient_post", 0);
    if (count > 0) s->rate *= sqrt(1 - holo_pow(s->beta, count)) / (1 - holo_pow(s->alpha, count));
}

static void update_adam(const Settings *s, Element *e)
{
    double g    = s->norm * e->x + e->g;
    e->state[0] = s->alpha * e->state[0] + (1 - s->alpha) * g;
    e->state[1] = s->beta * e->state[1] + (1 - s->beta) * g * g;
    e->x -= s->rate * e->state[0] / (sqrt(e->state[1]) + s->epsilon);
    e->x *= 1 - s->norm_post;
}

static void prepare_momentum(const HoloCall *call, double count, Settings *s)
{
    s->alpha    = holo_attr_float(call, "alpha", 0);
    s->beta     = count > 0 ? holo_attr_float(call, "beta", 0) : 1;
    s->nesterov = holo_attr_is(call, "mode", "standard", "nesterov");
}

static void update_momentum(const Settings *s, Element *e)
{
    double g    = s->norm * e->x + e->g;
    e->state[0] = s->alpha * e->state[0] + s->beta * g;
    e->x -= s->rate * (s->nesterov ? g + s->alpha * e->state[0] : e->state[0]);
}

// ---- groups

// Input `part` (0: weights, 1: gradients, 2..: states) of a tensor.
static const HoloTensor *group_in(const HoloCall *call, int groups, int part, int i)
{
    return call->in[2 + part * groups + i];
}

static int group_count(const HoloCall *call)
{
    const Optimizer *how = call->op->row;
    return (call->in_count - 2) / (2 + how->states);
}

static HoloStatus infer(HoloCall *call)
{
    const Optimizer *how    = call->op->row;
    int              groups = group_count(call), parts = 2 + how->states;
    if (call->in_count != 2 + groups * parts || call->out_count > groups * (1 + how->states))
        return holo_call_fail(call, HOLO_BAD_MODEL, "%d inputs and %d outputs do not make groups of %d tensors",
                              call->in_count, call->out_count, parts);
    HOLO_TRY(holo_expect_types(call, 1, HOLO_BIT(I64)));
    HOLO_TRY(holo_attr_choice(call, "mode", "standard", (const char *const[]){"standard", "nesterov", NULL}, NULL));
    HOLO_TRY(holo_expect_one(call, 0));
    HOLO_TRY(holo_expect_one(call, 1));
    for (int i = 2; i < call->in_count; i++) {
        const HoloTensor *t = call->in[i], *first = call->in[2 + (i - 2) % groups];
        if (!t || !first) return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is missing", i);
        HOLO_TRY(holo_expect_types(call, i, HOLO_TYPES_FLOAT));
        bool same = t->rank == first->rank;
        for (int d = 0; same && d < t->rank; d++) same = !holo_dims_differ(t->dim[d], first->dim[d]);
        if (!same) return holo_call_fail(call, HOLO_BAD_MODEL, "input %d does not have the shape of its weights", i);
    }
    for (int o = 0; o < call->out_count; o++) {
        int part = o / groups;
        HOLO_TRY(holo_out_like(call, o, group_in(call, groups, part == 0 ? 0 : part + 1, o % groups)));
    }
    return HOLO_OK;
}

static void update_tensor(const HoloCall *call, const Settings *s, int groups, int i)
{
    const Optimizer *how                = call->op->row;
    int64_t          count              = holo_tensor_count(group_in(call, groups, 0, i));
    double           part[4][HOLO_TILE] = {{0}};
    for (int64_t k = 0; k < count; k += HOLO_TILE) {
        int64_t n = count - k < HOLO_TILE ? count - k : HOLO_TILE;
        for (int p = 0; p < 2 + how->states; p++) holo_read_f(group_in(call, groups, p, i), k, 1, n, part[p]);
        for (int64_t j = 0; j < n; j++) {
            Element e = {part[0][j], part[1][j], {part[2][j], part[3][j]}};
            how->update(s, &e);
            part[0][j] = e.x;
            part[2][j] = e.state[0];
            part[3][j] = e.state[1];
        }
        for (int p = 0; p < 1 + how->states; p++) {
            HoloTensor *out = holo_out(call, p * groups + i);
            if (out) holo_write_f(out, k, 1, n, part[p == 0 ? 0 : p + 1]);
        }
    }
}

static HoloStatus eval(HoloCall *call)
{
    const Optimizer *how = call->op->row;
    Settings         s   = {.rate = holo_get_f(call->in[0], 0), .norm = holo_attr_float(call, "norm_coefficient", 0)};
    how->prepare(call, holo_get_f(call->in[1], 0), &s);
    int groups = group_count(call);
    for (int i = 0; i < groups; i++) update_tensor(call, &s, groups, i);
    return HOLO_OK;
}

static const Optimizer adagrad  = {1, prepare_adagrad, update_adagrad};
static const Optimizer adam     = {2, prepare_adam, update_adam};
static const Optimizer momentum = {1, prepare_momentum, update_momentum};

#define OPTIMIZER(text, ins, how)                                                                                  \
    {                                                                                                              \
        .name = text, .domain = "ai.onnx.preview.training", .since = 1, .in_min = ins, .in_max = -1, .out_min = 1, \
        .out_max = -1, .types = HOLO_BIT(F32) | HOLO_BIT(F64), .infer = infer, .eval = eval, .row = &how           \
    }

// ---- Gradient

static HoloStatus refuse_gradient(HoloCall *call)
{
    return holo_call_fail(call, HOLO_REFUSED,
                          "gradients are not computed here: Hologram runs models and does not train them; export the "
                          "model without Gradient nodes");
}

const HoloOp holo_ops_training[] = {
    OPTIMIZER("Adagrad", 5, adagrad),
    OPTIMIZER("Adam", 6, adam),
    OPTIMIZER("Momentum", 5, momentum),
    {.name    = "Gradient",
     .domain  = "ai.onnx.preview.training",
     .since   = 1,
     .in_min  = 1,
     .in_max  = -1,
     .out_min = 1,
     .out_max = -1,
     .infer   = refuse_gradient,
     .eval    = refuse_gradient},
    {0},
};
