// hologram_compiler.h - the compiler's public API: a model in, one .holo file out.
//
// A HoloCompiler is a set of choices. You may use it for many compiles, one after another or on several threads at
// once. A HoloSource is a model as its file describes it, before the compiler changes anything: you can inspect it, and
// compute it as the reference. HoloTensors is a set of values that owns its memory.
//
// Errors are reported as in hologram.h. Functions that destroy or close accept NULL. The library allocates the structs
// that it fills in, so that they may grow: fields are only added at the end.
#ifndef HOLOGRAM_COMPILER_H
#define HOLOGRAM_COMPILER_H

#include "hologram.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- choices -----------------------------------------------------------------------------------

typedef struct HoloCompiler HoloCompiler;

typedef enum HoloNumeric {
    HOLO_FUSED = 0, // a multiplication and an addition are rounded once if the CPU can: the default
    HOLO_EXACT = 1, // the same bits on every CPU
    // Like fused, but products with constant weights multiply bf16 and sum f32, if the CPU can do that. It quantizes to
    // HOLO_QUANTIZE_BF16 unless another type is set. For the target cuda: values and weights are bf16 there.
    HOLO_NUMERIC_BF16 = 2,
    HOLO_NUMERIC_TF32 = 3, // for the target cuda: products of f32 rounded to 10 bits, with sums of f32
    HOLO_NUMERIC_F16  = 4, // for the target cuda: values and weights are f16 there, with sums of f32
} HoloNumeric;

// Makes a compiler with all defaults: class fused, verified, all passes, sizes as the model has them.
HOLO_API HOLO_MUST HoloStatus holo_compiler_create(HoloCompiler **out_compiler);
// The same in a context (NULL: none). Compiles take the context's memory and write to its log, and the models that they
// return belong to it. Libraries that the compiler uses (zlib, Jansson) take the little memory that they need from the
// system.
HOLO_API HOLO_MUST HoloStatus holo_compiler_create_in(HoloContext *context, HoloCompiler **out_compiler);
HOLO_API void                 holo_compiler_destroy(HoloCompiler *compiler);

// Fixes the shape of the input `name` (copied). A dimension of -1 stays as the model has it. The compile fails if the
// model has no such input, or one of another rank.
HOLO_API HOLO_MUST HoloStatus holo_compiler_set_shape(HoloCompiler *compiler, const char *name, int rank,
                                                      const int64_t *dim, HoloError *error);
// Gives the input `name` a constant value. It is no longer an input, and what depends only on it is computed while
// compiling. It has the shape of the value, whatever the model declares. The name is copied. The data is borrowed: keep
// it as long as you use the compiler.
HOLO_API HOLO_MUST HoloStatus holo_compiler_set_constant(HoloCompiler *compiler, const char *name,
                                                         const HoloTensor *tensor, HoloError *error);
// Makes every size of every input dynamic, even if the model fixes it: each size becomes its own symbol. Ranks stay.
// Shapes and constants that you set still apply.
HOLO_API void holo_compiler_set_symbolic(HoloCompiler *compiler, bool on);
HOLO_API void holo_compiler_set_numeric(HoloCompiler *compiler, HoloNumeric numeric);

// The element type of caches, in which a language model keeps keys and values: HOLO_F32 unless set, HOLO_F16 (half the
// memory), or HOLO_I8 (about a quarter: each vector of a head and a token has its own scale).
HOLO_API HOLO_MUST HoloStatus holo_compiler_set_cache(HoloCompiler *compiler, HoloDtype type, HoloError *error);
// A text that prompts begin with, such as a system prompt or a document. The language model's cache of it is computed
// once and stored in the archive, so that the model does not read it again. If the model has a chat template, the text
// is a system prompt, unless `is_plain`. It is copied. The compile fails if the model is not a language model with
// caches.
HOLO_API HOLO_MUST HoloStatus holo_compiler_set_prefix(HoloCompiler *compiler, const char *text, size_t size,
                                                       bool is_plain, HoloError *error);

// Whether the plan is compared with the reference before it is written. On unless set.
HOLO_API void holo_compiler_set_verify(HoloCompiler *compiler, bool on);
// Adds inputs to verify on, instead of made-up ones. `path` is as in holo_compiler_add_patterns, or "NAME=FILE" with
// the name of an input; all such files together are one sample. You may call it several times: the plan must agree on
// every sample. A sample that the model rejects is an error.
HOLO_API HOLO_MUST HoloStatus holo_compiler_add_verify_inputs(HoloCompiler *compiler, const char *path,
                                                              HoloError *error);
