// image_input.c - pictures as inputs. See image_input.h.

#include "image_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool was_read; // this program has read a picture

// ---- the layout

typedef struct Layout {
    HoloTensor  type; // with the number of channels
    bool        is_last, is_sure;
    int64_t     channels;
    const char *name;
} Layout;

static bool can_be_channels(int64_t size)
{
    return size == 1 || size == 3;
}

// From --layout; else where the size is one or three. If both fit, or sizes are open, the channels come first.
static int find_layout(const Cli *cli, const HoloPort *port, const HoloTensor *type, Layout *out)
{
    const char *word  = cli_option(cli, "layout");
    int         front = type->rank == 4, behind = type->rank - 1;
    CliText     text;
    *out = (Layout){.type = *type, .channels = 1, .is_sure = true, .name = "height, width"};
    if (type->kind != HOLO_TENSOR || type->rank < 2 || type->rank > 4)
        return cli_fail(NULL, "the input '%s' is %s, but a picture needs an input of two to four dimensions",
                        port->name, cli_type(&text, type, port->symbol));
    if (type->rank == 2 && word)
        return cli_usage(cli, "--layout is for inputs with channels, but '%s' is %s", port->name,
                         cli_type(&text, type, port->symbol));
    if (type->rank == 2) return CLI_OK;
    bool fits_front = can_be_channels(type->dim[front]), fits_behind = can_be_channels(type->dim[behind]);
    bool open_front = type->dim[front] < 0, open_behind = type->dim[behind] < 0;
    out->is_last = word ? !strcmp(word, "nhwc") : !fits_front && (fits_behind || (!open_front && open_behind));
    out->is_sure = word || fits_front != fits_behind;
    out->name    = out->is_last ? "channels last" : "channels first";
    int64_t *at  = &out->type.dim[out->is_last ? behind : front];
    if (*at < 0) {
        const char *channels = cli_option(cli, "channels");
        *at                  = channels && !strcmp(channels, "gray") ? 1 : 3;
        out->is_sure         = out->is_sure && channels;
    }
    out->channels = *at;
    return can_be_channels(*at) ? CLI_OK
                                : cli_fail("--layout nchw or --layout nhwc says where the channels are",
                                           "the input '%s' is %s, but a picture cannot have %lld channels", port->name,
                                           cli_type(&text, type, port->symbol), (long long)*at);
}

// ---- the numbers

static bool is_float(int dtype)
{
    return dtype == HOLO_F32 || dtype == HOLO_F64 || dtype == HOLO_F16 || dtype == HOLO_BF16;
}

// "0.485,0.456,0.406", or one number for all channels; numbers that are not given stay.
static int read_list(const Cli *cli, const char *option, int64_t count, double *out, bool *out_given)
{
    const char *text = cli_option(cli, option), *at = text;
    int64_t     got = 0;
    char       *end;
    *out_given = text != NULL;
    if (!text) return CLI_OK;
    for (; got < 3; at = end + 1) {
        out[got++] = strtod(at, &end);
        if (end == at || !isfinite(out[got - 1])) break;
        if (!*end && (got == count || got == 1)) {
            for (; got < count; got++) out[got] = out[0];
            return CLI_OK;
        }
        if (*end != ',') break;
    }
    return cli_usage(cli, "--%s %s: expected %s", option, text,
                     count == 1 ? "a number"
                                : cli_format("one number, or %lld, for example 0.5,0.5,0.5", (long long)count));
}

static int read_range(const Cli *cli, int dtype, bool is_bytes, HoloPictureForm *form)
{
    const char *text = cli_option(cli, "range");
    char       *end;
    form->low  = dtype == HOLO_I8 ? -128 : 0;
    form->high = dtype == HOLO_I8 ? 127 : is_float(dtype) && !is_bytes ? 1 : 255;
    if (!text) return CLI_OK;
    form->low = strtod(text, &end);
    if (end != text && *end == ',') {
        const char *rest = end + 1;
        form->high       = strtod(rest, &end);
        if (end != rest && !*end && isfinite(form->low) && isfinite(form->high) && form->low != form->high)
            return CLI_OK;
    }
    return cli_usage(cli, "--range %s: expected the values of black and white, for example 0,1 or 0,255 or -1,1", text);
}

