// hologram.h - the runtime's public API: open a .holo file, make a session, run it.
//
// Three objects. A HoloModel is an opened file: immutable, shared freely between threads, which may
// all run it at once (holo_model_run). A HoloSession is one place where the model runs: it owns the
// memory of a run and belongs to one thread at a time. A HoloPool is a set of worker threads that
// sessions borrow.
//
// Functions that can fail return a HoloStatus and, when `error` is not NULL, leave there a message
// that names the node or the byte at fault. Nothing here prints, exits or aborts.
//
// The API is append-only: values are never renumbered, fields never move.
#ifndef HOLOGRAM_H
#define HOLOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HOLO_VERSION_MAJOR 0
#define HOLO_VERSION_MINOR 2
#define HOLO_VERSION_PATCH 0

#if defined __GNUC__
#define HOLO_API  __attribute__((visibility("default")))
#define HOLO_MUST __attribute__((warn_unused_result))
#else
#define HOLO_API
#define HOLO_MUST
#endif

// ---- status ------------------------------------------------------------------------------------

#define HOLO_STATUS_MAP(X)                                                    \
    X(OK, 0, "ok")                                                            \
    X(BAD_ARGUMENT, 1, "a function was called with a wrong argument")         \
    X(BAD_MODEL, 2, "the model file is not valid")                            \
    X(BAD_ARCHIVE, 3, "the archive is not valid")                             \
    X(BAD_INPUT, 4, "an input does not fit the model")                        \
    X(UNSUPPORTED, 5, "valid, but not supported here")                        \
    X(NO_MEMORY, 6, "out of memory")                                          \
    X(NO_FILE, 7, "a file cannot be read or written")                         \
    X(CANCELLED, 8, "the run was cancelled")                                  \
    X(VERIFY, 9, "the compiled plan differs from the model beyond tolerance") \
    X(INTERNAL, 10, "a mistake in Hologram itself")                           \
    X(REFUSED, 11, "valid, but Hologram does not do it, by choice")           \
    X(BUSY, 12, "another thread is using the session")                        \
    X(TIMEOUT, 13, "the run took longer than it may")

typedef enum HoloStatus {
#define X(id, value, text) HOLO_##id = value,
    HOLO_STATUS_MAP(X)
#undef X
} HoloStatus;

// What went wrong, in words. Zero-initialize it; the first failure wins, later ones do not
// overwrite it. Holds no memory to free.
typedef struct HoloError {
    HoloStatus status;
    char       text[4092];
} HoloError;

HOLO_API const char *holo_status_text(HoloStatus status);
HOLO_API const char *holo_version(void); // "0.1.0"

// Names in models are whatever somebody wrote: for printing, characters that a terminal would obey, and bytes that are no
// UTF-8, become \x1b or \u{202e}. Returns how long the text is then; of that, as much as fits into `room` is put into
// `out`, and a 0. Messages of errors are made so already.
HOLO_API size_t holo_text_safe(const char *text, char *out, size_t room);

// ---- memory ------------------------------------------------------------------------------------

// How many bytes the library may hold at once in this process, whoever asked for them; files that are mapped do not count.
// Whatever would go past it fails with HOLO_NO_MEMORY, and the message says how much was asked for. 0, the default: nine
// tenths of what the machine and its control groups have left. A compile, and each session, may have a limit of its own as
// well. The compiler's shared library counts for itself.
HOLO_API void     holo_memory_set_limit(uint64_t bytes);
HOLO_API uint64_t holo_memory_limit(void); // what it is now
HOLO_API uint64_t holo_memory_held(void);  // what is held now

// ---- contexts: memory and messages -------------------------------------------------------------

// A context says where memory comes from, how much of it there may be, and who hears what the library has to tell. Models,
// pools, executors and compilers can be made in one (the functions that end with _in), and sessions are in that of their model.
// It outlives all that is made in it. Nothing of it is global: each has its own, and what is made without one has none.
typedef struct HoloContext HoloContext;

