// hologram_image.h - pictures from text: a diffusion pipeline in one archive (a tokenizer, a text encoder, a U-Net and
// a decoder), such as Stable Diffusion. The functions are in the compiler's library.
//
// Errors are reported as in hologram.h.
#ifndef HOLOGRAM_IMAGE_H
#define HOLOGRAM_IMAGE_H

#include "hologram.h"

#ifdef __cplusplus
extern "C" {
#endif

// Called before each step, and once more at the end with step == steps. False stops the work: HOLO_CANCELLED.
typedef bool (*HoloImagineFn)(void *state, int step, int steps);

// What to draw, and how. Call holo_imagine_defaults first, then change what you like.
typedef struct HoloImagineOptions {
    size_t        size;      // of this struct, as holo_imagine_defaults sets it
    const char   *prompt;    // what the picture should show
    const char   *negative;  // what it should not show; "" by default
    const char   *scheduler; // "ddim", "euler", "euler-ancestral", "dpm++" or "lcm"
    int           steps;
    float         guidance; // how closely the picture follows the prompt; at most 1: the U-Net runs once a step
    uint64_t      seed;     // the same seed gives the same picture, for any number of threads
    int           width, height;
    HoloPool     *pool; // its threads; NULL: none
    HoloImagineFn progress;
    void         *state; // passed to `progress`
} HoloImagineOptions;

// Can the model make pictures? It has the entries unet, text_encoder and vae_decoder, and a tokenizer.
HOLO_API bool holo_imagine_can(const HoloModel *model);
// The settings that the model was made with, 25 steps, guidance 7.5, and the size that it was trained with.
HOLO_API void holo_imagine_defaults(const HoloModel *model, HoloImagineOptions *out_options);
// Makes a picture: u8, [height, width, 3], red, green and blue. Free its data with holo_image_free.
HOLO_API HOLO_MUST HoloStatus holo_imagine(const HoloModel *model, const HoloImagineOptions *options,
                                           HoloTensor *out_image, HoloError *error);
HOLO_API void                 holo_image_free(HoloTensor *image);

// The same step by step, for callers that do something else between steps, or show the picture so far. Only
// holo_picture_create reads the strings of the options; `progress` is not called. The model and the pool must outlive
// it.
typedef struct HoloPicture HoloPicture;

HOLO_API HOLO_MUST HoloStatus holo_picture_create(const HoloModel *model, const HoloImagineOptions *options,
                                                  HoloPicture **out_picture, HoloError *error);
HOLO_API void                 holo_picture_destroy(HoloPicture *picture);
// Takes one step. After the last one it does nothing and reports that it is done.
HOLO_API HOLO_MUST HoloStatus holo_picture_step(HoloPicture *picture, bool *out_done, HoloError *error);
// The picture so far, in the form of holo_imagine; at the end it is the same picture that holo_imagine makes.
HOLO_API HOLO_MUST HoloStatus holo_picture_see(HoloPicture *picture, HoloTensor *out_image, HoloError *error);

// Writes a picture, u8, [height, width, 1 or 3], as a PNG file.
HOLO_API HOLO_MUST HoloStatus holo_image_write_png(const char *path, const HoloTensor *image, HoloError *error);
// The names of the schedulers; NULL after the last.
HOLO_API const char *holo_imagine_scheduler(int index);

#ifdef __cplusplus
}
#endif

#endif