// Whether a plan that could not be verified is an error (HOLO_REFUSED). A plan cannot be verified if the model rejects
// made-up inputs, if the memory limit is too low, or if outputs are random by definition. Off unless set: the archive
// is written then, and the report says why it was not verified.
HOLO_API void holo_compiler_set_strict(HoloCompiler *compiler, bool on);
// How far the plan may differ from the reference: every checked element must be within absolute + relative * the
// largest magnitude of its output. Negative: the default. For an output of a narrow type (f16, bf16), relative is at
// least eight rounding steps of that type, unless you set it to 0. In models that quantize inside or compute in narrow
// types, an output may differ by more if rounding changes in the reference alone move it as far; unless relative is 0.
HOLO_API void holo_compiler_set_tolerance(HoloCompiler *compiler, double relative, double absolute);

// How large the archive may become. 3x3 convolutions run faster if their filters are stored transformed, which takes up
// to four times as much space. BALANCED stores those that save the most time, up to an archive of 1.5 times the model.
// SMALL stores none. FAST stores all that are faster. Other filters are transformed in each run, or not at all.
typedef enum HoloSize { HOLO_SIZE_BALANCED = 0, HOLO_SIZE_SMALL = 1, HOLO_SIZE_FAST = 2 } HoloSize;
HOLO_API void holo_compiler_set_size(HoloCompiler *compiler, HoloSize size);

// The targets that this compiler knows: places to run steps. "cpu" is always there. NULL: none has that index.
HOLO_API const char *holo_target_name(int index);
// Sets the targets to compile for, as "NAME,NAME". Each node goes to the first target that can run it, or else to the
// CPU. The default is "cpu". An archive for other targets runs where the runtime has devices of the same names. If the CPU
// is named beside others ("cpu,cuda"), the archive also has a plan for the CPU alone; sessions choose between the two
// (holo_model_set_device). Numeric classes that only other targets have are theirs; the plan for the CPU is of class fused
// then. If a name is unknown, the call fails and lists the targets.
HOLO_API HOLO_MUST HoloStatus holo_compiler_set_targets(HoloCompiler *compiler, const char *names, HoloError *error);

// Measures the fastest way to run each step, and uses it instead of the way that the rules choose. It measures on this
// machine, with as many threads as the compile uses. The archive then depends on the measurement.
HOLO_API void holo_compiler_set_tune(HoloCompiler *compiler, bool on);

// Whether functions of one 8- or 16-bit element become tables, made while compiling, and how many bytes all tables may
// take (0: HOLO_TABLES_DEFAULT). Tables change no bit of any result: without them, the functions are computed in each
// run.
enum { HOLO_TABLES_DEFAULT = 160 << 20 };
HOLO_API void holo_compiler_set_tables(HoloCompiler *compiler, bool on, uint64_t budget);

// Declares which values the elements of the input `name` can have. `values` is a list: one dimension, any type of
// numbers; it is copied. If all combinations of such inputs, and of other inputs of few bits, fit into the memory for
// tables, everything that depends only on them becomes one table. A run with any other value then fails. The sizes of
// the inputs must be numbers.
HOLO_API HOLO_MUST HoloStatus holo_compiler_set_domain(HoloCompiler *compiler, const char *name,
                                                       const HoloTensor *values, HoloError *error);

// Quantization stores the weights of products (Conv, MatMul, Gemm) in fewer bits. INT8 also quantizes the other factor.
typedef enum HoloQuantizeKind {
    HOLO_QUANTIZE_NONE = 0,
    // Weights have a scale for each channel, activations have one scale: products of integers. Tables of Gather are
    // stored in blocks of 64.
    HOLO_QUANTIZE_INT8 = 1,
    // Weights of MatMul and Gemm, and tables, are stored in blocks of 32 with a scale each. The other operand is
    // rounded to 8 bits, in the same blocks, in each run.
    HOLO_QUANTIZE_INT4 = 2,
    HOLO_QUANTIZE_F16  = 3, // weights and tables stored in f16, computed in f32
    HOLO_QUANTIZE_BF16 = 4,
    HOLO_QUANTIZE_W8   = 5, // as INT4, with 8 bits
    // Approximates what MatMul and Gemm read: every 8 numbers are replaced by the nearest of some centroids, which are
    // found on calibration data. Tables hold the products with the centroids. This does not make weights smaller: see
    // holo_compiler_set_centroids.
    HOLO_QUANTIZE_CENTROIDS = 6,
    // Like INT4, in blocks of ggml. If the row length is not a multiple of 256, Q4_K, Q5_K and Q6_K become Q5_0, Q5_1
    // and Q8_0.
    HOLO_QUANTIZE_Q8_0 = 7,
    HOLO_QUANTIZE_Q4_0 = 8,
    HOLO_QUANTIZE_Q4_1 = 9,
    HOLO_QUANTIZE_Q5_0 = 10,
    HOLO_QUANTIZE_Q5_1 = 11,
    HOLO_QUANTIZE_Q4_K = 12,
    HOLO_QUANTIZE_Q5_K = 13,
    HOLO_QUANTIZE_Q6_K = 14,
} HoloQuantizeKind;
typedef enum HoloActivations { // for INT8
    // Dynamic. With calibration data, activations of convolutions are static, and so are those of products that read
    // from convolutions.
    HOLO_ACTIVATIONS_DEFAULT = 0,
    HOLO_ACTIVATIONS_STATIC  = 1, // scales are constants, found on the samples: fastest
    HOLO_ACTIVATIONS_DYNAMIC = 2, // each run finds its scales; filters of one channel stay f32
} HoloActivations;
typedef enum HoloRanges {   // for static activations
    HOLO_RANGES_MSE    = 0, // cut off where the mean squared error on the samples is smallest
    HOLO_RANGES_MINMAX = 1, // from the smallest to the largest number in the samples
    HOLO_RANGES_PERCENTILE =
        2,                   // the range that holds a given percentage of the numbers: see holo_compiler_set_percentile
    HOLO_RANGES_ENTROPY = 3, // cut off where the distribution of the numbers loses the least information
} HoloRanges;
HOLO_API void holo_compiler_set_quantize(HoloCompiler *compiler, HoloQuantizeKind kind);
// Quantizes some layers as `kind`. `pattern` (copied) is an operator ("Gather") or a name ("/head/*", where * is any
// characters and ? is one). HOLO_QUANTIZE_NONE leaves these layers as they are. If several patterns fit a layer, the
// last one counts. A compile fails if a pattern fits no layer.
HOLO_API HOLO_MUST HoloStatus holo_compiler_add_quantize(HoloCompiler *compiler, const char *pattern,
                                                         HoloQuantizeKind kind, HoloError *error);
