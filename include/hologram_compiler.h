// hologram_compiler.h - the compiler's public API: a model in, one .holo file out.
//
// A HoloCompiler is a set of choices; it may be used for many compiles, one after another or on
// several threads. A HoloSource is a model as its file says it, before the compiler has touched it:
// to look at, and to compute plainly, as the reference. HoloTensors is a set of values with memory
// of their own, from files or from a reference run.
//
// Errors are reported as in hologram.h. Functions that destroy or close take NULL, too. Structs that the library fills in are allocated by it, so
// that they may grow: fields are only ever added at the end.
#ifndef HOLOGRAM_COMPILER_H
#define HOLOGRAM_COMPILER_H

#include "hologram.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- choices -----------------------------------------------------------------------------------

typedef struct HoloCompiler HoloCompiler;

typedef enum HoloNumeric {
    HOLO_FUSED = 0, // multiply-add rounded once where the CPU can: the default
    HOLO_EXACT = 1, // the same bits on every CPU
} HoloNumeric;

// Everything at its default: class fused, verified, all passes, sizes as the model has them.
HOLO_API HOLO_MUST HoloStatus holo_compiler_create(HoloCompiler **out_compiler);
// The same in a context (NULL: none): compiles with it have its memory and tell it what they do, and models that they give are
// in it. Libraries that the compiler uses (zlib, Jansson) take the little memory that they need from the system.
HOLO_API HOLO_MUST HoloStatus holo_compiler_create_in(HoloContext *context, HoloCompiler **out_compiler);
HOLO_API void                 holo_compiler_destroy(HoloCompiler *compiler);

// Fixes the shape of the input `name` (copied). A dimension of -1 stays as the model has it. Whether the
// model has such an input, and of that rank, is seen when compiling.
HOLO_API HOLO_MUST HoloStatus holo_compiler_set_shape(HoloCompiler *compiler, const char *name, int rank,
                                                      const int64_t *dim, HoloError *error);
// Gives the input `name` a value for good: it is an input no more, and what follows from it is computed while
// compiling. It has the shape of the value, whatever the model declares. The name is copied; the data is
// borrowed for as long as the compiler is used.
HOLO_API HOLO_MUST HoloStatus holo_compiler_set_constant(HoloCompiler *compiler, const char *name,
                                                         const HoloTensor *tensor, HoloError *error);
// Leaves every size of every input open, also where the model fixes it: each becomes a symbol of its own. Ranks
// stay, and shapes and constants that are set hold.
HOLO_API void holo_compiler_set_symbolic(HoloCompiler *compiler, bool on);
HOLO_API void holo_compiler_set_numeric(HoloCompiler *compiler, HoloNumeric numeric);

// Whether the plan is run against the reference before it is written, and how far they may differ: every
// checked element within absolute + relative * the largest magnitude of its output. Negative: the default.
// Of an output of a narrow type (f16, bf16) relative is at least eight roundings of that type, unless it is 0.
// Unless relative is 0, an output may be off by more where roundings alone, put into the reference, move it as far: in
// models that quantize inside or compute in narrow types.
HOLO_API void holo_compiler_set_verify(HoloCompiler *compiler, bool on);
// Inputs to verify on, in place of made-up ones: a path as of holo_compiler_add_patterns, or "NAME=FILE" with the name of an
// input (all such together are one sample). May be called several times: every sample must agree. A sample that the model
// rejects is an error.
HOLO_API HOLO_MUST HoloStatus holo_compiler_add_verify_inputs(HoloCompiler *compiler, const char *path,
                                                              HoloError *error);
// Whether a plan that could not be verified is an error (HOLO_REFUSED): made-up inputs that the model rejects, a memory limit
// that is too low for it, or outputs that are random by definition. Off unless set: the report says why, and it is written.
HOLO_API void holo_compiler_set_strict(HoloCompiler *compiler, bool on);
HOLO_API void holo_compiler_set_tolerance(HoloCompiler *compiler, double relative, double absolute);

// How large the archive may become. Filters of 3x3 convolutions run faster where they are stored transformed, up to four times
// as large. BALANCED: where that saves most, up to an archive of 1.5 times the model; SMALL: nowhere; FAST: wherever it is
// faster. What is not stored so is transformed in each run, or not at all.
typedef enum HoloSize { HOLO_SIZE_BALANCED = 0, HOLO_SIZE_SMALL = 1, HOLO_SIZE_FAST = 2 } HoloSize;
HOLO_API void holo_compiler_set_size(HoloCompiler *compiler, HoloSize size);

