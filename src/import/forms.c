// forms.c - what a file is that is none of what can be read, told by its first bytes.
#include "import/import.h"

#include "base/bytes.h"

#include <string.h>

bool holo_import_is_text(const void *data, size_t size)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size && i < 256; i++)
        if ((bytes[i] < ' ' && !memchr("\t\r\n\f", bytes[i], 4)) || bytes[i] == 127) return false;
    return size && (bytes[0] < 128 || bytes[0] == 0xEF);
}

static bool contains(const uint8_t *bytes, size_t size, const char *text)
{
    return holo_bytes_find(bytes, size < 4096 ? size : 4096, text, strlen(text)) != NULL;
}

static bool is_safetensors(const uint8_t *bytes, size_t size)
{
    uint64_t header = 0;
    if (size > 9) memcpy(&header, bytes, sizeof header);
    return size > 9 && bytes[8] == '{' && header > 1 && header <= size - 8;
}

const char *holo_import_looks_like(const void *data, size_t size)
{
    const uint8_t *bytes = data;
    static const struct {
        size_t      offset;
        const char *magic, *words;
    } forms[] = {
        {0, "version https://git-lfs", "a Git LFS pointer: the file itself was not downloaded (git lfs pull)"},
        {0, "<!DOCTYPE", "a web page (HTML): the download went wrong"},
        {0, "<!doctype", "a web page (HTML): the download went wrong"},
        {0, "<html", "a web page (HTML): the download went wrong"},
        {0, "\x1f\x8b", "gzip-compressed data: unpack it first"},
        {0, "\3757zXZ", "xz-compressed data: unpack it first"},
        {0, "\x28\xb5\x2f\xfd", "zstd-compressed data: unpack it first"},
        {257, "ustar", "a tar archive: unpack it first"},
        {0, "GGUF", "a GGUF model (llama.cpp)"},
        {4, "TFL3", "a TensorFlow Lite model"},
        {4, "ORTM", "a model in ONNX Runtime's own format (.ort)"},
        {0, "\x89HDF", "an HDF5 file (Keras)"},
        {0, "\x93NUMPY", "a NumPy array (.npy)"},
        {0, "\x80\x02", "a Python pickle (PyTorch)"},
        {0, "\x80\x03", "a Python pickle"},
        {0, "\x80\x04", "a Python pickle"},
        {0, "\177ELF", "a program (ELF)"},
        {0, "\x89PNG", "a picture (PNG)"},
        {0, "\xff\xd8\xff", "a picture (JPEG)"},
        {0, "GIF8", "a picture (GIF)"},
        {8, "WEBP", "a picture (WebP)"},
        {0, "II*", "a picture (TIFF)"},
        {4, "jP  ", "a picture (JPEG 2000)"},
        {4, "ftyp", "a film or a picture (MP4, HEIC)"},
        {8, "WAVE", "a sound (WAV): give its samples as numbers"},
        {0, "OggS", "a sound (Ogg): give its samples as numbers"},
        {0, "fLaC", "a sound (FLAC): give its samples as numbers"},
        {0, "ID3", "a sound (MP3): give its samples as numbers"},
        {0, "MATLAB", "a MATLAB file (.mat)"},
        {0, "PAR1", "a Parquet table"},
        {0, "%PDF", "a document (PDF)"},
        {0, "\x89HOLO", "an archive that is compiled already (.holo)"},
    };
    if (size == 0) return "an empty file";
    if (size > 4 && !memcmp(bytes, "PK\3\4", 4))
        return contains(bytes, size, "data.pkl") ? "a PyTorch checkpoint (.pt): export it to ONNX"
                                                 : "a zip archive: unpack it first";
    for (int i = 0; i < HOLO_COUNT(forms); i++) {
        size_t length = strlen(forms[i].magic);
        if (size >= forms[i].offset + length && !memcmp(bytes + forms[i].offset, forms[i].magic, length))
            return forms[i].words;
    }
    if (is_safetensors(bytes, size)) return "a safetensors file: weights without a graph";
    return holo_import_is_text(bytes, size) ? "a text file" : NULL;
}
