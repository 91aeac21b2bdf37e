// loading.h - for the commands that compile or run: models, and inputs for them.
#ifndef HOLO_CLI_LOADING_H
#define HOLO_CLI_LOADING_H

#include "cli.h"

// Functions that return int give CLI_OK, or another exit status after a message.

// Rows for the tables of options.
#define CLI_OPTION_SHAPE                                                                                    \
    {                                                                                                       \
        "input-shape", 0, "NAME:DIMS",                                                                      \
            "fix the shape of an input, for example\nx:1,3,224,224; ? leaves a size as it is", .many = true \
    }
// For commands that also take an archive, whose sizes they cannot change.
#define CLI_OPTION_MODEL_SHAPE                                                                                     \
    {                                                                                                              \
        "input-shape", 0, "NAME:DIMS",                                                                             \
            "fix the shape of an input, for example\nx:1,3,224,224; ? leaves a size as it is", .many = true,       \
                                                                                               .files = CLI_MODELS \
    }
#define CLI_OPTION_INPUT                                                                                                                                               \
    {                                                                                                                                                                  \
        "input", 'i', "NAME=FILE",                                                                                                                                     \
            "a .npy, .npz or .pb file, numbers (1,2,3 or a .csv), a\npicture, `random`, or - (standard input); NAME= is optional\nif there is one input, or for .npz", \
            .many = true                                                                                                                                               \
    }
// For a model of several entries.
#define CLI_OPTION_ENTRY                                                                    \
    {                                                                                       \
        "entry", 0, "NAME", "the entry of the model to run, such as `encoder`: see inspect" \
    }
// How a picture is read as an input.
#define CLI_OPTIONS_IMAGE                                                                                                  \
    {"mean", 0, "R,G,B", "for pictures: subtract this, such as 0.485,0.456,0.406"},                                        \
        {"std", 0, "R,G,B", "for pictures: then divide by this"},                                                          \
        {"range", 0, "LOW,HIGH",                                                                                           \
         "for pictures: the values of black and white (default 0,1;\n0,255 for integers, or if --mean is in that range)"}, \
        {"channels", 0, "ORDER", "for pictures: rgb, bgr or gray", .choices = "rgb bgr gray"},                             \
    {                                                                                                                      \
        "layout", 0, "LAYOUT", "for pictures: nchw or nhwc (default: by the shape)", .choices = "nchw nhwc"                \
    }
#define CLI_OPTION_THREADS                                                 \
    {                                                                      \
        "threads", 't', "N", "threads to run on (default 0: one per core)" \
    }
#define CLI_OPTION_TARGET                                                                                                                                                                                       \
    {                                                                                                                                                                                                           \
        "target", 0, "NAMES",                                                                                                                                                                                   \
            "where steps run: each step runs on the first of NAME,NAME,...\nthat can run it, otherwise on the CPU; cuda, or cuda:sm_90, is a GPU.\nWith cpu,cuda the archive also has a plan for the CPU alone" \
    }
#define CLI_OPTION_DEVICE                                                                                                                                                                       \
    {                                                                                                                                                                                           \
        "device", 0, "NAME",                                                                                                                                                                    \
            "cuda or cuda:N: the GPU that runs a model compiled for it; cpu: the\nmodel must be for it. An archive for both runs on the first GPU by\ndefault, or on the CPU if there is none", \
            .files = CLI_ARCHIVES                                                                                                                                                               \
    }
#define CLI_OPTION_NUMERIC                                                                                                                          \
    {                                                                                                                                               \
        "numeric", 0, "CLASS",                                                                                                                      \
            "fused (default), exact (same bits on every CPU), bf16 (products\nwith weights in bf16 where the CPU has them); on GPUs also tf32, f16" \
    }
// An archive has its own numeric class.
#define CLI_OPTION_MODEL_NUMERIC                                                                                                                     \
    {                                                                                                                                                \
        "numeric", 0, "CLASS",                                                                                                                       \
            "fused (default), exact (same bits on every CPU), bf16 (products\nwith weights in bf16 where the CPU has them); on GPUs also tf32, f16", \
            .files = CLI_MODELS                                                                                                                      \
    }

#define CLI_OPTION_PREFAULT                                                    \
    {                                                                          \
        "prefault", 0, NULL, "load all pages into memory before the first run" \
    }
#define CLI_OPTION_HUGE                                                                 \
    {                                                                                   \
        "huge-pages", 0, NULL, "use large memory pages, also for a copy of the weights" \
    }

// For a command that can open an archive so, but not a model that it compiles in memory.
#define CLI_OPTION_ARCHIVE_PREFAULT                                                                   \
    {                                                                                                 \
        "prefault", 0, NULL, "load all pages into memory before the first run", .files = CLI_ARCHIVES \
    }