// The targets, places to run steps, that this compiler knows: "cpu", and what it was built with besides. NULL: no such.
HOLO_API const char *holo_target_name(int index);
// The targets to compile for, as "NAME,NAME": each node goes to the first that can run it, and to the CPU where none can, which
// need not be named; the default is "cpu". What was compiled for others runs where the runtime has devices of these names. Fails,
// listing the targets, when there is none of a name.
HOLO_API HOLO_MUST HoloStatus holo_compiler_set_targets(HoloCompiler *compiler, const char *names, HoloError *error);

// Measures, on this machine and with as many threads as are used while compiling, which of the ways to run a step is the
// fastest, and takes that instead of what the rule says. What is written then depends on what was measured.
HOLO_API void holo_compiler_set_tune(HoloCompiler *compiler, bool on);

// Whether functions of one 8- or 16-bit element are looked up in tables made while compiling, and how many bytes these may
// take in all; 0: HOLO_TABLES_DEFAULT. Tables change no bit of any result: without them the same functions are computed
// plainly, operator by operator.
enum { HOLO_TABLES_DEFAULT = 160 << 20 };
HOLO_API void holo_compiler_set_tables(HoloCompiler *compiler, bool on, uint64_t budget);

// Declares what every element of the input `name` can be: `values` is a list, of one dimension and of any type of numbers;
// it is copied. Where all combinations of such inputs, and of others of few bits, fit into the memory of tables, what follows
// from them is one table; a run with any other value then fails. Sizes of inputs must be numbers.
HOLO_API HOLO_MUST HoloStatus holo_compiler_set_domain(HoloCompiler *compiler, const char *name,
                                                       const HoloTensor *values, HoloError *error);

// Quantization: weights of products (Conv, MatMul, Gemm) become narrower and, in int8, what they are multiplied with.
typedef enum HoloQuantizeKind {
    HOLO_QUANTIZE_NONE = 0,
    // Weights with a scale for each channel, activations with one: products of integers. Tables of Gather in blocks of 64.
    HOLO_QUANTIZE_INT8 = 1,
    // Weights of MatMul and Gemm, and tables, in blocks of 32 with a scale each; what they are multiplied with is rounded to 8
    // bits in such blocks in each run.
    HOLO_QUANTIZE_INT4 = 2,
    HOLO_QUANTIZE_F16  = 3, // weights and tables stored in f16, computed in f32
    HOLO_QUANTIZE_BF16 = 4,
    HOLO_QUANTIZE_W8   = 5, // as INT4, in 8 bits
    // What MatMul and Gemm read is taken, 8 numbers at a time, for the nearest of some centroids, which are found on calibration
    // data; what these give is in tables. An approximation, and no narrower: see holo_compiler_set_centroids.
    HOLO_QUANTIZE_CENTROIDS = 6,
} HoloQuantizeKind;
typedef enum HoloActivations { // of int8
    // Dynamic; with calibration data, those of convolutions, and of products that read what these give, are static.
    HOLO_ACTIVATIONS_DEFAULT = 0,
    HOLO_ACTIVATIONS_STATIC  = 1, // scales are constants, found on the samples: fastest
    HOLO_ACTIVATIONS_DYNAMIC = 2, // scales are found in each run; filters of one channel stay f32
} HoloActivations;
typedef enum HoloRanges {       // of static activations
    HOLO_RANGES_MSE        = 0, // cut where the mean of squared errors on the samples is least
    HOLO_RANGES_MINMAX     = 1, // from the least to the largest number that the samples have
    HOLO_RANGES_PERCENTILE = 2, // so that a part of the numbers is inside: see holo_compiler_set_percentile
    HOLO_RANGES_ENTROPY    = 3, // cut where the distribution of the numbers loses least information
} HoloRanges;
HOLO_API void holo_compiler_set_quantize(HoloCompiler *compiler, HoloQuantizeKind kind);
// Layers whose operator ("Gather") or name ("/head/*", with * for any characters and ? for one) fits the pattern, which is
// copied, become that instead; HOLO_QUANTIZE_NONE: they stay. Of several patterns that fit the last counts. A compile fails
// where a pattern fits no layer.
HOLO_API HOLO_MUST HoloStatus holo_compiler_add_quantize(HoloCompiler *compiler, const char *pattern,
                                                         HoloQuantizeKind kind, HoloError *error);
