// others.c - importers without `open`: formats of models that cannot be read yet, and what people give by mistake.
//
// When a format gets an importer, it leaves this table for a folder of its own.
#include "import/importer.h"

#include "base/bytes.h"

#include <string.h>

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

static HoloSniff sniff_text(const HoloOffer *c)
{
    const uint8_t *bytes = c->file.data;
    size_t         size  = c->file.size;
    for (size_t i = 0; i < size && i < 256; i++)
        if ((bytes[i] < ' ' && !memchr("\t\r\n\f", bytes[i], 4)) || bytes[i] == 127) return HOLO_SNIFF_NONE;
    return size && (bytes[0] < 128 || bytes[0] == 0xEF) ? HOLO_SNIFF_PERHAPS : HOLO_SNIFF_NONE;
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
    THING("pickle3", "a Python pickle", NULL, 0, "\x80\x03"),
    THING("pickle4", "a Python pickle", NULL, 0, "\x80\x04"),
    THING("git-lfs", "a Git LFS pointer", "the file itself was not downloaded (git lfs pull)", 0,
          "version https://git-lfs"),
    THING("html", "a web page (HTML)", WEB, 0, "<!DOCTYPE"),
    THING("html", "a web page (HTML)", WEB, 0, "<!doctype"),
    THING("html", "a web page (HTML)", WEB, 0, "<html"),
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