HOLO_API void holo_compiler_set_activations(HoloCompiler *compiler, HoloActivations activations, HoloRanges ranges);
// How many percent of the numbers HOLO_RANGES_PERCENTILE keeps: more than 50, up to 100; 99.9 unless set.
HOLO_API HOLO_MUST HoloStatus holo_compiler_set_percentile(HoloCompiler *compiler, double percent, HoloError *error);
// The number of centroids for HOLO_QUANTIZE_CENTROIDS: 2 to 256; 16 unless set. Tables grow with it.
HOLO_API HOLO_MUST HoloStatus holo_compiler_set_centroids(HoloCompiler *compiler, int count, HoloError *error);
// Sets inputs to find scales and measure accuracy with. `path` (copied) is a .npz with a tensor for each input, a .npy
// for a model of one input, or a folder of many of these. A tensor has the shape of its input; or one more dimension,
// in front, for several samples; or more rows in its first dimension, which are split into samples. NULL: inputs are
// made up from a seed.
HOLO_API HOLO_MUST HoloStatus holo_compiler_set_calibration(HoloCompiler *compiler, const char *path, HoloError *error);
// Adds a sample from memory to those of the path: a tensor for each input, by name or by index. The tensors are copied.
// A tensor may hold several samples, as above. You may call it many times.
HOLO_API HOLO_MUST HoloStatus holo_compiler_add_sample(HoloCompiler *compiler, const HoloRunInput *inputs, int count,
                                                       HoloError *error);
// How accurate the outputs must be on the samples: 0 to 1; 0.99 unless set. The accuracy of an output is 1 - sum (q -
// f)^2 / sum f^2 over all samples, where f is the output without quantization and q the output with it: 0.99 allows a
// root mean square error of a tenth. The accuracy of the model is the smallest of all outputs. If an output looks like
// classes (two dimensions, more than one column) and has enough rows (at least 100, and at least 1 / (1 - accuracy)),
// the accuracy is also at most the part of the rows whose largest element stays the same. The layers that lose the most
// stay as they are until the accuracy is reached.
HOLO_API HOLO_MUST HoloStatus holo_compiler_set_accuracy(HoloCompiler *compiler, double accuracy, HoloError *error);
// What a plan gave on the samples, in their order.
typedef struct HoloOutputs {
    int                sample_count, output_count;
    const char *const *names;   // of the outputs
    const HoloTensor  *tensors; // [sample][output]; data NULL: not a tensor of numbers
} HoloOutputs;
// Gives a score for the outputs; higher is better. A status other than HOLO_OK ends the compile.
typedef HoloStatus (*HoloJudgeFn)(void *context, const HoloOutputs *outputs, double *out_score, HoloError *error);
// Lets `judge` decide instead of the accuracy: layers stay as they are until the score is at most `max_drop` below the
// score without quantization. NULL: the accuracy decides.
HOLO_API void holo_compiler_set_judge(HoloCompiler *compiler, HoloJudgeFn judge, void *context, double max_drop);
// Leaves the model as it is if the quantized plan is not faster. Both are run on this machine.
HOLO_API void holo_compiler_set_only_if_faster(HoloCompiler *compiler, bool on);

