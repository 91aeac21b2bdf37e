// wav.c - reads WAV files: a list of chunks, of which one says what the samples are and another has them.
#include "sound/sound.h"

#include <string.h>

enum { PCM = 1, FLOATS = 3, EXTENSIBLE = 0xFFFE, CHANNELS_MAX = 1024 };

typedef struct Wav {
    uint32_t       format, channels, rate, frame, bits; // frame: bytes of a sample of all channels
    const uint8_t *data;
    size_t         size;
} Wav;

static uint32_t get16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t get32(const uint8_t *p)
{
    return get16(p) | get16(p + 2) << 16;
}

static HoloStatus bad(HoloError *error, const char *why)
{
    return holo_fail(error, HOLO_BAD_INPUT, "this sound cannot be read: %s", why);
}

static HoloStatus format_read(const uint8_t *at, size_t size, Wav *w, HoloError *error)
{
    enum { PLAIN = 16, SUB_FORMAT = 24, WHOLE = 40 };
    if (size < PLAIN) return bad(error, "its format is cut off");
    w->format   = get16(at);
    w->channels = get16(at + 2);
    w->rate     = get32(at + 4);
    w->frame    = get16(at + 12);
    w->bits     = get16(at + 14);
    if (w->format == EXTENSIBLE) {
        if (size < WHOLE) return bad(error, "its format is cut off");
        w->format = get16(at + SUB_FORMAT);
    }
    return HOLO_OK;
}

// Sizes of chunks may be wrong for the last one, of a file that was written as it was recorded.
static HoloStatus chunks_read(const uint8_t *bytes, size_t size, Wav *w, HoloError *error)
{
    enum { HEAD = 12, CHUNK = 8 };
    size_t at = HEAD;
    if (size < HEAD || memcmp(bytes, "RIFF", 4) != 0 || memcmp(bytes + 8, "WAVE", 4) != 0)
        return bad(error, "it is not a WAV file (convert it, for example: ffmpeg -i sound.mp3 sound.wav)");
    while (size - at >= CHUNK && !w->data) {
        size_t length = get32(bytes + at + 4), left = size - at - CHUNK;
        if (length > left) length = left;
        if (!memcmp(bytes + at, "fmt ", 4)) HOLO_TRY(format_read(bytes + at + CHUNK, length, w, error));
        if (!memcmp(bytes + at, "data", 4)) {
            w->data = bytes + at + CHUNK;
            w->size = length;
        }
        length += length & 1 && length < left;
        at += CHUNK + length;
    }
    if (!w->format) return bad(error, "it has no format");
    return w->data ? HOLO_OK : bad(error, "it has no samples");
}

static HoloStatus wav_check(const Wav *w, HoloError *error)
{
    bool is_pcm  = w->format == PCM && (w->bits == 8 || w->bits == 16 || w->bits == 24 || w->bits == 32);
    bool is_real = w->format == FLOATS && (w->bits == 32 || w->bits == 64);
    if (!is_pcm && !is_real)
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "the WAV file has samples of format %u with %u bits; PCM of 8, 16, 24 or 32 bits, and floats "
                         "of 32 or 64, can be read",
                         w->format, w->bits);
    if (!w->channels || w->channels > CHANNELS_MAX || w->frame != w->channels * w->bits / 8)
        return bad(error, "its channels and the bytes of a sample do not fit");
    if (w->rate < HOLO_SOUND_RATE_MIN || w->rate > HOLO_SOUND_RATE_MAX)
        return holo_fail(error, HOLO_UNSUPPORTED, "the WAV file has %u samples per second; %d to %d can be read",
                         w->rate, HOLO_SOUND_RATE_MIN, HOLO_SOUND_RATE_MAX);
    return HOLO_OK;
}

static double real_of(const uint8_t *p, uint32_t bits)
{
    float  single;
    double twice;
    if (bits == 32) {
        memcpy(&single, p, sizeof single);
        twice = (double)single;
    } else
        memcpy(&twice, p, sizeof twice);
    return twice > -1e6 && twice < 1e6 ? twice : 0; // what is no number, or none of a sound
}

static double sample_of(const Wav *w, const uint8_t *p)
{
    if (w->format == FLOATS) return real_of(p, w->bits);
    if (w->bits == 8) return (p[0] - 128) / 128.0;
    uint32_t high = 0;
    for (uint32_t i = 0; i < w->bits / 8; i++) high |= (uint32_t)p[i] << (32 - w->bits + 8 * i);
    return (double)(int32_t)high / 2147483648.0;
}

HoloStatus holo_wav_read(const void *bytes, size_t size, HoloWave *out, HoloError *error)
{
    Wav w = {0};
    *out  = (HoloWave){0};
    HOLO_TRY(chunks_read(bytes, size, &w, error));
    HOLO_TRY(wav_check(&w, error));
    size_t count = w.size / w.frame;
    out->at      = holo_realloc(NULL, count * sizeof *out->at + 1);
    if (!out->at) return holo_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (uint32_t c = 0; c < w.channels; c++) sum += sample_of(&w, w.data + i * w.frame + c * (w.bits / 8));
        out->at[i] = (float)(sum / w.channels);
    }
    out->count = count;
    out->rate  = (int)w.rate;
    return HOLO_OK;
}