HOLO_API void holo_compiler_set_activations(HoloCompiler *compiler, HoloActivations activations, HoloRanges ranges);
// How much of the numbers HOLO_RANGES_PERCENTILE keeps, above 50 to 100; 99.9 unless set.
HOLO_API HOLO_MUST HoloStatus holo_compiler_set_percentile(HoloCompiler *compiler, double percent, HoloError *error);
// How many centroids there are, 2 to 256, for HOLO_QUANTIZE_CENTROIDS; 16 unless set. Tables grow with it.
HOLO_API HOLO_MUST HoloStatus holo_compiler_set_centroids(HoloCompiler *compiler, int count, HoloError *error);
// Inputs to find scales and measure accuracy with: a .npz with a tensor for each input, for a model of one input a .npy, or a
// folder of many of these; the path is copied. A tensor has the shape of its input, or one dimension more, in front, for several samples, or more rows
// in its first dimension, which are then cut into samples. NULL: inputs are made up from a seed.
HOLO_API HOLO_MUST HoloStatus holo_compiler_set_calibration(HoloCompiler *compiler, const char *path, HoloError *error);
// How much of the outputs must be right on the samples, 0 to 1; 0.99 unless set. The accuracy of an output is
// 1 - sum (q - f)^2 / sum f^2 over all samples, f being what the plan without quantization gives: 0.99 is an error of a tenth
// in the root mean square. It is the least of all outputs; and where one looks like classes (two dimensions, more than one
// column) and there are 100 rows, and 1 / (1 - accuracy), or more, no more than the part of rows whose largest element is the
// same.
// Layers that lose most stay as they are until that is met.
HOLO_API HOLO_MUST HoloStatus holo_compiler_set_accuracy(HoloCompiler *compiler, double accuracy, HoloError *error);
// What a plan gave on the samples, in their order.
typedef struct HoloOutputs {
    int                sample_count, output_count;
    const char *const *names;   // of the outputs
    const HoloTensor  *tensors; // [sample][output]; data NULL: it is no tensor of numbers
} HoloOutputs;
// Says how good outputs are; more is better. A status other than HOLO_OK ends the compile.
typedef HoloStatus (*HoloJudgeFn)(void *context, const HoloOutputs *outputs, double *out_score, HoloError *error);
// Decides by what `judge` says, instead of by accuracy: layers stay as they are until the score is at most `max_drop` below
// that of the plan without quantization. NULL: by accuracy.
HOLO_API void holo_compiler_set_judge(HoloCompiler *compiler, HoloJudgeFn judge, void *context, double max_drop);
// Leaves the model as it is where the quantized plan is not faster: both are run, on this machine.
HOLO_API void holo_compiler_set_only_if_faster(HoloCompiler *compiler, bool on);

// Has the plan run on the inputs at `path`, which is copied, and its answers stored in the archive: a run with the same inputs
// then computes nothing (see holo_session_set_memo of hologram.h). A path is a .npz with a tensor for each input, or a folder:
// of .npy files called like the inputs (with _ for /), or of several .npz and folders of .npy, each a pattern of its own.
HOLO_API HOLO_MUST HoloStatus holo_compiler_add_patterns(HoloCompiler *compiler, const char *path, HoloError *error);

// Binds kernels of a file (docs/kernel-language.md) to operators that Hologram does not know: those that say
// @kernel(operator="my.domain::Name"). Nodes of that operator are then computed by the kernel, whose programs travel in the
// archive. Set the numeric class before.
HOLO_API HOLO_MUST HoloStatus holo_compiler_add_kernel(HoloCompiler *compiler, const char *path, HoloError *error);

// Threads used while compiling; 0: one a core. Changes no byte of what is written, unless it is tuned.
HOLO_API void holo_compiler_set_threads(HoloCompiler *compiler, int threads);

// Bytes that a compile may hold at once, verification counted; 0, the default: what the machine has left (see
// holo_memory_set_limit of hologram.h). Going past it is HOLO_NO_MEMORY. The model's own file, which is mapped, does not count.
HOLO_API void holo_compiler_set_memory_limit(HoloCompiler *compiler, uint64_t bytes);