// Runs the plan on the inputs at `path` (copied) and stores the answers in the archive. A run with the same inputs then
// computes nothing (see holo_session_set_memo of hologram.h). `path` is a .npz with a tensor for each input, or a
// folder. A folder has .npy files named like the inputs (with _ for /), or several .npz files and folders of .npy
// files, each a pattern of its own.
HOLO_API HOLO_MUST HoloStatus holo_compiler_add_patterns(HoloCompiler *compiler, const char *path, HoloError *error);

// Binds the kernels of a file (docs/kernel-language.md) to operators that Hologram does not know: kernels that say
// @kernel(operator="my.domain::Name"). The kernel then computes nodes of that operator, and its programs are stored in
// the archive. Set the numeric class first.
HOLO_API HOLO_MUST HoloStatus holo_compiler_add_kernel(HoloCompiler *compiler, const char *path, HoloError *error);

// Threads used while compiling; 0: one for each core. The number changes no byte of the archive, except with tuning.
HOLO_API void holo_compiler_set_threads(HoloCompiler *compiler, int threads);

// Limits the bytes that a compile may hold at once, including verification. 0, the default: what the machine has left
// (see holo_memory_set_limit of hologram.h). A compile that needs more fails with HOLO_NO_MEMORY. The model's own file
// is mapped and does not count.
HOLO_API void holo_compiler_set_memory_limit(HoloCompiler *compiler, uint64_t bytes);

// The passes, in order. NULL: there is none.
HOLO_API int         holo_pass_count(void);
HOLO_API const char *holo_pass_name(int index, const char **out_purpose); // out_purpose may be NULL
// Skips a pass. If there is no pass of that name, the call fails and lists the passes.
HOLO_API HOLO_MUST HoloStatus holo_compiler_disable_pass(HoloCompiler *compiler, const char *pass, HoloError *error);

// Calls `dump` with the graph as text after each run of `pass`. Other names: "import" is the graph before the first
// pass, "quantize" the quantized graph, "plan" the graph that is planned, "lower" the same with transfers between
// targets, if there are several, and "all" stands for all of them. The text lives during the call.
typedef void (*HoloDumpFn)(void *context, const char *pass, const char *text);
HOLO_API HOLO_MUST HoloStatus holo_compiler_set_dump(HoloCompiler *compiler, const char *pass, HoloDumpFn dump,
                                                     void *context, HoloError *error);

// Called now and then with the current stage and the progress of the whole compile, 0 to 1.
typedef void (*HoloProgressFn)(void *context, const char *stage, double fraction);
HOLO_API void holo_compiler_set_progress(HoloCompiler *compiler, HoloProgressFn progress, void *context);

// Cancels the compiles with this compiler that are in progress: they return HOLO_CANCELLED soon and leave no file.
// Compiles that begin later are not affected. You may call it from any thread and from a signal handler.
HOLO_API void holo_compiler_cancel(HoloCompiler *compiler);

// ---- compiling ---------------------------------------------------------------------------------

typedef struct HoloPassReport {
    const char *name;
    int         runs, changes; // how often it ran, and how many nodes and values it changed in all
    double      seconds;
} HoloPassReport;

typedef struct HoloTuneWay {
    const char *name;    // "matmul_f32, packed"
    double      seconds; // of the fastest run
} HoloTuneWay;

typedef struct HoloTuneReport { // for all steps of the same operator, attributes and types
    const char        *op, *shapes;
    int                steps, way_count;
    int                chosen; // index of `ways`; 0 is what the rules say
    const HoloTuneWay *ways;
} HoloTuneReport;

typedef struct HoloLayerReport {           // a product of the model, and what quantization did to it
    const char *name, *op, *shape;         // "/layer1/conv1", "Conv", "64x3x7x7" (of its weights)
    const char *type;                      // type of its weights now: "int8", "f32"
    const char *why;                       // why it is not what was asked for; NULL: it is
    double      error;                     // relative root mean square error of its result; NaN: not measured
    double      loss;                      // of accuracy, if it alone is quantized; NaN: not measured
    uint64_t    bytes_before, bytes_after; // of its weights
} HoloLayerReport;

typedef struct HoloQuantizationReport {
    const char *kind;                // "int8", "int8,Gather=f16"; NULL: none was asked for
    bool        is_static, was_kept; // was_kept: the model stays as it is, because quantized it would not be
                                     // faster
    int                    layer_count, narrow_count;
    int                    integer_count; // how many of the narrow layers are products of integers
    const HoloLayerReport *layers;        // in the order in which they run
    int                    samples;
    bool                   is_seeded;        // the samples are made up
    double                 target, accuracy; // see holo_compiler_set_accuracy
    double                 worst;            // the largest difference, relative to the largest magnitude of its output
    double                 cosine, top1;     // smallest of all outputs; top1 NaN: no output looks like classes
    int64_t                top1_rows;
    double                 score_before, score_after, max_drop; // see holo_compiler_set_judge; NaN: there was no judge
    int                    trials;                              // plans that were measured
    double                 seconds;                             // time it took
    double                 before_run, after_run;               // seconds of one run of each plan; 0: not measured
} HoloQuantizationReport;