// One function for all memory. `size` bytes aligned to `align`, a power of two, that begin with the first bytes of `old`, of
// `old_size`, which is freed; `old` NULL: there were none; `size` 0: `old` is freed, and the result does not matter. NULL: there is
// no memory, and `old` stays as it is. Called by several threads at once. `align` is the same for all calls of one piece.
typedef struct HoloAlloc {
    void *(*resize)(void *state, void *old, size_t old_size, size_t size, size_t align);
    void *state; // for the function alone
} HoloAlloc;

// `alloc` is copied; NULL: the system's memory.
HOLO_API HOLO_MUST HoloStatus holo_context_create(const HoloAlloc *alloc, HoloContext **out_context, HoloError *error);
HOLO_API void                 holo_context_destroy(HoloContext *context); // after all that was made in it
// Bytes that all in the context may hold at once; 0, the default: no limit but the process's.
HOLO_API void     holo_context_set_memory_limit(HoloContext *context, uint64_t bytes);
HOLO_API uint64_t holo_context_memory(const HoloContext *context); // what they hold now

typedef enum HoloLogLevel {
    HOLO_LOG_DEBUG   = 0, // each run, each size that is bound anew
    HOLO_LOG_INFO    = 1, // what is opened, made and compiled
    HOLO_LOG_WARNING = 2, // what works, but not as well as it might, or was not checked
    HOLO_LOG_ERROR   = 3, // calls that fail, with their messages
} HoloLogLevel;
// One line, without an end of line, that lives for the call. Called by whichever thread has something to tell, several at once.
typedef void (*HoloLogFn)(void *state, HoloLogLevel level, const char *text);
// Before something is made in the context: who hears messages of this level and those above. NULL: nobody.
HOLO_API void holo_context_set_log(HoloContext *context, HoloLogLevel least, HoloLogFn log, void *state);

// ---- numbers and tensors -----------------------------------------------------------------------

// The element types, with ONNX's numbers. Types narrower than a byte (6, 4 and 2 bits) take one byte
// an element in memory: the value itself, sign-extended where signed.
#define HOLO_DTYPE_MAP(X)              \
    X(F32, 1, "f32", 4)                \
    X(U8, 2, "u8", 1)                  \
    X(I8, 3, "i8", 1)                  \
    X(U16, 4, "u16", 2)                \
    X(I16, 5, "i16", 2)                \
    X(I32, 6, "i32", 4)                \
    X(I64, 7, "i64", 8)                \
    X(STRING, 8, "string", 16)         \
    X(BOOL, 9, "bool", 1)              \
    X(F16, 10, "f16", 2)               \
    X(F64, 11, "f64", 8)               \
    X(U32, 12, "u32", 4)               \
    X(U64, 13, "u64", 8)               \
    X(C64, 14, "c64", 8)               \
    X(C128, 15, "c128", 16)            \
    X(BF16, 16, "bf16", 2)             \
    X(F8E4M3FN, 17, "f8e4m3fn", 1)     \
    X(F8E4M3FNUZ, 18, "f8e4m3fnuz", 1) \
    X(F8E5M2, 19, "f8e5m2", 1)         \
    X(F8E5M2FNUZ, 20, "f8e5m2fnuz", 1) \
    X(U4, 21, "u4", 1)                 \
    X(I4, 22, "i4", 1)                 \
    X(F4E2M1, 23, "f4e2m1", 1)         \
    X(F8E8M0, 24, "f8e8m0", 1)         \
    X(U2, 25, "u2", 1)                 \
    X(I2, 26, "i2", 1)                 \
    X(F6E2M3, 27, "f6e2m3", 1)         \
    X(F6E3M2, 28, "f6e3m2", 1)

typedef enum HoloDtype {
    HOLO_NONE = 0,
#define X(id, value, text, size) HOLO_##id = value,
    HOLO_DTYPE_MAP(X)
#undef X
        HOLO_DTYPE_COUNT = 29
} HoloDtype;