// The passes, in the order in which they run. NULL: no such.
HOLO_API int         holo_pass_count(void);
HOLO_API const char *holo_pass_name(int index, const char **out_purpose); // out_purpose may be NULL
// Leaves a pass out. Fails, listing the passes, when there is none of that name.
HOLO_API HOLO_MUST HoloStatus holo_compiler_disable_pass(HoloCompiler *compiler, const char *pass, HoloError *error);

// Called with the graph as text after each run of `pass`; "import" is the graph before the first pass, "quantize" what
// quantizing made of it, "plan" the one that is planned, "lower" the same with transfers between targets, where there are
// several, "all" every one of them. The text lives for the call.
typedef void (*HoloDumpFn)(void *context, const char *pass, const char *text);
HOLO_API HOLO_MUST HoloStatus holo_compiler_set_dump(HoloCompiler *compiler, const char *pass, HoloDumpFn dump,
                                                     void *context, HoloError *error);

// Called now and then with what is being done and how much of the whole is done, 0 to 1.
typedef void (*HoloProgressFn)(void *context, const char *stage, double fraction);
HOLO_API void holo_compiler_set_progress(HoloCompiler *compiler, HoloProgressFn progress, void *context);

// ---- compiling ---------------------------------------------------------------------------------

typedef struct HoloPassReport {
    const char *name;
    int         runs, changes; // how often it ran, and how many nodes and values it changed in all
    double      seconds;
} HoloPassReport;

typedef struct HoloTuneWay {
    const char *name;    // "matmul_f32, packed"
    double      seconds; // the least time of a run
} HoloTuneWay;

typedef struct HoloTuneReport { // steps of the same operator, attributes and types
    const char        *op, *shapes;
    int                steps, way_count;
    int                chosen; // of ways; 0 is what the rule says
    const HoloTuneWay *ways;
} HoloTuneReport;

typedef struct HoloLayerReport {           // a product of the model, and what quantization did to it
    const char *name, *op, *shape;         // "/layer1/conv1", "Conv", "64x3x7x7": of its weights
    const char *type;                      // what its weights are now: "int8", "f32"
    const char *why;                       // why it is not what was asked for; NULL: it is
    double      error;                     // of its result, in the root mean square, relative; NaN: not measured
    double      loss;                      // of accuracy, when it alone is quantized; NaN: not measured
    uint64_t    bytes_before, bytes_after; // of its weights
} HoloLayerReport;

typedef struct HoloQuantizationReport {
    const char            *kind;                // "int8", "int8,Gather=f16"; NULL: none was asked for
    bool                   is_static, was_kept; // was_kept: the model stays as it is, for it would not be faster
    int                    layer_count, narrow_count;
    int                    integer_count; // of the narrow layers, how many are products of integers
    const HoloLayerReport *layers;        // in the order in which they run
    int                    samples;
    bool                   is_seeded;        // the samples are made up
    double                 target, accuracy; // see holo_compiler_set_accuracy
    double                 worst;            // the largest difference, in parts of its output's largest magnitude
    double                 cosine, top1;     // the least of all outputs; top1 NaN: none looks like classes
    int64_t                top1_rows;
    double                 score_before, score_after, max_drop; // see holo_compiler_set_judge; NaN: nobody judged
    int                    trials;                              // plans that were measured
    double                 seconds;                             // that it took
    double                 before_run, after_run;               // seconds of a run of each plan; 0: not measured
} HoloQuantizationReport;

