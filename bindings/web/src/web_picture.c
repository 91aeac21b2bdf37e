// web_picture.c - pictures of texts for JavaScript, step by step.
#include "web.h"

bool WEB(web_imagine_can)(const HoloModel *model)
{
    return holo_imagine_can(model);
}

// {scheduler, schedulers, steps, guidance, width, height}
char *WEB(web_imagine_defaults)(const HoloModel *model)
{
    HoloImagineOptions options;
    Json               json = {0};
    const char        *name;
    holo_imagine_defaults(model, &options);
    write_open(&json, '{');
    write_put(&json, "scheduler", options.scheduler);
    write_put_number(&json, "steps", options.steps);
    write_put_number(&json, "guidance", options.guidance);
    write_put_number(&json, "width", options.width);
    write_put_number(&json, "height", options.height);
    write_key(&json, "schedulers");
    write_open(&json, '[');
    for (int i = 0; (name = holo_imagine_scheduler(i)); i++) write_string(&json, name);
    write_close(&json, ']');
    write_close(&json, '}');
    return write_end(&json);
}

// Numbers are in the order of bind_imagine_options; texts are NULL where they are not given.
HoloPicture *WEB(web_picture)(const HoloModel *model, HoloPool *pool, const char *prompt, const char *negative,
                              const char *scheduler, const double *numbers)
{
    HoloImagineOptions options;
    HoloPicture       *picture;
    holo_imagine_defaults(model, &options);
    options.prompt = prompt;
    options.pool   = pool;
    if (negative) options.negative = negative;
    if (scheduler) options.scheduler = scheduler;
    if (web_numbers_read(bind_imagine_options, numbers, &options)) return NULL;
    return holo_picture_create(model, &options, &picture, web_anew()) ? NULL : picture;
}

void WEB(web_picture_close)(HoloPicture *picture)
{
    holo_picture_destroy(picture);
}

// Whether the step that it took was the last one; -1: it failed.
int WEB(web_picture_step)(HoloPicture *picture)
{
    bool is_done;
    return holo_picture_step(picture, &is_done, web_anew()) ? -1 : is_done;
}

// Red, green and blue of each place are in web_given; web_picture_free frees them. The result is {width, height}.
char *WEB(web_picture_see)(HoloPicture *picture)
{
    HoloTensor image;
    Json       json = {0};
    if (holo_picture_see(picture, &image, web_anew())) return NULL;
    web_found = (HoloString){image.data, (size_t)(image.dim[0] * image.dim[1] * 3)};
    write_open(&json, '{');
    write_put_number(&json, "height", (double)image.dim[0]);
    write_put_number(&json, "width", (double)image.dim[1]);
    write_close(&json, '}');
    return write_end(&json);
}

void WEB(web_picture_free)(void *data)
{
    holo_image_free(&(HoloTensor){.data = data});
}
