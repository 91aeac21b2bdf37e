// sound_file.c - sounds for models of speech: a file at the rate that a model listens at.
#include "hologram_text.h"

#include "base/files.h"
#include "sound/sound.h"

HoloStatus holo_sound_read_memory(const void *bytes, size_t size, int rate, float **out_samples, size_t *out_count,
                                  HoloError *error)
{
    HoloWave sound, other;
    *out_samples = NULL;
    *out_count   = 0;
    if (rate && (rate < HOLO_SOUND_RATE_MIN || rate > HOLO_SOUND_RATE_MAX))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "%d samples a second: %d to %d are possible", rate,
                         HOLO_SOUND_RATE_MIN, HOLO_SOUND_RATE_MAX);
    HOLO_TRY(holo_wav_read(bytes, size, &sound, error));
    if (rate && sound.rate != rate) {
        HoloStatus status = holo_sound_resample(&sound, rate, &other, error);
        holo_free(sound.at);
        if (status) return status;
        sound = other;
    }
    *out_samples = sound.at;
    *out_count   = sound.count;
    return HOLO_OK;
}

HoloStatus holo_sound_read(const char *path, int rate, float **out_samples, size_t *out_count, HoloError *error)
{
    HoloMapping file;
    *out_samples = NULL;
    *out_count   = 0;
    HOLO_TRY(holo_file_map(path, &file, error));
    HoloStatus status = holo_sound_read_memory(file.data, file.size, rate, out_samples, out_count, error);
    holo_file_unmap(&file);
    return status;
}

void holo_samples_free(float *samples)
{
    holo_free(samples);
}