// What a compile did. Strings and arrays live as long as the report.
typedef struct HoloReport {
    uint32_t nodes_before, nodes_after; // of the imported graph and of the planned one
    uint32_t folded;                    // nodes computed at compile time
    uint32_t steps, kernel_steps;       // of the plan, and how many of them run a fast kernel
    uint32_t constants, deduplicated;   // stored, and left out as equal to a stored one
    uint64_t deduplicated_bytes;
    uint64_t arena_bytes, naive_bytes;   // planned memory of a run against the sum of all intermediates;
                                         // 0, 0: they depend on symbolic sizes
    uint64_t model_bytes, archive_bytes; // of the model with its external data, and of the archive
    double   seconds;                    // in all

    bool     verified;
    uint64_t checked;      // elements of outputs compared with the reference
    double worst_absolute; // the difference that is the largest in parts of its output's (or node's) largest magnitude,
    double worst_relative; // in these parts,
    const char *worst_at;  // and where it is: "output logits, element 17"; NULL when nothing differs
    double      verify_seconds;

    int                   pass_count;
    const HoloPassReport *passes;

    const char *verify_why_not; // NULL: it was verified, or was not to be

    bool                  tuned;
    int                   tune_count;
    const HoloTuneReport *tunes;
    uint32_t              tune_open; // steps that were left to the rule, since their sizes are open
    double                tune_seconds;

    uint32_t tables; // made of operators, and their size and what they may take
    uint64_t table_bytes, table_budget;

    uint32_t patterns;   // inputs whose answers are stored
    uint64_t memo_bytes; // what that takes

    HoloQuantizationReport quantization;

    int         verify_outputs, verify_nodes; // compared; and nodes whose kernels were judged by themselves
    uint64_t    judged;                       // elements of these
    double      worst_top;                    // the largest magnitude that the worst difference is held against
    double      allowed;                      // how large that difference may be,
    const char *allowed_by;                   // and why; NULL: nothing differs
    const char *verify_inputs;                // "made-up inputs"; NULL: it was not verified
    bool        verify_over_limit;            // it was left out, for it would take too much memory or time
    const char *verify_left_out;              // outputs that are random by definition; NULL: none

    uint32_t transformed, not_transformed; // layers whose filters are stored transformed, and those given up:
    uint64_t transformed_bytes, not_transformed_bytes; // what these are larger, or would be; see holo_compiler_set_size
    double   size_work;                                // about how much more work the layers given up take, in parts of
                                                       // the work of all of these layers
} HoloReport;
HOLO_API void holo_report_destroy(HoloReport *report);

// Compiles the model at `path` into `out_path`, which is written beside it and renamed: it is there whole or
// not at all. `compiler` NULL: all defaults. `out_report` may be NULL; it is set on success.
HOLO_API HOLO_MUST HoloStatus holo_compile_file(const HoloCompiler *compiler, const char *path, const char *out_path,
                                                HoloReport **out_report, HoloError *error);
// The same without leaving a file: the model is opened, backed by a temporary file that has no name.
HOLO_API HOLO_MUST HoloStatus holo_compile_model(const HoloCompiler *compiler, const char *path, HoloModel **out_model,
                                                 HoloReport **out_report, HoloError *error);

// ---- finding what makes a plan wrong -----------------------------------------------------------

typedef enum HoloCulpritKind {
    HOLO_CULPRIT_PASS   = 0, // a change that a pass made
    HOLO_CULPRIT_KERNEL = 1, // a kernel that runs a node of the model as it is
    HOLO_CULPRIT_PLAN   = 2, // neither: without any pass the plan differs all the same
} HoloCulpritKind;

typedef struct HoloCulprit {
    HoloCulpritKind kind;
    const char     *pass;          // NULL: none
    int             pass_change;   // which of the changes of that pass, from 1 on
    int             change;        // which of the changes of all passes
    double          before, after; // the worst difference without that change and with it, in parts of the output's
                                   // largest magnitude; NaN: no plan came out
    const char *message;           // what is wrong
    const char *removed, *added;   // the lines of the graph as text that went with the change, and that came; may be ""
} HoloCulprit;

typedef struct HoloBisection {
    const char        *why_not;       // NULL; else why nothing could be compared, and all else is 0
    int                culprit_count; // 0: the plan agrees with the model
    const HoloCulprit *culprits;
    int                change_count; // that passes make in all
    int                trials;       // plans compared with the model
    uint64_t           checked;      // elements compared of the last of them, which has the culprits' passes left out
    double             worst_absolute, worst_relative;
    const char        *worst_at; // NULL when nothing differs
    double             seconds;
} HoloBisection;

// Compares the plan with the model as compiling does, with the choices of `compiler` (NULL: all defaults), and where they
// differ finds the first change of a pass that makes the difference: passes are stopped after so many changes, and the
// number is halved in. The pass is then left out, and the search goes on until the plan agrees. `inputs`: one tensor an
// input, NULL entries where an optional one is left out; NULL: seeded inputs. Fails where the model cannot be compiled
// without passes either.
HOLO_API HOLO_MUST HoloStatus holo_bisect(const HoloCompiler *compiler, const char *path,
                                          const HoloTensor *const *inputs, int input_count,
                                          HoloBisection **out_bisection, HoloError *error);