static int read_form(const Cli *cli, const HoloPort *port, const Layout *layout, HoloPictureForm *form,
                     bool *out_scaled)
{
    const char *channels = cli_option(cli, "channels");
    bool        has_mean, has_std, is_bytes = false;
    *form = (HoloPictureForm){.is_channels_last = layout->is_last, .std = {1, 1, 1}};
    if (channels && (layout->channels == 1) != !strcmp(channels, "gray"))
        return cli_fail(NULL, "--channels %s: the input '%s' has %lld channel%s", channels, port->name,
                        (long long)layout->channels, layout->channels == 1 ? "" : "s");
    form->is_bgr = channels && !strcmp(channels, "bgr");
    int result   = read_list(cli, "mean", layout->channels, form->mean, &has_mean);
    if (!result) result = read_list(cli, "std", layout->channels, form->std, &has_std);
    if (result) return result;
    *out_scaled = has_mean || has_std;
    if (*out_scaled && !is_float(port->type.dtype))
        return cli_usage(cli, "--%s is for inputs of floats, but '%s' is of %s", has_mean ? "mean" : "std", port->name,
                         holo_dtype_name(port->type.dtype));
    for (int64_t c = 0; c < layout->channels; c++) {
        if (form->std[c] == 0) return cli_usage(cli, "--std %s: cannot divide by 0", cli_option(cli, "std"));
        is_bytes = is_bytes || fabs(form->mean[c]) > 1 || form->std[c] > 1; // these are for values up to 255
    }
    return read_range(cli, port->type.dtype, is_bytes, form);
}

// ---- reading

static void tell(const HoloPort *port, const char *path, const int64_t *size, const CliInput *input,
                 const Layout *layout, const HoloPictureForm *form, bool is_scaled)
{
    const HoloTensor *t      = input->tensor;
    int               height = t->rank - (layout->is_last && t->rank > 2 ? 3 : 2);
    CliText           type;
    bool              is_resized = t->dim[height] != size[1] || t->dim[height + 1] != size[0];
    fprintf(stderr, "%s%s: %s, %lldx%lld%s, as %s, %s%s, %s, %g to %g%s%s\n", cli_color(stderr, "dim"), port->name,
            path, (long long)size[0], (long long)size[1],
            is_resized ? cli_format(" resized to %lldx%lld", (long long)t->dim[height + 1], (long long)t->dim[height])
                       : "",
            cli_type(&type, t, NULL), layout->name, layout->is_sure ? "" : " (a guess: see --layout)",
            layout->channels == 1 ? "gray"
            : form->is_bgr        ? "BGR"
                                  : "RGB",
            form->low, form->high, is_scaled ? ", then (x - mean) / std" : "", cli_color(stderr, "reset"));
}

// Of many samples, the first picture of each input is told.
static bool is_first(const HoloPort *port)
{
    enum { PORTS = 16 };
    static const char *told[PORTS];
    int                i = 0;
    while (i < PORTS && told[i] && strcmp(told[i], port->name)) i++;
    if (i == PORTS || told[i]) return false;
    told[i] = cli_format("%s", port->name);
    return true;
}

int cli_image_read(const Cli *cli, const HoloPort *port, const HoloTensor *type, const char *path, CliInput *input)
{
    Layout          layout;
    HoloPictureForm form;
    bool            is_scaled = false;
    int64_t         size[2];
    HoloError       error  = {0};
    int             result = find_layout(cli, port, type, &layout);
    if (!result) result = read_form(cli, port, &layout, &form, &is_scaled);
    if (result) return result;
    HoloStatus status = holo_tensors_read_picture(path, &layout.type, &form, size, &input->tensors, &error);
    if (status) return cli_fail_error(path, &error, status);
    was_read      = true;
    input->tensor = holo_tensors_get(input->tensors, 0, NULL);
    if (!cli_option(cli, "quiet") && is_first(port)) tell(port, path, size, input, &layout, &form, is_scaled);
    return CLI_OK;
}

// ---- as the model says

static const char *const image_options[] = {"mean", "std", "range", "channels", "layout"};

static bool is_option_given(const Cli *cli)
{
    for (int i = 0; i < CLI_COUNT(image_options); i++)
        if (cli_option(cli, image_options[i])) return true;
    return false;
}

bool cli_image_is_said(const Cli *cli, const HoloModel *model)
{
    static const char *const known[] = {"nearest", "bilinear", "bicubic"};
    const char              *name    = holo_model_meta_find(model, "image.resample");
    bool                     is_one  = !name;
    if (is_option_given(cli) || !holo_model_meta_find(model, "image.scale")) return false;
    for (int i = 0; i < CLI_COUNT(known) && name; i++) is_one = is_one || !strcmp(name, known[i]);
    if (!is_one) cli_warn("the model resizes pictures by '%s', which is not supported: using bicubic instead", name);
    return true;
}

int cli_image_port(const HoloModel *model)
{
    int found = holo_model_input_find(model, "pixel_values");
    for (int i = 0; i < holo_model_input_count(model) && found < 0; i++)
        if (holo_model_input(model, i)->type.rank == 4) found = i;
    return found;
}

int cli_images_check(const Cli *cli)
{
    for (int i = 0; i < CLI_COUNT(image_options) && !was_read; i++)
        if (cli_option(cli, image_options[i]))
            return cli_usage(cli, "--%s is for pictures, but no input is a picture", image_options[i]);
    return CLI_OK;
}
