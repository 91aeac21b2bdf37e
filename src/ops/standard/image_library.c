// image_library.c - formats that well-known libraries decode: JPEG, PNG, WebP, TIFF and JPEG 2000.
//
// A library is opened when the first image of its format comes, so that the runtime starts without any. Only functions
// whose arguments are numbers, bytes and small stable structs are used; they are declared here, as their headers have
// them. None of them ends the program: each reports errors by what it returns.
#include "base/library.h"
#include "ops/standard/image.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void *open_library(HoloImage *image, const char *format, const HoloLibrary *library, void *api)
{
    void *handle = holo_library_open(library, api);
    if (!handle)
        image->status = holo_call_fail(image->call, HOLO_UNSUPPORTED,
                                       "%s images need %s, which is not installed (Debian package %s)", format,
                                       library->file, library->package);
    return handle;
}

// ---- JPEG, by TurboJPEG

enum { TJPF_RGB = 0, TJPF_CMYK = 11, TJCS_CMYK = 3, TJCS_YCCK = 4, TJFLAG_ACCURATEDCT = 4096, TJERR_WARNING = 0 };

typedef struct Turbo {
    void *(*init)(void);
    int (*header)(void *, const unsigned char *, unsigned long, int *, int *, int *, int *);
    int (*decompress)(void *, const unsigned char *, unsigned long, unsigned char *, int, int, int, int, int);
    int (*error)(void *);
    int (*destroy)(void *);
} Turbo;

static const char *const turbo_names[] = {"tjInitDecompress", "tjDecompressHeader3", "tjDecompress2", "tjGetErrorCode",
                                          "tjDestroy"};
static const HoloLibrary turbo_library = {"libturbojpeg.so.0", "libturbojpeg0", turbo_names, HOLO_COUNT(turbo_names)};

static bool jpeg_pixels(HoloImage *image, const Turbo *t, void *jpeg, uint8_t *to, int format)
{
    int failed = t->decompress(jpeg, image->bytes, image->size, to, (int)image->width, 0, (int)image->height, format,
                               TJFLAG_ACCURATEDCT);
    return !failed || t->error(jpeg) == TJERR_WARNING;
}

static bool jpeg_decode(HoloImage *image, const Turbo *t, void *jpeg)
{
    int   width, height, sampling, space;
    void *inks;
    if (t->header(jpeg, image->bytes, image->size, &width, &height, &sampling, &space)) return false;
    if (!holo_image_begin(image, width, height)) return false;
    if (space != TJCS_CMYK && space != TJCS_YCCK) return jpeg_pixels(image, t, jpeg, image->rgb, TJPF_RGB);
    if (!holo_image_memory(image, 4, &inks) || !jpeg_pixels(image, t, jpeg, inks, TJPF_CMYK)) return false;
    const uint8_t *ink = inks; // files have them inverted: 255 is none
    for (int64_t i = 0; i < image->width * image->height; i++, ink += 4)
        for (int c = 0; c < 3; c++) image->rgb[3 * i + c] = (uint8_t)(ink[c] * ink[3] / 255);
    return true;
}

bool holo_image_jpeg(HoloImage *image)
{
    Turbo t;
    void *library = open_library(image, "JPEG", &turbo_library, &t);
    if (!library) return false;
    void *jpeg = t.init();
    bool  done = jpeg && jpeg_decode(image, &t, jpeg);
    if (jpeg) t.destroy(jpeg);
    holo_library_close(library);
    return done;
}

// ---- PNG, by libpng's simplified reader

enum { PNG_VERSION = 1, PNG_RGBA = 3, PNG_16BIT_SRGB = 4 };

typedef struct PngImage { // png_image
    void    *opaque;
    uint32_t version, width, height, format, flags, colors, warning_or_error;
    char     message[64];
} PngImage;

typedef struct Png {
    int (*begin)(PngImage *, const void *, size_t);
    int (*finish)(PngImage *, const void *, void *, int32_t, void *);
    void (*free)(PngImage *);
} Png;

static const char *const png_names[] = {"png_image_begin_read_from_memory", "png_image_finish_read", "png_image_free"};
static const HoloLibrary png_library = {"libpng16.so.16", "libpng16-16", png_names, HOLO_COUNT(png_names)};