HOLO_API void                 holo_bisection_destroy(HoloBisection *bisection);

// ---- models as their files say them ------------------------------------------------------------

typedef enum HoloFileKind {
    HOLO_FILE_OTHER   = 0, // no model of a known format; compiling it says what it looks like
    HOLO_FILE_ARCHIVE = 1, // .holo
    HOLO_FILE_MODEL   = 2, // a file or a folder to compile; where its format cannot be read yet, compiling it says so
} HoloFileKind;
// By what it holds, not by its name. Fails where there is nothing to read, and for a folder that is no model.
HOLO_API HOLO_MUST HoloStatus holo_file_kind(const char *path, HoloFileKind *out_kind, HoloError *error);

typedef struct HoloSource HoloSource;

// Imports the model and infers its types. Unknown operators are not an error yet.
HOLO_API HOLO_MUST HoloStatus holo_source_open(const char *path, HoloSource **out_source, HoloError *error);
HOLO_API void                 holo_source_close(HoloSource *source);

HOLO_API int             holo_source_input_count(const HoloSource *source);
HOLO_API int             holo_source_output_count(const HoloSource *source);
HOLO_API const HoloPort *holo_source_input(const HoloSource *source, int index);  // NULL: no such
HOLO_API const HoloPort *holo_source_output(const HoloSource *source, int index); // NULL: no such

// What the model says of itself: "format", what its format has keys for, "bytes", "hash", and its author's metadata.
HOLO_API int         holo_source_meta_count(const HoloSource *source);
HOLO_API const char *holo_source_meta(const HoloSource *source, int index, const char **out_key);

// Whether an output depends on an operator that is random by definition, so that its values cannot be
// foretold, and the bounds that they keep all the same (infinite where there are none). Bounds may be NULL.
HOLO_API bool holo_source_is_random(const HoloSource *source, int output, double *out_low, double *out_high);

// ---- values with memory of their own -----------------------------------------------------------

typedef struct HoloTensors HoloTensors;

// Reads a .npy (one tensor), .npz (many, named), ONNX .pb (one), or text of numbers, as a .csv (one). `want` (may be NULL: a tensor)
// gives the kind, and where that is not HOLO_TENSOR the dtype, which a .pb does not say of itself; of text, type and shape.
HOLO_API HOLO_MUST HoloStatus holo_tensors_read(const char *path, const HoloTensor *want, HoloTensors **out_tensors,
                                                HoloError *error);
// The same without the data of a .npz: names and types are there, and data NULL until each tensor that is wanted is loaded.
// So a file that says what it holds, and holds more than is wanted, costs nothing.
HOLO_API HOLO_MUST HoloStatus holo_tensors_open(const char *path, const HoloTensor *want, HoloTensors **out_tensors,
                                                HoloError *error);
HOLO_API HOLO_MUST HoloStatus holo_tensors_load(HoloTensors *tensors, int index, HoloError *error);
// One tensor from numbers as text, as a file of such.
HOLO_API HOLO_MUST HoloStatus holo_tensors_parse(const char *text, const HoloTensor *want, HoloTensors **out_tensors,
                                                 HoloError *error);
// Is the file a picture, by its first bytes: JPEG, PNG, BMP, WebP, TIFF, JPEG 2000 or PNM? All but BMP and PNM are decoded by
// libraries that are used where they are installed.
HOLO_API bool holo_is_picture(const char *path);

typedef struct HoloPictureForm {
    bool   is_channels_last; // [height, width, channels], and not [channels, height, width]
    bool   is_bgr;
    double low, high;       // what black and white become ...
    double mean[3], std[3]; // ... and then (x - mean) / std, by channel of the tensor
} HoloPictureForm;

// A picture as one tensor of `type`: three dimensions, four with one picture, or [height, width]; of one channel (grey) or three. It is resized, with
// antialiasing, to the sizes of the type. Where one of these is -1, the picture keeps its proportions; where both are, its
// size. `out_size` (may be NULL) gets its own width and height.
HOLO_API HOLO_MUST HoloStatus holo_tensors_read_picture(const char *path, const HoloTensor *type,
                                                        const HoloPictureForm *form, int64_t *out_size,
                                                        HoloTensors **out_tensors, HoloError *error);