// What a compile did. Strings and arrays live as long as the report.
typedef struct HoloReport {
    uint32_t nodes_before, nodes_after; // of the imported graph and of the planned one
    uint32_t folded;                    // nodes computed at compile time
    uint32_t steps, kernel_steps;       // of the plan, and how many of them run a fast kernel
    uint32_t constants, deduplicated;   // stored, and not stored because they equal a stored one
    uint64_t deduplicated_bytes;
    uint64_t arena_bytes, naive_bytes;   // planned memory of a run, and the sum of all intermediate values; 0, 0: they
                                         // depend on dynamic sizes
    uint64_t model_bytes, archive_bytes; // of the model with its external data, and of the archive
    double   seconds;                    // in all

    bool     verified;
    uint64_t checked;        // elements of outputs compared with the reference
    double   worst_absolute; // the worst difference: the one that is largest relative to the largest magnitude of its
                             // output (or node)
    double      worst_relative; // the same, relative to that magnitude
    const char *worst_at;       // where it is: "output logits, element 17"; NULL: nothing differs
    double      verify_seconds;

    int                   pass_count;
    const HoloPassReport *passes;

    const char *verify_why_not; // NULL: it was verified, or verification was turned off

    bool                  tuned;
    int                   tune_count;
    const HoloTuneReport *tunes;
    uint32_t              tune_open; // steps left to the rules because their sizes are dynamic
    double                tune_seconds;

    uint32_t tables; // number of tables made from operators; their size, and what they may take
    uint64_t table_bytes, table_budget;

    uint32_t patterns;   // inputs whose answers are stored
    uint64_t memo_bytes; // size of these answers

    uint32_t prefix_tokens; // of the prefix that is stored; 0: there is none

    HoloQuantizationReport quantization;

    int verify_outputs, verify_nodes; // outputs that were compared; nodes whose kernels were judged by
                                      // themselves
    uint64_t    judged;               // elements of these nodes
    double      worst_top;            // the largest magnitude that the worst difference is compared with
    double      allowed;              // how large that difference may be
    const char *allowed_by;           // and why; NULL: nothing differs
    const char *verify_inputs;        // "made-up inputs" ...; NULL: it was not verified
    bool        verify_over_limit;    // not verified, because that would take too much memory or time
    const char *verify_left_out;      // outputs that are random by definition; NULL: none

    uint32_t transformed, not_transformed; // layers whose filters are stored transformed, and those whose are not
    uint64_t transformed_bytes, not_transformed_bytes; // bytes that this adds, or would add; see holo_compiler_set_size
    double   size_work;                                // about how much more work the layers that are not transformed
                                                       // take, relative to the work of all these layers

    // If there are plans for devices beside those for the CPU, which all numbers above are about:
    const char *device;                   // the targets that they are for, "cuda"; NULL: there are no such plans
    const char *numeric, *device_numeric; // the numeric classes of the plans for the CPU and of those for devices
    uint32_t    device_steps;             // of the plans for devices
    uint64_t host_bytes, device_bytes; // of constants that only the plans for the CPU read, or only those for devices
    uint64_t shared_bytes;             // of constants that both read
    bool     device_verified;
    const char *device_why_not; // why they were not verified; NULL: they were, or nobody asked for it
} HoloReport;
HOLO_API void holo_report_destroy(HoloReport *report);

// Compiles the model at `path` into `out_path`. The archive is written beside it and then renamed, so it is written
// completely or not at all. `compiler` NULL: all defaults. `out_report` may be NULL; it is set on success.
HOLO_API HOLO_MUST HoloStatus holo_compile_file(const HoloCompiler *compiler, const char *path, const char *out_path,
                                                HoloReport **out_report, HoloError *error);
// The same without leaving a file: the model is opened from a temporary file that has no name.
HOLO_API HOLO_MUST HoloStatus holo_compile_model(const HoloCompiler *compiler, const char *path, HoloModel **out_model,
                                                 HoloReport **out_report, HoloError *error);
// The same from the bytes of a model file, read only during the call. A model that refers to other files is an error.
HOLO_API HOLO_MUST HoloStatus holo_compile_memory(const HoloCompiler *compiler, const void *bytes, size_t size,
                                                  HoloModel **out_model, HoloReport **out_report, HoloError *error);

// ---- finding what makes a plan wrong -----------------------------------------------------------