HOLO_API const char *holo_dtype_name(HoloDtype dtype); // "f32"; "?" when there is none
HOLO_API size_t      holo_dtype_size(HoloDtype dtype); // bytes an element; 0 when there is none

enum { HOLO_MAX_RANK = 16 };

typedef enum HoloKind {
    HOLO_TENSOR   = 0,
    HOLO_SEQUENCE = 1, // data: dim[0] HoloTensors
    HOLO_OPTIONAL = 2, // data: dim[0] (0 or 1) HoloTensors
    HOLO_MAP      = 3, // data: two HoloTensors of rank 1, keys and values
} HoloKind;

// One string of a string tensor. Bytes, usually UTF-8, not terminated.
typedef struct HoloString {
    const char *data;
    size_t      size;
} HoloString;

// A view of a value: it owns nothing. Tensors are dense and row-major.
typedef struct HoloTensor {
    uint8_t dtype; // HoloDtype; of the innermost elements where kind is not HOLO_TENSOR
    uint8_t kind;  // HoloKind
    uint8_t inner; // HoloKind of the elements of a sequence or optional
    int8_t  rank;  // -1: not known
    int64_t dim[HOLO_MAX_RANK];
    void   *data; // NULL: not known, or no elements
} HoloTensor;

HOLO_API int64_t holo_tensor_count(const HoloTensor *t); // elements; -1 when not known or too many
HOLO_API size_t  holo_tensor_bytes(const HoloTensor *t);

// The same view in DLPack's layout (DLTensor): for exchange with other libraries, without a copy.
typedef struct HoloDlTensor {
    void    *data;
    int32_t  device_type, device_id; // 1, 0: the CPU
    int32_t  ndim;
    uint8_t  code, bits; // DLDataType
    uint16_t lanes;
    int64_t *shape;
    int64_t *strides; // in elements; NULL: dense, row-major
    uint64_t byte_offset;
} HoloDlTensor;

// The view refers to `t` for its shape: it lives as long as `t`. False when DLPack has no such type.
HOLO_API bool holo_tensor_to_dlpack(HoloTensor *t, HoloDlTensor *out);
// False when the tensor is on another device, not dense, or of a type or rank that does not exist here.
HOLO_API bool holo_tensor_from_dlpack(const HoloDlTensor *dl, HoloTensor *out);

// ---- threads -----------------------------------------------------------------------------------

typedef struct HoloPool HoloPool;

// A pool runs work on `threads` threads, the caller's among them. Its workers sleep when idle.
// 0 means one thread a core. Sessions of several threads may share one pool.
HOLO_API HOLO_MUST HoloStatus holo_pool_create(int threads, HoloPool **out_pool);
// The same with workers that stay on cores of one's choice, as the system numbers them: worker i on cores[i % core_count]. The
// caller's thread is worker 0 and stays where it is: cores[0] is for it, by whatever means it has. `threads` 0: as many as
// there are cores. HOLO_UNSUPPORTED where the system lets nobody choose, as macOS.
HOLO_API HOLO_MUST HoloStatus holo_pool_create_on(int threads, const int *cores, int core_count, HoloPool **out_pool,
                                                  HoloError *error);
// Either, in a context (NULL: none); `cores` NULL: the system chooses them.
HOLO_API HOLO_MUST HoloStatus holo_pool_create_in(HoloContext *context, int threads, const int *cores, int core_count,
                                                  HoloPool **out_pool, HoloError *error);
HOLO_API void                 holo_pool_destroy(HoloPool *pool);
HOLO_API int                  holo_pool_threads(const HoloPool *pool);

// ---- models ------------------------------------------------------------------------------------

typedef struct HoloModel HoloModel;