// One tensor of `type`, whose sizes are all known: floats normal, integers 1, bools true, strings "a".
HOLO_API HOLO_MUST HoloStatus holo_tensors_seeded(const HoloTensor *type, uint64_t seed, HoloTensors **out_tensors,
                                                  HoloError *error);
HOLO_API void                 holo_tensors_destroy(HoloTensors *tensors);

HOLO_API int               holo_tensors_count(const HoloTensors *tensors);
HOLO_API const HoloTensor *holo_tensors_get(const HoloTensors *tensors, int index,
                                            const char **out_name); // name "" where
                                                                    // the file has none; NULL: no such
HOLO_API const HoloTensor *holo_tensors_find(const HoloTensors *tensors, const char *name); // NULL: no such

// Runs a session of `model` on each pattern at `path`: see holo_compiler_add_patterns. With a memo it learns what they give;
// with one of SIZE_MAX bytes all of it, or it fails.
// `out_count`, how many there were, may be NULL.
HOLO_API HOLO_MUST HoloStatus holo_session_learn(HoloSession *session, const HoloModel *model, const char *path,
                                                 int *out_count, HoloError *error);

HOLO_API HOLO_MUST HoloStatus holo_tensor_write_npy(const char *path, const HoloTensor *tensor, HoloError *error);

// Elements start .. start+count-1 of a tensor of any numeric type or bool, as doubles (of complex: the real part).
HOLO_API void holo_tensor_numbers(const HoloTensor *tensor, int64_t start, int64_t count, double *out);

// The other way: each number as far as the element type holds it.
HOLO_API void holo_tensor_set_numbers(HoloTensor *tensor, int64_t start, int64_t count, const double *numbers);

// Computes the model plainly, operator by operator, with no optimization at all: the reference. One tensor
// for each input in order; NULL entries are optional inputs left out. Outputs in order, named.
HOLO_API HOLO_MUST HoloStatus holo_reference_run(const HoloSource *source, const HoloTensor *const *inputs,
                                                 int input_count, HoloTensors **out_outputs, HoloError *error);
// The same, and `watch` is called for each value that a node of the model gave, as by holo_session_watch.
HOLO_API HOLO_MUST HoloStatus holo_reference_watch(const HoloSource *source, const HoloTensor *const *inputs,
                                                   int input_count, HoloWatchFn watch, void *context,
                                                   HoloTensors **out_outputs, HoloError *error);

// ---- looking at graphs -------------------------------------------------------------------------

typedef struct HoloListingValue {
    const char *name;
    HoloTensor  type;     // data NULL; dim -1: not a number
    const char *shape;    // "f32[batch, 3, 224, 224]"
    int         producer; // node; -1: an input or a constant
    bool        is_constant, is_input, is_output;
    int64_t     offset; // in the arena; -1: not there, or not yet decided
} HoloListingValue;

typedef struct HoloListingNode {
    const char *name, *op, *domain;
    const char *detail; // attributes as text, "kernel_shape=[3, 3] pads=[1, 1, 1, 1]"; "" when none
    const char *runs;   // of a planned graph: the kernel; "eval" when it is the plain implementation; else ""
    int         parent; // the node whose subgraph this is in; -1: the model itself
    int         in_count, out_count;
    const int  *in, *out; // values; -1: left out
} HoloListingNode;

typedef struct HoloListing {
    const char             *name;
    int                     node_count, value_count, input_count, output_count;
    const HoloListingNode  *nodes; // in the order in which they run
    const HoloListingValue *values;
    const int              *inputs, *outputs; // values
} HoloListing;

typedef enum HoloStage {
    HOLO_STAGE_IMPORTED = 0, // as the model's file says it
    HOLO_STAGE_PLANNED  = 1, // as it runs
} HoloStage;

// The graph of a model at a stage; of an archive there is only the planned one. `compiler` NULL: defaults.
HOLO_API HOLO_MUST HoloStatus holo_listing_open(const HoloCompiler *compiler, const char *path, HoloStage stage,
                                                HoloListing **out_listing, HoloError *error);
// The planned graph of a model that is open.
HOLO_API HOLO_MUST HoloStatus holo_listing_model(const HoloModel *model, HoloListing **out_listing, HoloError *error);
HOLO_API void                 holo_listing_close(HoloListing *listing);