typedef enum HoloCulpritKind {
    HOLO_CULPRIT_PASS   = 0, // a change that a pass made
    HOLO_CULPRIT_KERNEL = 1, // a kernel that runs a node of the model as it is
    HOLO_CULPRIT_PLAN   = 2, // neither: the plan differs even without any pass
} HoloCulpritKind;

typedef struct HoloCulprit {
    HoloCulpritKind kind;
    const char     *pass;          // NULL: none
    int             pass_change;   // which change of that pass, counted from 1
    int             change;        // which change of all passes
    double          before, after; // the worst difference without that change and with it, relative to the output's
                                   // largest magnitude; NaN: there was no plan
    const char *message;           // what is wrong
    const char *removed, *added;   // lines of the graph text that the change removed and added; may be ""
} HoloCulprit;

typedef struct HoloBisection {
    const char        *why_not;       // why nothing could be compared; then all else is 0. NULL: it could
    int                culprit_count; // 0: the plan agrees with the model
    const HoloCulprit *culprits;
    int                change_count; // that all passes made
    int                trials;       // number of plans compared with the model
    uint64_t           checked;      // elements compared in the last of these plans, which leaves out the passes of the
                                     // culprits
    double      worst_absolute, worst_relative;
    const char *worst_at; // NULL: nothing differs
    double      seconds;
} HoloBisection;

// Compares the plan with the model, as compiling does, with the choices of `compiler` (NULL: all defaults). If they
// differ, it finds the first change of a pass that makes the difference: it stops the passes after so many changes, and
// halves the range until one change is left. Then it leaves that pass out and searches on, until the plan agrees.
// `inputs` is one tensor for each input; an entry is NULL if an optional input is left out. NULL: seeded inputs. It
// fails if the model cannot be compiled without passes either.
HOLO_API HOLO_MUST HoloStatus holo_bisect(const HoloCompiler *compiler, const char *path,
                                          const HoloTensor *const *inputs, int input_count,
                                          HoloBisection **out_bisection, HoloError *error);
HOLO_API void                 holo_bisection_destroy(HoloBisection *bisection);

// ---- models as their files say them ------------------------------------------------------------

typedef enum HoloFileKind {
    HOLO_FILE_OTHER   = 0, // not a model of a known format; compiling it says what it looks like
    HOLO_FILE_ARCHIVE = 1, // .holo
    HOLO_FILE_MODEL   = 2, // a file or a folder to compile; if its format cannot be read yet, compiling it says so
} HoloFileKind;
// Looks at the contents, not at the name. Fails if there is nothing to read, and for a folder that is not a model.
HOLO_API HOLO_MUST HoloStatus holo_file_kind(const char *path, HoloFileKind *out_kind, HoloError *error);

typedef struct HoloSource HoloSource;

// Imports the model and infers its types. Unknown operators are not an error here.
HOLO_API HOLO_MUST HoloStatus holo_source_open(const char *path, HoloSource **out_source, HoloError *error);
// The same with the shapes that were set by holo_compiler_set_shape: for formats that do not tell them. `compiler` may be NULL.
HOLO_API HOLO_MUST HoloStatus holo_source_open_with(const HoloCompiler *compiler, const char *path,
                                                    HoloSource **out_source, HoloError *error);
HOLO_API void                 holo_source_close(HoloSource *source);

// Some files hold several models: entries, each with a name. Most hold one, whose name is "". All that is asked of a
// source is about its first entry, until another is chosen; what was returned before then is no longer valid.
HOLO_API int                  holo_source_entry_count(const HoloSource *source);
HOLO_API const char          *holo_source_entry_name(const HoloSource *source, int index); // NULL: there is none
HOLO_API HOLO_MUST HoloStatus holo_source_choose(HoloSource *source, int index, HoloError *error);

HOLO_API int             holo_source_input_count(const HoloSource *source);
HOLO_API int             holo_source_output_count(const HoloSource *source);
HOLO_API const HoloPort *holo_source_input(const HoloSource *source, int index);  // NULL: there is none
HOLO_API const HoloPort *holo_source_output(const HoloSource *source, int index); // NULL: there is none

// What the model says about itself: "format", the keys of its format, "bytes", "hash", and its author's metadata.
HOLO_API int         holo_source_meta_count(const HoloSource *source);
HOLO_API const char *holo_source_meta(const HoloSource *source, int index, const char **out_key);

// The operators of the model, with those in subgraphs, in the order of their names.
typedef struct HoloSourceOp {
    const char *name; // "Conv", "com.microsoft::Attention"
    int32_t     uses;
    bool        is_supported;
} HoloSourceOp;
HOLO_API int                 holo_source_op_count(const HoloSource *source);
HOLO_API const HoloSourceOp *holo_source_op(const HoloSource *source, int index); // NULL: there is none

