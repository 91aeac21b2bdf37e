// cmd_imagine.c - hologram imagine: makes a picture of a text.
#include "hologram_image.h"
#include "json.h"
#include "language.h"
#include "loading.h"

#include <string.h>

static bool show(void *state, int step, int steps)
{
    (void)state;
    cli_progress(NULL, "imagining", (double)step / steps);
    return true;
}

static int read_options(const Cli *cli, HoloImagineOptions *o)
{
    double steps = o->steps, guidance = o->guidance, seed = 0, width = o->width, height = o->height;
    int    result = cli_read_whole(cli, "steps", 1, 1000, &steps);
    if (!result) result = cli_read_number(cli, "guidance", 0, 1000, &guidance);
    if (!result) result = cli_read_whole(cli, "seed", 0, 9e15, &seed);
    if (!result) result = cli_read_whole(cli, "width", 1, 16384, &width);
    if (!result) result = cli_read_whole(cli, "height", 1, 16384, &height);
    if (cli_option(cli, "scheduler")) o->scheduler = cli_option(cli, "scheduler");
    if (cli_option(cli, "negative")) o->negative = cli_option(cli, "negative");
    o->steps    = (int)steps;
    o->width    = (int)width;
    o->height   = (int)height;
    o->guidance = (float)guidance;
    o->seed     = (uint64_t)seed;
    o->prompt   = cli->args[1];
    return result;
}

static void tell(const Cli *cli, const HoloImagineOptions *o, const char *path, double seconds)
{
    if (cli_option(cli, "json")) {
        Json json = {.out = stdout};
        json_open(&json, NULL, '{');
        json_text(&json, "file", path);
        json_text(&json, "prompt", o->prompt);
        json_int(&json, "width", o->width);
        json_int(&json, "height", o->height);
        json_int(&json, "steps", o->steps);
        json_text(&json, "scheduler", o->scheduler);
        json_int(&json, "seed", (int64_t)o->seed);
        json_number(&json, "seconds", seconds);
        json_close(&json, '}');
    } else if (!cli_option(cli, "quiet")) {
        printf("%s: %d x %d, %d steps of %s, %.2f s\n", path, o->width, o->height, o->steps, o->scheduler, seconds);
    }
}

static int make(const Cli *cli, const HoloModel *model, const char *path)
{
    HoloError          error = {0};
    HoloTensor         image = {0};
    HoloImagineOptions o;
    holo_imagine_defaults(model, &o);
    int result = read_options(cli, &o);
    if (result) return result;
    o.progress        = show;
    double     start  = cli_now();
    HoloStatus status = holo_pool_create((int)cli_number("threads"), &o.pool);
    if (!status) status = holo_imagine(model, &o, &image, &error);
    cli_progress_end();
    holo_pool_destroy(o.pool);
    if (status) return cli_fail_error(cli->args[0], &error, status);
    double seconds = cli_now() - start;
    status         = holo_image_write_png(path, &image, &error);
    holo_image_free(&image);
    if (status) return cli_fail_error(path, &error, status);
    tell(cli, &o, path, seconds);
    return CLI_OK;
}

static int imagine(Cli *cli)
{
    HoloModel  *model  = NULL;
    const char *path   = cli_option(cli, "output");
    int         result = cli_model_open(cli, 0, &model);
    if (!result) result = make(cli, model, path ? path : "out.png");
    holo_model_close(model);
    return result;
}

static const CliOption options[] = {
    {"output", 'o', "FILE.png", "the picture (default out.png)", .writes = true},
    {"negative", 0, "TEXT", "what the picture should not show"},
    {"steps", 0, "N", "steps from noise to the picture (default 25)"},
    {"guidance", 0, "NUMBER",
     "how closely the picture follows the text (default 7.5);\n1 or less: half the work, and freer"},
    {"scheduler", 0, "NAME", "how the steps are taken (default: the model's own)",
     .choices = "ddim euler euler-ancestral dpm++ lcm"},
    {"seed", 0, "N", "another seed gives another picture (default 0)"},
    {"width", 0, "N", "in pixels (default: the model's own)"},
    {"height", 0, "N", "in pixels (default: the model's own)"},
    {"json", 0, NULL, "print a report as JSON"},
    {"quiet", 'q', NULL, "print nothing"},
    CLI_OPTION_THREADS,
    {0},
};

const CliCommand cli_imagine = {
    .name      = "imagine",
    .purpose   = "make a picture from text",
    .arguments = "FILE TEXT",
    .arg_min   = 2,
    .arg_max   = 2,
    .details   = "FILE is an archive of a diffusion pipeline, or the pipeline itself: a folder of Diffusers, such as\n"
                 "Stable Diffusion. The same text, seed and settings give the same picture, for any number of\n"
                 "threads.",
    .examples  = "  hologram imagine demo/imagine/model 'a red apple' -o apple.png\n"
                 "  hologram imagine pipeline.holo 'a red fox in the snow' --negative 'text' --steps 30 --seed 7\n"
                 "  hologram imagine pipeline.holo 'a castle' --scheduler dpm++ --guidance 5 --width 512 --height 768\n",
    .options   = options,
    .run       = imagine,
};