// What a step does as a portable program (docs/isa.md), where it can be said so.
typedef struct HoloStepProgram {
    const char *step, *op, *domain, *runs; // as of a HoloListingNode; of a stored program its name, and ""
    // "pointwise": all that the step does; "tail": what it does with its result; "kernel": a user's kernel, which it runs; "stored": a
    // program of an archive of kernels, of no step
    const char *role;
    const char *text;
} HoloStepProgram;

typedef struct HoloStepPrograms {
    int                    count;
    const HoloStepProgram *programs; // in the order in which they run
} HoloStepPrograms;

HOLO_API HOLO_MUST HoloStatus holo_step_programs_open(const HoloModel *model, HoloStepPrograms **out_programs,
                                                      HoloError *error);
HOLO_API void                 holo_step_programs_close(HoloStepPrograms *programs);

// ---- kernels -----------------------------------------------------------------------------------

// Kernels in the language of docs/kernel-language.md: files that end with .py, .c or .json, each kernel a portable program,
// or one for each type that its type variable stands for.
typedef struct HoloKernels HoloKernels;

HOLO_API bool holo_kernel_path(const char *path); // does the name end like that of a file of kernels?
// Compiles a file, or all files of kernels below a folder; messages show the line that is wrong. Or reads the programs of an
// archive (.holo) that holds kernels: they have no source, and their functions are called as they are.
HOLO_API HOLO_MUST HoloStatus holo_kernels_open(const char *path, HoloNumeric numeric, HoloKernels **out_kernels,
                                                HoloError *error);
HOLO_API void                 holo_kernels_close(HoloKernels *kernels);

typedef struct HoloKernelParam {
    const char *name;
    HoloDtype   type; // of an array: of its elements
    bool        is_array, is_read, is_written;
} HoloKernelParam;

typedef struct HoloKernelInfo {      // strings live as long as the kernels
    const char            *name;     // "vector_add_f32"
    const char            *function; // "vector_add"
    const char            *file, *doc;
    HoloDtype              type; // what the type variable stands for; HOLO_NONE: there is none
    int                    param_count;
    const HoloKernelParam *params;
    int                    block[3]; // lanes of a block that it asks for; 0: any will do
    const char            *assembly; // the program as text: see docs/isa.md
} HoloKernelInfo;
HOLO_API int  holo_kernels_count(const HoloKernels *kernels);
HOLO_API bool holo_kernels_info(const HoloKernels *kernels, int index, HoloKernelInfo *out_info); // false: no such
// What a file says in the JSON form; NULL: no such file, or an archive. `out_path` may be NULL.
HOLO_API const char *holo_kernels_json(const HoloKernels *kernels, int file, const char **out_path);

typedef struct HoloKernelLaunch { // zero: as the kernel says
    int64_t   lanes;              // 0: by its `lanes`, or else its first whole number
    int       block[3];
    int64_t   turns; // of loops that a lane may take in all; 0: any number
    HoloPool *pool;  // whose threads run it, with the same results; NULL: the caller's alone
} HoloKernelLaunch;
// Runs a kernel on the caller's tensors, one for each parameter, of its type; scalars have one element. `launch` may be NULL.
// By one thread at a time.
HOLO_API HOLO_MUST HoloStatus holo_kernels_run(HoloKernels *kernels, int index, const HoloTensor *const *args,
                                               int arg_count, const HoloKernelLaunch *launch, HoloError *error);
// Writes all of them as programs of an archive, which holds no model.
HOLO_API HOLO_MUST HoloStatus holo_kernels_write(const HoloKernels *kernels, const char *path, HoloError *error);

// ---- what is supported -------------------------------------------------------------------------

typedef struct HoloOpInfo {
    const char *domain, *name;                    // domain "" is ai.onnx
    int         since, until;                     // versions of its domain; until 0: to the newest
    int         in_min, in_max, out_min, out_max; // -1: any number
    uint64_t    types;                            // bit HoloDtype: what the first input may be
    const char *runs; // "kernel" (a fast one for common cases), "eval" (plain), "body" (made of other
                      // operators), "refused" (a model that has it fails, with the reason)
    bool is_random;   // by definition: not a function of its inputs
} HoloOpInfo;
HOLO_API int  holo_op_count(void);
HOLO_API bool holo_op_info(int index, HoloOpInfo *out_info); // by domain, name and version; false: no such

#ifdef __cplusplus
}
#endif
#endif