// Every pixel as it is: transparency is dropped, not mixed with a background.
static void drop_alpha(HoloImage *image, const uint8_t *rgba)
{
    for (int64_t i = 0; i < image->width * image->height; i++) memcpy(image->rgb + 3 * i, rgba + 4 * i, 3);
}

bool holo_image_png(HoloImage *image)
{
    Png      api;
    PngImage png  = {.version = PNG_VERSION};
    bool     done = false;
    void    *rgba, *library = open_library(image, "PNG", &png_library, &api);
    if (!library) return false;
    if (api.begin(&png, image->bytes, image->size)) {
        png.format = PNG_RGBA;
        png.flags |= PNG_16BIT_SRGB;
        done = holo_image_begin(image, png.width, png.height) && holo_image_memory(image, 4, &rgba) &&
               api.finish(&png, NULL, rgba, 0, NULL);
        if (done) drop_alpha(image, rgba);
    }
    api.free(&png);
    holo_library_close(library);
    return done;
}

// ---- WebP

typedef struct Webp {
    int (*info)(const uint8_t *, size_t, int *, int *);
    uint8_t *(*decode)(const uint8_t *, size_t, uint8_t *, size_t, int);
} Webp;

static const char *const webp_names[] = {"WebPGetInfo", "WebPDecodeRGBInto"};
static const HoloLibrary webp_library = {"libwebp.so.7", "libwebp7", webp_names, HOLO_COUNT(webp_names)};

bool holo_image_webp(HoloImage *image)
{
    Webp  api;
    int   width, height;
    void *library = open_library(image, "WebP", &webp_library, &api);
    if (!library) return false;
    bool done = api.info(image->bytes, image->size, &width, &height) && holo_image_begin(image, width, height) &&
                api.decode(image->bytes, image->size, image->rgb, (size_t)width * (size_t)height * 3, width * 3);
    holo_library_close(library);
    return done;
}

// ---- TIFF

enum { TIFF_WIDTH = 256, TIFF_HEIGHT = 257, TIFF_TOP_LEFT = 1, TIFF_MEMORY_MAX = 1 << 30 };

typedef int TiffReport(void *, void *, const char *, const char *, va_list);

typedef struct Tiff {
    void *(*options)(void);
    void (*options_free)(void *);
    void (*on_error)(void *, TiffReport *, void *);
    void (*on_warning)(void *, TiffReport *, void *);
    void (*memory_max)(void *, ssize_t);
    void *(*open)(const char *, const char *, void *, ssize_t (*)(void *, void *, ssize_t),
                  ssize_t (*)(void *, void *, ssize_t), uint64_t (*)(void *, uint64_t, int), int (*)(void *),
                  uint64_t (*)(void *), int (*)(void *, void **, uint64_t *), void (*)(void *, void *, uint64_t),
                  void *);
    int (*field)(void *, uint32_t, ...);
    int (*read)(void *, uint32_t, uint32_t, uint32_t *, int, int);
    void (*close)(void *);
} Tiff;

static const char *const tiff_names[] = {"TIFFOpenOptionsAlloc",
                                         "TIFFOpenOptionsFree",
                                         "TIFFOpenOptionsSetErrorHandlerExtR",
                                         "TIFFOpenOptionsSetWarningHandlerExtR",
                                         "TIFFOpenOptionsSetMaxSingleMemAlloc",
                                         "TIFFClientOpenExt",
                                         "TIFFGetField",
                                         "TIFFReadRGBAImageOriented",
                                         "TIFFClose"};
static const HoloLibrary tiff_library = {"libtiff.so.6", "libtiff6", tiff_names, HOLO_COUNT(tiff_names)};

typedef struct Stream { // the file as libraries that want one read it
    const HoloImage *image;
    uint64_t         at;
} Stream;

static size_t stream_read(Stream *s, void *to, size_t size)
{
    size_t left = s->at < s->image->size ? s->image->size - (size_t)s->at : 0, count = size < left ? size : left;
    if (count) memcpy(to, s->image->bytes + s->at, count);
    s->at += count;
    return count;
}

static ssize_t tiff_read(void *stream, void *to, ssize_t size)
{
    return size < 0 ? -1 : (ssize_t)stream_read(stream, to, (size_t)size);
}

