// others.c - importers without `open`: formats of models that cannot be read yet, and what people give by mistake.
//
// When a format gets an importer, it leaves this table for a folder of its own.
#include "import/importer.h"

#include "base/bytes.h"

#include <string.h>
#include <strings.h>

// ---- sniffs, for formats that a few bytes at one place do not identify

static HoloSniff sniff_empty(const HoloOffer *c)
{
    return !c->is_folder && !c->file.size ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
}

static bool is_zip(const HoloOffer *c)
{
    return holo_offer_has_bytes(c, 0, "PK\3\4");
}

static HoloSniff sniff_zip(const HoloOffer *c)
{
    return is_zip(c) ? HOLO_SNIFF_PERHAPS : HOLO_SNIFF_NONE;
}

static HoloSniff sniff_safetensors(const HoloOffer *c)
{
    const uint8_t *bytes  = c->file.data;
    size_t         size   = c->file.size;
    uint64_t       header = 0;
    if (c->is_folder || size < 10) return HOLO_SNIFF_NONE;
    memcpy(&header, bytes, sizeof header);
    return bytes[8] == '{' && header > 1 && header <= size - 8 ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
}

static HoloSniff sniff_core_ml(const HoloOffer *c)
{
    char   start[4096];
    size_t size = holo_offer_peek(c, "Manifest.json", start, sizeof start);
    return holo_bytes_find(start, size, "com.apple.CoreML", 16) ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
}

// Case does not matter, nor what is blank in front.
static bool begins(const HoloOffer *c, const char *word)
{
    const char *bytes = c->file.data;
    size_t      size = c->is_folder ? 0 : c->file.size, at = 0, length = strlen(word);
    while (at < size && at < 256 && memchr(" \t\r\n\xEF\xBB\xBF", bytes[at], 7)) at++;
    return size - at >= length && !strncasecmp(bytes + at, word, length);
}

static HoloSniff sniff_html(const HoloOffer *c)
{
    return begins(c, "<!DOCTYPE html") || begins(c, "<html") || begins(c, "<head") ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
}

// What storage services answer instead of a file.
static HoloSniff sniff_answer(const HoloOffer *c)
{
    bool is_error = (begins(c, "<?xml") && holo_offer_mentions(c, "<Error>")) || begins(c, "<Error>") ||
                    begins(c, "{\"error") || begins(c, "Entry not found") || begins(c, "Not Found") ||
                    begins(c, "Invalid username or password") || begins(c, "Access to model");
    return is_error && c->file.size < 65536 ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
}

static HoloSniff sniff_zeros(const HoloOffer *c)
{
    const char *bytes = c->file.data;
    size_t      size  = c->is_folder ? 0 : c->file.size < 4096 ? c->file.size : 4096;
    for (size_t i = 0; i < size; i++)
        if (bytes[i]) return HOLO_SNIFF_NONE;
    return size >= 64 ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
}

// config.json of a model: by itself, or in a folder that has no weights.
static HoloSniff sniff_config(const HoloOffer *c)
{
    char   start[8192];
    size_t size = c->is_folder ? holo_offer_peek(c, "config.json", start, sizeof start)
                               : (c->file.size < sizeof start ? c->file.size : sizeof start);
    if (!c->is_folder && size) memcpy(start, c->file.data, size);
    bool is =
        size && start[0] == '{' &&
        (holo_bytes_find(start, size, "\"architectures\"", 15) || holo_bytes_find(start, size, "\"model_type\"", 12));
    return is ? HOLO_SNIFF_PERHAPS : HOLO_SNIFF_NONE;
}

