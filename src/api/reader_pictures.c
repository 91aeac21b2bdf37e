// reader_pictures.c - holo_classify_picture: a picture as the model says that it wants it, or as it most likely does.
#include "api/reader.h"
#include "base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct PictureFrame {
    HoloTensor      type; // with the number of channels
    int             height;
    HoloPictureForm form;
} PictureFrame;

// Numbers of the metadata, with commas between them; those that are not there stay. Returns how many there are.
static int meta_list(const HoloModel *model, const char *key, double *out, int room)
{
    const char *at    = holo_model_meta_find(model, key);
    int         count = 0;
    char       *end;
    for (; at && count < room; at = *end == ',' ? end + 1 : NULL) {
        double number = strtod(at, &end);
        if (end == at || !isfinite(number) || fabs(number) > 1e9) break;
        out[count++] = number;
    }
    return count;
}

static bool can_be_channels(int64_t size)
{
    return size == 1 || size == 3;
}

// Channels are where the size is one or three. If both fit, or sizes are open, they come first.
static HoloStatus find_layout(const HoloPort *port, PictureFrame *f, HoloError *error)
{
    f->type   = port->type;
    f->height = f->type.rank - 2;
    if (f->type.kind != HOLO_TENSOR || f->type.rank < 2 || f->type.rank > 4)
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "the input '%s' is not for a picture, which needs an input of two to four dimensions",
                         port->name);
    if (f->type.rank == 2) return HOLO_OK;
    int64_t *front = &f->type.dim[f->type.rank == 4], *behind = &f->type.dim[f->type.rank - 1];
    f->form.is_channels_last = !can_be_channels(*front) && (can_be_channels(*behind) || (*front >= 0 && *behind < 0));
    int64_t *at              = f->form.is_channels_last ? behind : front;
    if (f->form.is_channels_last) f->height--;
    if (*at < 0) *at = 3;
    if (!can_be_channels(*at))
        return holo_fail(error, HOLO_UNSUPPORTED, "the input '%s' has %lld channels, but pictures have one or three",
                         port->name, (long long)*at);
    return HOLO_OK;
}

static HoloResample find_resample(const HoloModel *model)
{
    static const struct {
        const char  *name;
        HoloResample resample;
    } rows[]         = {{"nearest", HOLO_RESAMPLE_NEAREST}, {"bilinear", HOLO_RESAMPLE_BILINEAR}};
    const char *name = holo_model_meta_find(model, "image.resample");
    for (int i = 0; i < HOLO_COUNT(rows) && name; i++)
        if (!strcmp(name, rows[i].name)) return rows[i].resample;
    return HOLO_RESAMPLE_BICUBIC;
}

// The sizes that the picture is cut to: those that the model fixes, else those that its metadata has.
static void find_frame(const HoloModel *model, PictureFrame *f)
{
    double resize[2] = {0}, crop[2] = {-1, -1};
    bool   resizes = meta_list(model, "image.resize", resize, 2) == 2,
         crops     = meta_list(model, "image.crop", crop, 2) == 2;
    for (int i = 0; i < 2; i++) {
        int64_t *side = &f->type.dim[f->height + i];
        if (crops && *side < 0 && crop[i] >= 1) *side = (int64_t)crop[i];
        f->form.first[i] = resizes ? (int64_t)resize[i] : 0;
    }
    // Without a part to cut out, the whole picture is what the model reads.
    if (resizes && !crops && resize[1] >= 1 && f->type.dim[f->height] > 0 && f->type.dim[f->height + 1] > 0)
        f->form.first[0] = f->type.dim[f->height], f->form.first[1] = f->type.dim[f->height + 1];
    f->form.resample = resizes ? find_resample(model) : HOLO_RESAMPLE_LINEAR;
}

// The range of numbers: as the model says; else from 0 to 1, or all that integers have.
static HoloStatus find_range(const HoloModel *model, PictureFrame *f, HoloError *error)
{
    double scale    = 0;
    int    dtype    = f->type.dtype;
    bool   is_float = dtype == HOLO_F32 || dtype == HOLO_F64 || dtype == HOLO_F16 || dtype == HOLO_BF16;
    bool   is_said  = meta_list(model, "image.scale", &scale, 1);
    f->form.low     = !is_said && dtype == HOLO_I8 ? -128 : 0;
    f->form.high    = is_said ? 255 * scale : dtype == HOLO_I8 ? 127 : is_float ? 1 : 255;
    for (int i = 0; i < 3; i++) f->form.std[i] = 1;
    if (!is_said) return HOLO_OK;
    meta_list(model, "image.mean", f->form.mean, 3);
    meta_list(model, "image.std", f->form.std, 3);
    for (int i = 0; i < 3; i++)
        if (f->form.std[i] == 0)
            return holo_fail(error, HOLO_UNSUPPORTED, "the model divides pictures by 0: its image.std has a 0");
    find_frame(model, f);
    return HOLO_OK;
}

HoloStatus holo_classify_picture(HoloReader *r, const char *path, HoloLabels *out_labels, HoloError *error)
{
    PictureFrame f       = {.form = {.resample = HOLO_RESAMPLE_LINEAR}};
    HoloTensors *tensors = NULL;
    if (r->picture < 0) return holo_fail(error, HOLO_UNSUPPORTED, "the model does not read pictures alone");
    HOLO_TRY(find_layout(holo_model_input(r->model, r->picture), &f, error));
    HOLO_TRY(find_range(r->model, &f, error));
    HOLO_TRY(holo_tensors_read_picture(path, &f.type, &f.form, NULL, &tensors, error));
    HoloStatus status = holo_classify_tensor(r, holo_tensors_get(tensors, 0, NULL), out_labels, error);
    holo_tensors_destroy(tensors);
    return status;
}