// Opens by map, or by reading where the file cannot be mapped. The file must not change while open.
HOLO_API HOLO_MUST HoloStatus holo_model_open(const char *path, HoloModel **out_model, HoloError *error);

// What a program that answers many requests may pay for in advance; it changes no result.
#define HOLO_OPEN_PREFAULT 1u // all pages of the file and of sessions' memory are there before the first run
#define HOLO_OPEN_HUGE     2u // weights are copied into large pages, where the system has them, and sessions use such, too

// As holo_model_open, with a sum of the above.
HOLO_API HOLO_MUST HoloStatus holo_model_open_with(const char *path, uint32_t flags, HoloModel **out_model,
                                                   HoloError *error);
// Opens an archive in memory, which must stay as it is until holo_model_close, 64-byte aligned.
HOLO_API HOLO_MUST HoloStatus holo_model_open_memory(const void *bytes, size_t size, HoloModel **out_model,
                                                     HoloError *error);
// The same two in a context (NULL: none).
HOLO_API HOLO_MUST HoloStatus holo_model_open_in(HoloContext *context, const char *path, uint32_t flags,
                                                 HoloModel **out_model, HoloError *error);
HOLO_API HOLO_MUST HoloStatus holo_model_open_memory_in(HoloContext *context, const void *bytes, size_t size,
                                                        HoloModel **out_model, HoloError *error);
HOLO_API void holo_model_close(HoloModel *model); // after all its sessions are destroyed and its runs are over

// Reads every byte and compares every checksum, which opening does not.
HOLO_API HOLO_MUST HoloStatus holo_model_verify(const HoloModel *model, HoloError *error);

typedef struct HoloPort { // an input or an output; strings live as long as the model
    const char *name;
    HoloTensor  type;                  // dim -1: not fixed; data NULL
    const char *symbol[HOLO_MAX_RANK]; // how an unfixed dimension is written: "batch", "2*n+1"; else NULL
    bool        optional;              // an input of optional type, which need not be given
    bool        any_shape;             // an input that nothing reads, and no size depends on
} HoloPort;

HOLO_API int             holo_model_input_count(const HoloModel *model);
HOLO_API int             holo_model_output_count(const HoloModel *model);
HOLO_API const HoloPort *holo_model_input(const HoloModel *model, int index);              // NULL: no such
HOLO_API const HoloPort *holo_model_output(const HoloModel *model, int index);             // NULL: no such
HOLO_API int             holo_model_input_find(const HoloModel *model, const char *name);  // -1: no such
HOLO_API int             holo_model_output_find(const HoloModel *model, const char *name); // -1: no such

// Whether a tensor can be that input: its type, and the sizes that the model fixes. HOLO_BAD_INPUT says what is wrong. Its
// data is not looked at.
HOLO_API HOLO_MUST HoloStatus holo_port_fits(const HoloPort *port, const HoloTensor *tensor, HoloError *error);

// What the compiler wrote about the model: "source.format", "source.hash", "verify.worst" ... in order.
HOLO_API int         holo_model_meta_count(const HoloModel *model);
HOLO_API const char *holo_model_meta(const HoloModel *model, int index, const char **out_key);
HOLO_API const char *holo_model_meta_find(const HoloModel *model, const char *key); // NULL: no such

// A constant of the archive, of which holo_model_info says how many there are. Names and views live as long as the model.
typedef struct HoloConstant {
    const char *name;      // of the first value that is this constant; "" when it is part of an attribute
    HoloTensor  tensor;    // in the shape of that value; packed weights as bytes: u8[size]
    bool        is_packed; // weights in the form that their kernel reads
    bool     is_coded; // these are codes of 4 bits, behind the 16 numbers (or fewer, and repeated) that they stand for
    uint8_t  dtype;    // HoloDtype of its elements, before packing
    uint64_t count;    // and how many these are
    uint64_t bytes;    // that it takes in the file
    uint32_t uses;     // values of the plans that are this constant: it is stored once for all of them
} HoloConstant;
HOLO_API bool holo_model_constant(const HoloModel *model, int index, HoloConstant *out_constant); // false: no such