static HoloSniff sniff_weights(const HoloOffer *c)
{
    static const char *const names[] = {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"};
    for (int i = 0; i < HOLO_COUNT(names) && c->is_folder && !holo_offer_has_name(c, "config.json"); i++)
        if (holo_offer_has_name(c, names[i])) return HOLO_SNIFF_PERHAPS;
    return HOLO_SNIFF_NONE;
}

static HoloSniff sniff_text(const HoloOffer *c)
{
    return holo_offer_is_text(c) ? HOLO_SNIFF_PERHAPS : HOLO_SNIFF_NONE;
}

// ---- the table

#define WEB     "the download went wrong"
#define UNPACK  "unpack it first"
#define SAMPLES "give its samples as numbers"

#define MODEL(n, w, a, ...)                                               \
    {                                                                     \
        .name = n, .words = w, .advice = a, .is_model = true, __VA_ARGS__ \
    }
#define THING(n, w, a, at, bytes)                                          \
    {                                                                      \
        .name = n, .words = w, .advice = a, .magic_at = at, .magic = bytes \
    }

// Of rows that are equally sure, the first counts.
const HoloImporter holo_importers_others[] = {
    {.name = "empty", .words = "an empty file", .sniff = sniff_empty},
    MODEL("ORT", "a model in ONNX Runtime's own format (.ort)", "give the ONNX model that it was made from",
          .magic = "ORTM", .magic_at = 4),
    MODEL("CoreML", "a Core ML package", "give the model that it was made from, as ONNX", .sniff = sniff_core_ml),
    MODEL("SafeTensors", "a safetensors file: weights without a graph", "give its folder, which also has config.json",
          .sniff = sniff_safetensors),
    MODEL("config", "the config of a HuggingFace model without its weights",
          "download them, too (model.safetensors), and give the folder", .sniff = sniff_config),
    MODEL("weights", "a folder of weights without config.json", "it says what model they are of: download it, too",
          .sniff = sniff_weights),
    THING("pickle3", "a Python pickle", NULL, 0, "\x80\x03"),
    THING("pickle4", "a Python pickle", NULL, 0, "\x80\x04"),
    THING("git-lfs", "a Git LFS pointer", "the file itself was not downloaded (git lfs pull)", 0,
          "version https://git-lfs"),
    {.name = "html", .words = "a web page (HTML)", .advice = WEB, .sniff = sniff_html},
    {.name   = "answer",
     .words  = "an error message of a server",
     .advice = WEB "; look into the file",
     .sniff  = sniff_answer},
    {.name = "zeros", .words = "zero bytes", .advice = "the copy or the download did not finish", .sniff = sniff_zeros},
    THING("gzip", "gzip-compressed data", UNPACK, 0, "\x1f\x8b"),
    THING("xz", "xz-compressed data", UNPACK, 0, "\3757zXZ"),
    THING("zstd", "zstd-compressed data", UNPACK, 0, "\x28\xb5\x2f\xfd"),
    THING("tar", "a tar archive", UNPACK, 257, "ustar"),
    THING("npy", "a NumPy array (.npy)", NULL, 0, "\x93NUMPY"),
    THING("elf", "a program (ELF)", NULL, 0, "\177ELF"),
    THING("png", "a picture (PNG)", NULL, 0, "\x89PNG"),
    THING("jpeg", "a picture (JPEG)", NULL, 0, "\xff\xd8\xff"),
    THING("gif", "a picture (GIF)", NULL, 0, "GIF8"),
    THING("webp", "a picture (WebP)", NULL, 8, "WEBP"),
    THING("tiff", "a picture (TIFF)", NULL, 0, "II*"),
    THING("jpeg2000", "a picture (JPEG 2000)", NULL, 4, "jP  "),
    THING("mp4", "a video or a picture (MP4, HEIC)", NULL, 4, "ftyp"),
    THING("wav", "a sound (WAV)", SAMPLES, 8, "WAVE"),
    THING("ogg", "a sound (Ogg)", SAMPLES, 0, "OggS"),
    THING("flac", "a sound (FLAC)", SAMPLES, 0, "fLaC"),
    THING("mp3", "a sound (MP3)", SAMPLES, 0, "ID3"),
    THING("matlab", "a MATLAB file (.mat)", NULL, 0, "MATLAB"),
    THING("parquet", "a Parquet table", NULL, 0, "PAR1"),
    THING("pdf", "a document (PDF)", NULL, 0, "%PDF"),
    THING("holo", "an archive, which is already compiled (.holo)", NULL, 0, "\x89HOLO"),
    {.name = "zip", .words = "a zip archive", .advice = UNPACK, .sniff = sniff_zip},
    {.name = "text", .words = "a text file", .sniff = sniff_text},
    {0},
};