// Writes the imported graph as an ONNX model. The weights of a model over 2 GiB go into a second file, PATH.data.
// Operators that ONNX does not have are replaced by their definitions; if there is none, the call fails and names the
// operator. The same model gives the same bytes.
HOLO_API HOLO_MUST HoloStatus holo_source_convert(const HoloSource *source, const char *path, HoloError *error);

// Whether an output depends on an operator that is random by definition, so that its values cannot be predicted. Gives
// the bounds of its values (infinite if there are none). The pointers may be NULL.
HOLO_API bool holo_source_is_random(const HoloSource *source, int output, double *out_low, double *out_high);

// ---- values with memory of their own -----------------------------------------------------------

typedef struct HoloTensors HoloTensors;

// Reads a .npy (one tensor), a .npz (many, with names), an ONNX .pb (one), or numbers as text, such as a .csv (one).
// `want` (NULL: a tensor) gives what the file does not say: for a .pb the kind and, if that is not HOLO_TENSOR, the
// dtype; for text the type and the shape.
HOLO_API HOLO_MUST HoloStatus holo_tensors_read(const char *path, const HoloTensor *want, HoloTensors **out_tensors,
                                                HoloError *error);
// The same without the data of a .npz: names and types are there, and data is NULL until you load the tensors that you
// want. So you read only what you need of a large file.
HOLO_API HOLO_MUST HoloStatus holo_tensors_open(const char *path, const HoloTensor *want, HoloTensors **out_tensors,
                                                HoloError *error);
HOLO_API HOLO_MUST HoloStatus holo_tensors_load(HoloTensors *tensors, int index, HoloError *error);
// One tensor from text, in the same form as in a file.
HOLO_API HOLO_MUST HoloStatus holo_tensors_parse(const char *text, const HoloTensor *want, HoloTensors **out_tensors,
                                                 HoloError *error);
// Whether the file is a picture, by its first bytes: JPEG, PNG, BMP, WebP, TIFF, JPEG 2000 or PNM. All but BMP and PNM
// are decoded by libraries, if these are installed.
HOLO_API bool holo_is_picture(const char *path);

typedef enum HoloResample {     // how a picture is resized first
    HOLO_RESAMPLE_LINEAR   = 0, // with antialiasing
    HOLO_RESAMPLE_NEAREST  = 1, // this and those below: as in Pillow, the Python library
    HOLO_RESAMPLE_BILINEAR = 2,
    HOLO_RESAMPLE_BICUBIC  = 3,
} HoloResample;

typedef struct HoloPictureForm {
    bool         is_channels_last; // [height, width, channels] instead of [channels, height, width]
    bool         is_bgr;
    double       low, high;       // the numbers that black and white become ...
    double       mean[3], std[3]; // ... and then (x - mean) / std, for each channel of the tensor
    HoloResample resample;
    int64_t first[2]; // the height and width that it is resized to first; a width of 0: the height is its shorter side.
                      // Then the center is cropped, with black around it if it is too small. Both 0: no crop
} HoloPictureForm;

// Reads a picture as one tensor of `type`: three dimensions, four with one picture, or [height, width]; with one
// channel (gray) or three. The picture is resized, with antialiasing, to the sizes of the type. If one size is -1, the
// picture keeps its proportions; if both are, it keeps its size. `out_size` (may be NULL) gets its width and height.
HOLO_API HOLO_MUST HoloStatus holo_tensors_read_picture(const char *path, const HoloTensor *type,
                                                        const HoloPictureForm *form, int64_t out_size[2],
                                                        HoloTensors **out_tensors, HoloError *error);
// One tensor of `type`, whose sizes are all known: normally distributed floats, integers 1, bools true, strings "a".
HOLO_API HOLO_MUST HoloStatus holo_tensors_seeded(const HoloTensor *type, uint64_t seed, HoloTensors **out_tensors,
                                                  HoloError *error);
HOLO_API void                 holo_tensors_destroy(HoloTensors *tensors);

HOLO_API int               holo_tensors_count(const HoloTensors *tensors);
HOLO_API const HoloTensor *holo_tensors_get(const HoloTensors *tensors, int index,
                                            const char **out_name); // "": the file has no name; NULL: there is none
HOLO_API const HoloTensor *holo_tensors_find(const HoloTensors *tensors, const char *name); // NULL: there is none

// Runs a session of `model` on each pattern at `path` (see holo_compiler_add_patterns). With a memo, the session learns
// the answers; with a memo of SIZE_MAX bytes it learns all of them or fails. `out_count` (or NULL) gets their number.
HOLO_API HOLO_MUST HoloStatus holo_session_learn(HoloSession *session, const HoloModel *model, const char *path,
                                                 int *out_count, HoloError *error);

HOLO_API HOLO_MUST HoloStatus holo_tensor_write_npy(const char *path, const HoloTensor *tensor, HoloError *error);