// What the compiler decided about a part of the model, and why: what was computed or made a table before the run, and what
// was not. Numbers are never reused; one that is not known here says that nothing was made.
#define HOLO_VERDICT_MAP(X)                                                                         \
    X(MADE, 0, "made")                                                                              \
    X(NOT_FASTER, 1, "not faster")   /* computing is as fast, or faster */                          \
    X(OVER_BUDGET, 2, "over budget") /* it would take more memory than it may */                    \
    X(NOT_FINITE, 3, "not finite")   /* what comes in can be too many things */                     \
    X(NOT_ALONE, 4, "not alone")     /* it depends on something else, or something else needs it */ \
    X(FAILS, 5, "fails")             /* for some inputs the model itself fails */                   \
    X(TURNED_OFF, 6, "turned off")   /* by the user */                                              \
    X(TOO_LONG, 7, "too long")       /* to compute it all would take too long */                    \
    X(UNFIT, 8, "unfit")             /* it cannot be made so, or would be too far off */

typedef enum HoloVerdict {
#define X(id, value, text) HOLO_VERDICT_##id = value,
    HOLO_VERDICT_MAP(X)
#undef X
} HoloVerdict;

typedef struct HoloNote { // texts live as long as the model, and are "" where there is nothing to say
    const char *pass;     // who decided: "tables", "fold" ...
    const char *place;    // the value that it is about; of several, the first
    const char *what;     // the operators in question: "DequantizeLinear, Gelu, QuantizeLinear"
    const char *why;      // in words
    uint32_t    verdict;  // HoloVerdict
    uint64_t    count;    // of such places
    uint64_t    bytes;    // of what was made, or would have been, in all
} HoloNote;

HOLO_API int         holo_model_note_count(const HoloModel *model);
HOLO_API bool        holo_model_note(const HoloModel *model, int index, HoloNote *out_note); // false: no such
HOLO_API const char *holo_verdict_text(uint32_t verdict);                                    // "not made" for others

// Facts and numbers of an opened archive.
typedef struct HoloModelInfo {
    uint64_t file_bytes, constant_bytes, table_bytes;
    uint64_t arena_bytes; // planned memory of a run; 0 when it depends on symbolic sizes
    uint64_t naive_bytes; // the sum of all intermediates, without reuse
    uint32_t steps, values, constants, plans;
    uint8_t  exact;     // numeric class: 1 exact, 0 fused
    uint8_t  is_static; // every size is fixed in the file
} HoloModelInfo;
HOLO_API void holo_model_info(const HoloModel *model, HoloModelInfo *out_info);

// ---- sessions ----------------------------------------------------------------------------------

typedef struct HoloSession HoloSession;

// A session of `model`, which must outlive it, on `pool` (NULL: the caller's thread alone). It is for one thread at a time:
// a call that meets one of another thread changes nothing and returns HOLO_BUSY at once. From then on a run takes only
// inputs, and memory for outputs, that its own thread has set, and an output is given only to the thread that ran; anything
// else is HOLO_BUSY, too. Threads that share a model call holo_model_run, or have a session each.
HOLO_API HOLO_MUST HoloStatus holo_session_create(const HoloModel *model, HoloPool *pool, HoloSession **out_session,
                                                  HoloError *error);
HOLO_API void                 holo_session_destroy(HoloSession *session);

// Gives input `index`. The bytes are the caller's and are read during runs, not copied: they must
// stay until another tensor is set, and be aligned as their elements are. Shape and dtype are checked
// here, symbolic sizes at the run.
HOLO_API HOLO_MUST HoloStatus holo_session_set_input(HoloSession *session, int index, const HoloTensor *tensor,
                                                     HoloError *error);