static ssize_t tiff_write(void *stream, void *from, ssize_t size)
{
    (void)stream, (void)from, (void)size;
    return -1;
}

static uint64_t tiff_seek(void *stream, uint64_t to, int from)
{
    Stream *s    = stream;
    return s->at = to + (from == SEEK_CUR ? s->at : from == SEEK_END ? s->image->size : 0);
}

static int tiff_close(void *stream)
{
    (void)stream;
    return 0;
}

static uint64_t tiff_size(void *stream)
{
    return ((Stream *)stream)->image->size;
}

static int tiff_silence(void *tiff, void *user, const char *module, const char *format, va_list args)
{
    (void)tiff, (void)user, (void)module, (void)format, (void)args;
    return 1;
}

static bool tiff_decode(HoloImage *image, const Tiff *api, void *tiff)
{
    uint32_t width = 0, height = 0;
    void    *rgba;
    if (!api->field(tiff, TIFF_WIDTH, &width) || !api->field(tiff, TIFF_HEIGHT, &height)) return false;
    if (!holo_image_begin(image, width, height) || !holo_image_memory(image, 4, &rgba)) return false;
    if (!api->read(tiff, width, height, rgba, TIFF_TOP_LEFT, 1)) return false;
    const uint32_t *pixel = rgba;
    for (int64_t i = 0; i < image->width * image->height; i++)
        for (int c = 0; c < 3; c++) image->rgb[3 * i + c] = (uint8_t)(pixel[i] >> (8 * c));
    return true;
}

bool holo_image_tiff(HoloImage *image)
{
    Tiff   api;
    Stream stream  = {.image = image};
    bool   done    = false;
    void  *library = open_library(image, "TIFF", &tiff_library, &api);
    if (!library) return false;
    void *options = api.options();
    if (options) {
        api.on_error(options, tiff_silence, NULL);
        api.on_warning(options, tiff_silence, NULL);
        api.memory_max(options, TIFF_MEMORY_MAX);
        void *tiff = api.open("image", "rm", &stream, tiff_read, tiff_write, tiff_seek, tiff_close, tiff_size, NULL,
                              NULL, options);
        done       = tiff && tiff_decode(image, &api, tiff);
        if (tiff) api.close(tiff);
        api.options_free(options);
    }
    holo_library_close(library);
    return done;
}

// ---- JPEG 2000, by OpenJPEG

enum { OPJ_CODEC_J2K = 0, OPJ_CODEC_JP2 = 2, OPJ_SYCC = 3, OPJ_PARAMETERS = 1 << 14, OPJ_CHUNK = 1 << 16 };

typedef struct OpjPlane { // opj_image_comp_t
    uint32_t dx, dy, w, h, x0, y0, prec, bpp, is_signed, resolution, factor;
    int32_t *data;
    uint16_t alpha;
} OpjPlane;

typedef struct OpjImage { // opj_image_t
    uint32_t  x0, y0, x1, y1, count;
    int       space;
    OpjPlane *planes;
    uint8_t  *profile;
    uint32_t  profile_size;
} OpjImage;

typedef struct Opj {
    void *(*create)(int);
    void (*defaults)(void *);
    int (*setup)(void *, void *);
    void *(*stream)(size_t, int);
    void (*stream_read)(void *, size_t (*)(void *, size_t, void *));
    void (*stream_skip)(void *, int64_t (*)(int64_t, void *));
    void (*stream_seek)(void *, int (*)(int64_t, void *));
    void (*stream_data)(void *, void *, void (*)(void *));
    void (*stream_length)(void *, uint64_t);
    int (*header)(void *, void *, OpjImage **);
    int (*decode)(void *, void *, OpjImage *);
    void (*image_destroy)(OpjImage *);
    void (*stream_destroy)(void *);
    void (*destroy)(void *);
} Opj;

static const char *const opj_names[] = {"opj_create_decompress",
                                        "opj_set_default_decoder_parameters",
                                        "opj_setup_decoder",
                                        "opj_stream_create",
                                        "opj_stream_set_read_function",
                                        "opj_stream_set_skip_function",
                                        "opj_stream_set_seek_function",
                                        "opj_stream_set_user_data",
                                        "opj_stream_set_user_data_length",
                                        "opj_read_header",
                                        "opj_decode",
                                        "opj_image_destroy",
                                        "opj_stream_destroy",
                                        "opj_destroy_codec"};