#define CLI_OPTION_ARCHIVE_HUGE                                                                                \
    {                                                                                                          \
        "huge-pages", 0, NULL, "use large memory pages, also for a copy of the weights", .files = CLI_ARCHIVES \
    }

#define CLI_OPTION_PATTERNS                                                                                                                \
    {                                                                                                                                      \
        "patterns", 0, "FILE.npz|DIR",                                                                                                     \
            "store the answers to these inputs: a .npz with a tensor for\neach input, a folder of .npy files, or a folder of these; may\n" \
            "be given several times",                                                                                                      \
            .many = true                                                                                                                   \
    }
#define CLI_OPTION_MEMO                                                                                                          \
    {                                                                                                                            \
        "memo", 0, "BYTES",                                                                                                      \
            "keep answers in BYTES of memory, for example 64M: inputs\nthat come again are not computed; the oldest are dropped" \
    }

#define CLI_OPTION_SAVE_MEMO                                                                                         \
    {                                                                                                                \
        "save-memo", 0, "NEW.holo", "write a new archive that holds the kept answers; needs\n--memo", .with = "memo" \
    }

// Threads to run on, as --threads says.
HoloStatus cli_pool(HoloPool **out_pool, HoloError *error);

// Has the session keep answers, as --memo says.
int cli_memo(const Cli *cli, HoloSession *session);
// Writes what it has kept, as --save-memo says.
int cli_memo_save(const Cli *cli, const HoloSession *session);

// The shapes that --input-shape gives.
typedef struct CliShape {
    const char *name;
    int         rank;
    int64_t     dim[HOLO_MAX_RANK]; // -1: unchanged
} CliShape;
int cli_shapes(const Cli *cli, CliShape **out_shapes, int *out_count);

// Choices for the compiler from the settings and --input-shape.
int cli_compiler(const Cli *cli, HoloCompiler **out_compiler);
// How to open an archive, from --prefault and --huge-pages: for holo_model_open_with.
uint32_t cli_open_flags(const Cli *cli);
// What the argument `arg` is, and whether the given options are for such a file. "-" becomes the path of the standard
// input, which is copied to a file if it is not one.
int cli_file_kind(const Cli *cli, int arg, HoloFileKind *out_kind);
// If *path is "-", makes it the path of the standard input, which can then be opened several times.
int cli_standard_input(const char **path);
// Creates a folder unless it exists; NULL: none is asked for.
int cli_make_folder(const char *path);
// Says why a temporary file could not be created. Returns CLI_FAILED.
int cli_temporary_failed(const char *path);
// Opens the argument `arg`: an archive, or a model, which is compiled in memory without verification.
int cli_model_open(const Cli *cli, int arg, HoloModel **out_model);

// The entry that --entry names; without the option, the first.
int cli_entry_find(const Cli *cli, const HoloModel *model, const HoloModel **out_entry);

typedef struct CliInput {
    HoloTensors      *tensors; // owns `tensor`; NULL: an optional input that was not given
    const HoloTensor *tensor;
    bool              is_given, is_random;
    bool              guessed; // seeded, with size 1 where nobody gave one
} CliInput;
// The inputs of a model, compiled or not.
typedef struct CliPorts {
    const HoloPort **port;
    int              count;
} CliPorts;
CliPorts cli_model_ports(const HoloModel *model);
CliPorts cli_source_ports(const HoloSource *source);

// What --input gives: a CliInput for each input of the model. A missing one is an error, or seeded if `seed_missing`.
// Close them even after a failure.
int cli_inputs_open(const Cli *cli, const HoloModel *model, bool seed_missing, CliInput **out_inputs);
int cli_inputs_read(const Cli *cli, const CliPorts *ports, bool seed_missing, CliInput **out_inputs);
// What a file gives for one input; and what a .npz gives for all inputs that its tensors are named like.
int  cli_input_read(const Cli *cli, const CliPorts *ports, int index, const char *path, CliInput *input);
int  cli_inputs_read_all(const Cli *cli, const CliPorts *ports, const char *path, CliInput *inputs);
void cli_inputs_free(CliInput *inputs, int count);
void cli_inputs_close(CliInput *inputs, const HoloModel *model);
int  cli_inputs_set(HoloSession *session, const HoloModel *model, const CliInput *inputs);
// What to do if sizes of 1 are not what the user wants; NULL: no size was guessed.
const char *cli_inputs_advice(const CliPorts *ports, const CliInput *inputs);
// A failure of a run, with that advice where the sizes can be the reason. Returns CLI_FAILED.
int cli_fail_run(const char *path, const HoloError *error, HoloStatus status, const char *advice);

// Sets the device that --device names, if it is given.
HoloStatus  cli_device_set(const Cli *cli, HoloModel *model, HoloError *error);
HoloNumeric cli_numeric(void); // the class that was asked for

#endif