// Has output `index` written to the caller's memory, tensor->data of `size` bytes. NULL: back to the
// session's own memory. It may be that of the input which the output takes the place of, as a cache of
// GroupQueryAttention with room for more: then nothing is copied but what is new.
HOLO_API HOLO_MUST HoloStatus holo_session_set_output(HoloSession *session, int index, void *data, size_t size,
                                                      HoloError *error);
// A writable view of input `index` in the session's own memory, for models whose sizes are fixed:
// fill it and run, without any copy.
HOLO_API HOLO_MUST HoloStatus holo_session_input(HoloSession *session, int index, HoloTensor *out_view,
                                                 HoloError *error);

HOLO_API HOLO_MUST HoloStatus holo_session_run(HoloSession *session, HoloError *error);

// What the last run gave: a view that lives until the next run.
HOLO_API HOLO_MUST HoloStatus holo_session_output(const HoloSession *session, int index, HoloTensor *out_view,
                                                  HoloError *error);

// Asks a run in progress to stop; callable from any thread. The run returns HOLO_CANCELLED.
HOLO_API void holo_session_cancel(HoloSession *session);

// From now on a run that takes longer stops, in the middle of a step where that is long, and returns HOLO_TIMEOUT. 0, the
// default: it may take any time.
HOLO_API HOLO_MUST HoloStatus holo_session_set_time_limit(HoloSession *session, double seconds, HoloError *error);

// Bytes of working memory that the session holds now.
HOLO_API size_t holo_session_memory(const HoloSession *session);

// Bytes that the session may hold at once; 0, the default: no limit but the process's (holo_memory_set_limit). Runs with
// sizes that need more fail with HOLO_NO_MEMORY, and the session can go on with others. Fails where it holds more already:
// a model whose sizes are fixed takes its memory when the session is made (holo_model_info says how much).
HOLO_API HOLO_MUST HoloStatus holo_session_set_memory_limit(HoloSession *session, uint64_t bytes, HoloError *error);

// What a profile has of a step, in all its runs with the same sizes.
typedef struct HoloProfiledStep {
    const char *name, *op, *kernel; // of the node, its operator, and what runs it
    const char *shapes;             // "f32[1,56,56,64], f32[64,64,3,3] -> f32[1,56,56,64]": of two inputs at most
    const char *fused; // functions that its result goes through, once nodes of their own: "max, add"; "": none
    uint64_t    runs;
    double      seconds, least; // of all runs, and of the quickest
    double      flops;          // of a run: of products of matrices and convolutions; 0 for others
    uint64_t    bytes;          // of a run: inputs, weights among them, and outputs
} HoloProfiledStep;
// Steps that have been profiled, between runs. A step and its texts live until the session ends, or is run profiled again.
HOLO_API int  holo_session_profile_steps(const HoloSession *session);
HOLO_API bool holo_session_profile_step(const HoloSession *session, int index, HoloProfiledStep *out_step);

// Times each step from now on (or no longer); holo_session_profile_write gives them as Chrome trace JSON, a track for each thread.
HOLO_API void                 holo_session_profile(HoloSession *session, bool on);
HOLO_API HOLO_MUST HoloStatus holo_session_profile_write(const HoloSession *session, const char *path,
                                                         HoloError *error);

// Called by each step of a run for each value that it gave, on the thread of the run: with the names of the step and of the value,
// which are those of the model's nodes and values as far as these were kept, and a view that lives for the call. Not for steps of
// subgraphs, nor for those that are left out (holo_session_kept_steps). NULL: no longer.
typedef void (*HoloWatchFn)(void *context, const char *step, const char *value, const HoloTensor *view);
HOLO_API void holo_session_watch(HoloSession *session, HoloWatchFn watch, void *context);

// ---- runs of a model, by any number of threads at once -----------------------------------------

// One call, from the inputs to the outputs, that all threads may make on one model. Behind it are sessions, which the model
// makes when they are needed, keeps, and destroys when it is closed. No lock is held during a run.