static const HoloLibrary opj_library = {"libopenjp2.so.7", "libopenjp2-7", opj_names, HOLO_COUNT(opj_names)};

static size_t opj_read(void *to, size_t size, void *stream)
{
    size_t count = stream_read(stream, to, size);
    return count ? count : (size_t)-1;
}

static int64_t opj_skip(int64_t count, void *stream)
{
    Stream *s = stream;
    if (count < 0 || (uint64_t)count > s->image->size - (s->at < s->image->size ? s->at : s->image->size)) return -1;
    s->at += (uint64_t)count;
    return count;
}

static int opj_seek(int64_t to, void *stream)
{
    Stream *s = stream;
    if (to < 0 || (uint64_t)to > s->image->size) return 0;
    s->at = (uint64_t)to;
    return 1;
}

// A sample as 0 to 255. Planes may be smaller than the image.
static int opj_sample(const OpjPlane *p, int64_t x, int64_t y)
{
    int64_t column = x / p->dx < p->w ? x / p->dx : p->w - 1, row = y / p->dy < p->h ? y / p->dy : p->h - 1;
    int64_t value = p->data[row * p->w + column] + (p->is_signed ? INT64_C(1) << (p->prec - 1) : 0);
    int64_t top   = (INT64_C(1) << p->prec) - 1;
    value         = value < 0 ? 0 : value > top ? top : value;
    return (int)(p->prec == 8 ? value : value * 255 / top);
}

static uint8_t clamp(double x)
{
    return (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x + 0.5);
}

static void from_sycc(uint8_t *rgb)
{
    double y = rgb[0], cb = rgb[1] - 128.0, cr = rgb[2] - 128.0;
    rgb[0] = clamp(y + 1.402 * cr);
    rgb[1] = clamp(y - 0.344136 * cb - 0.714136 * cr);
    rgb[2] = clamp(y + 1.772 * cb);
}

static bool opj_pixels(HoloImage *image, const OpjImage *from)
{
    for (uint32_t c = 0; c < from->count && c < 3; c++) {
        const OpjPlane *p = &from->planes[c];
        if (!p->data || !p->w || !p->h || !p->dx || !p->dy || !p->prec || p->prec > 31) return false;
    }
    uint8_t *rgb = image->rgb;
    for (int64_t y = 0; y < image->height; y++)
        for (int64_t x = 0; x < image->width; x++, rgb += 3) {
            for (uint32_t c = 0; c < 3; c++) rgb[c] = (uint8_t)opj_sample(&from->planes[from->count < 3 ? 0 : c], x, y);
            if (from->space == OPJ_SYCC && from->count >= 3) from_sycc(rgb);
        }
    return true;
}

static bool opj_all(HoloImage *image, const Opj *api, void *codec, void *stream)
{
    double    parameters[OPJ_PARAMETERS / sizeof(double)]; // larger than opj_dparameters_t, which it stands for
    OpjImage *got = NULL;
    api->defaults(parameters);
    bool done = api->setup(codec, parameters) && api->header(stream, codec, &got) && got && got->count > 0 &&
                got->x1 > got->x0 && got->y1 > got->y0 &&
                holo_image_begin(image, (int64_t)got->x1 - got->x0, (int64_t)got->y1 - got->y0) &&
                api->decode(codec, stream, got) && opj_pixels(image, got);
    if (got) api->image_destroy(got);
    return done;
}

bool holo_image_jp2(HoloImage *image)
{
    Opj    api;
    Stream data    = {.image = image};
    void  *library = open_library(image, "JPEG 2000", &opj_library, &api);
    if (!library) return false;
    void *codec  = api.create(image->bytes[0] == 0xFF ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
    void *stream = api.stream(OPJ_CHUNK, 1);
    bool  done   = false;
    if (codec && stream) {
        api.stream_read(stream, opj_read);
        api.stream_skip(stream, opj_skip);
        api.stream_seek(stream, opj_seek);
        api.stream_data(stream, &data, NULL);
        api.stream_length(stream, image->size);
        done = opj_all(image, &api, codec, stream);
    }
    if (stream) api.stream_destroy(stream);
    if (codec) api.destroy(codec);
    holo_library_close(library);
    return done;
}