// Reads elements start .. start+count-1 of a tensor of numbers or bools as doubles: of complex ones, the real parts.
HOLO_API void holo_tensor_numbers(const HoloTensor *tensor, int64_t start, int64_t count, double *out);

// The opposite: writes each number as exactly as the element type can hold it.
HOLO_API void holo_tensor_set_numbers(HoloTensor *tensor, int64_t start, int64_t count, const double *numbers);

// Computes the model operator by operator, without any optimization: the reference. `inputs` has one tensor for each
// input, in order; an entry is NULL if an optional input is left out. The outputs are in order and have names.
HOLO_API HOLO_MUST HoloStatus holo_reference_run(const HoloSource *source, const HoloTensor *const *inputs,
                                                 int input_count, HoloTensors **out_outputs, HoloError *error);
// The same. `watch` is called for each value that a node computes, as by holo_session_watch.
HOLO_API HOLO_MUST HoloStatus holo_reference_watch(const HoloSource *source, const HoloTensor *const *inputs,
                                                   int input_count, HoloWatchFn watch, void *context,
                                                   HoloTensors **out_outputs, HoloError *error);

// ---- kernels -----------------------------------------------------------------------------------

// Kernels in the language of docs/kernel-language.md: files that end with .py, .c or .json. Each kernel is a portable
// program, or several: one for each type that its type variable stands for.
typedef struct HoloKernels HoloKernels;

HOLO_API bool holo_kernel_path(const char *path); // whether the name ends like that of a file of kernels
// Compiles a file, or all files of kernels in a folder and the folders below it. Messages show the line that is wrong.
// Or reads the programs of an archive (.holo) of kernels: these have no source, and programs are named like functions.
HOLO_API HOLO_MUST HoloStatus holo_kernels_open(const char *path, HoloNumeric numeric, HoloKernels **out_kernels,
                                                HoloError *error);
HOLO_API void                 holo_kernels_close(HoloKernels *kernels);

typedef struct HoloKernelParam {
    const char *name;
    HoloDtype   type; // of the elements, if it is an array
    bool        is_array, is_read, is_written;
} HoloKernelParam;

typedef struct HoloKernelInfo {      // strings live as long as the kernels
    const char            *name;     // "vector_add_f32"
    const char            *function; // "vector_add"
    const char            *file, *doc;
    HoloDtype              type; // what the type variable stands for; HOLO_NONE: there is none
    int                    param_count;
    const HoloKernelParam *params;
    int                    block[3]; // lanes of a block that it asks for; 0: any number
    const char            *assembly; // the program as text: see docs/isa.md
} HoloKernelInfo;
HOLO_API int  holo_kernels_count(const HoloKernels *kernels);
HOLO_API bool holo_kernels_info(const HoloKernels *kernels, int index,
                                HoloKernelInfo *out_info); // false: there is none
// The source of a file in the JSON form. NULL: there is no such file, or it is an archive. `out_path` may be NULL.
HOLO_API const char *holo_kernels_json(const HoloKernels *kernels, int file, const char **out_path);

typedef struct HoloKernelLaunch { // zeros: as the kernel says
    int64_t   lanes;              // 0: by its `lanes`, or else by its first whole number
    int       block[3];
    int64_t   turns; // loop iterations that a lane may take in all; 0: any number
    HoloPool *pool;  // threads that run it, with the same results; NULL: the calling thread alone
} HoloKernelLaunch;
// Runs a kernel on your tensors: one for each parameter, of its type. Scalars have one element. `launch` may be NULL.
// Only one thread at a time may call it.
HOLO_API HOLO_MUST HoloStatus holo_kernels_run(HoloKernels *kernels, int index, const HoloTensor *const *args,
                                               int arg_count, const HoloKernelLaunch *launch, HoloError *error);
// Writes all kernels as programs of an archive without a model.
HOLO_API HOLO_MUST HoloStatus holo_kernels_write(const HoloKernels *kernels, const char *path, HoloError *error);

// ---- what is supported -------------------------------------------------------------------------

typedef struct HoloOpInfo {
    const char *domain, *name;                    // domain "" is ai.onnx
    int         since, until;                     // versions of its domain; until 0: up to the newest
    int         in_min, in_max, out_min, out_max; // -1: any number
    uint64_t    types;                            // bit HoloDtype: the types that the first input may have
    const char
        *runs;      // "kernel" (a fast one for common cases), "eval" (the reference), "body" (made of other operators),
                    // "refused" (a model with it fails, and the message says why)
    bool is_random; // by definition: not a function of its inputs
} HoloOpInfo;
HOLO_API int  holo_op_count(void);
HOLO_API bool holo_op_info(int index, HoloOpInfo *out_info); // sorted by domain, name and version; false: there is none

#ifdef __cplusplus
}
#endif

#include "hologram_listing.h"

#endif