typedef struct HoloRunInput {
    const char *name;   // NULL: `index` says which
    int         index;  // from 0 on
    HoloTensor  tensor; // the caller's, read while the call lasts
} HoloRunInput;

typedef struct HoloRunOutput {
    const char *name;  // NULL: `index` says which
    int         index; // filled in where there is a name
    void       *data;  // memory of the caller for it, of `size` bytes; NULL: memory of its own
    size_t      size;
    HoloTensor  tensor; // filled in: its type and shape, and where it is
    void       *owned;  // filled in: NULL, or what holo_run_outputs_free frees
} HoloRunOutput;

typedef struct HoloRunOptions {
    size_t size;       // sizeof(HoloRunOptions): there may be more fields one day
    double time_limit; // in seconds, with what it waits for a session; 0: none
} HoloRunOptions;

// Every input that is not optional must be given; of the outputs, those that are wanted. `options` may be NULL. Outputs without
// memory of the caller get some of their own, to be freed by holo_run_outputs_free; after a failure none is left.
HOLO_API HOLO_MUST HoloStatus holo_model_run(const HoloModel *model, const HoloRunInput *inputs, int input_count,
                                             HoloRunOutput *outputs, int output_count, const HoloRunOptions *options,
                                             HoloError *error);
// Frees what holo_model_run gave; outputs in the caller's memory stay as they are.
HOLO_API void holo_run_outputs_free(HoloRunOutput *outputs, int count);
// Before the first such run: on which pool they are (NULL, the default: each on its caller's thread), and how many sessions
// there may be, 1 to 256 (0, the default: one a core). When all are in use, further callers wait for one.
HOLO_API HOLO_MUST HoloStatus holo_model_set_runs(HoloModel *model, HoloPool *pool, int sessions, HoloError *error);

// ---- memo: inputs that were seen before --------------------------------------------------------

// An archive may hold the answers to some inputs, and a session can keep those that it has computed. A run first looks its
// inputs up there, by a hash of their types, shapes and bytes. Where they are found, and all their bytes are the same, nothing
// is computed: holo_session_output then gives views of the archive, or of what is kept, without a copy, which may only be read.
// A memo changes no result.

// How many inputs have their answers in the archive.
HOLO_API int64_t holo_model_memo_count(const HoloModel *model);
// Keeps answers from now on, with their inputs, in at most `bytes` (1024 or more); those not used for longest go first. 0: no
// longer. What was kept before is forgotten, and views of outputs end. Fails where a model has inputs or outputs that are no
// tensors of numbers, or is random.
HOLO_API HOLO_MUST HoloStatus holo_session_set_memo(HoloSession *session, size_t bytes, HoloError *error);
// Runs so far that found their inputs, and that did not. Pointers may be NULL; both are 0 where there is no memo.
HOLO_API void holo_session_memo_counts(const HoloSession *session, uint64_t *out_hits, uint64_t *out_misses);
// Steps of the last run that were left out, because they would have given what they gave in the run before. What follows from
// sizes alone is computed once for these. With a memo, what follows from some of the inputs is computed when one of them has
// changed, byte by byte: a prompt that stays is not encoded again for the next image. What that keeps counts as the memo's.
HOLO_API uint32_t holo_session_kept_steps(const HoloSession *session);
// Writes the archive of the session once more, with the answers that it had and those that the session keeps. The file is
// there whole or not at all.
HOLO_API HOLO_MUST HoloStatus holo_session_save_memo(const HoloSession *session, const char *path, HoloError *error);

// ---- the machine -------------------------------------------------------------------------------

// The CPU level whose kernels are in use: "sse2", "avx2", "avx512", "avx512vnni", "avx512vbmi", "neon", "neondot". HOLO_CPU in the
// environment masks it down.
HOLO_API const char *holo_cpu_level(void);

#ifdef __cplusplus
}
#endif

#include "hologram_executor.h" // a part of this API

#endif
