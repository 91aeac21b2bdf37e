// hologram.h - the runtime's public API: open a .holo file, make a session, run it.
//
// There are three objects. A HoloModel is an opened file. It never changes, all threads may share it, and all may run
// it at once (holo_model_run). A HoloSession runs the model. It owns the memory of a run and belongs to one thread at a
// time. A HoloPool is a set of worker threads that sessions borrow.
//
// A function that can fail returns a HoloStatus. If `error` is not NULL, it also leaves a message there, which names
// the node or the byte at fault. Nothing here prints, exits or aborts. A function that destroys, closes or frees
// accepts NULL.
//
// The API only grows: values are never renumbered, fields never move.
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

// What went wrong, as a message. Set it to zeros before the first call. It keeps the first failure: later ones do not
// overwrite it. It owns no memory.
typedef struct HoloError {
    HoloStatus status;
    char       text[4092];
} HoloError;

HOLO_API const char *holo_status_text(HoloStatus status);
HOLO_API const char *holo_version(void); // for example "0.2.0"

// Makes a name safe to print. Names in models can contain anything. Characters that control a terminal, and bytes that
// are not UTF-8, become \x1b or \u{202e}. Returns the length of the safe text. Writes as much of it as fits into `room`
// bytes to `out`, and a 0 byte. Error messages are safe already.
HOLO_API size_t holo_text_safe(const char *text, char *out, size_t room);

// ---- memory ------------------------------------------------------------------------------------

// Limits how many bytes the library may hold at once in this process, whoever asked for them. Mapped files do not
// count. A call that would exceed the limit fails with HOLO_NO_MEMORY, and the message says how much it asked for. 0,
// the default, means nine tenths of what the machine and its control groups have left. A compile and a session may also
// have their own limits. The compiler's shared library counts separately.
HOLO_API void     holo_memory_set_limit(uint64_t bytes);
HOLO_API uint64_t holo_memory_limit(void); // the limit now
HOLO_API uint64_t holo_memory_held(void);  // bytes held now

// ---- contexts: memory and messages -------------------------------------------------------------

// A context says where memory comes from, how much of it there may be, and who receives the library's log messages.
// Models, pools, executors and compilers can be made in a context, by the functions that end with _in. A session is in
// the context of its model. The context must outlive everything made in it. Contexts are independent of each other, and
// none is global. Objects made without a context use the system's memory and log nothing.
typedef struct HoloContext HoloContext;

// One function that allocates, resizes and frees. It returns `size` bytes, aligned to `align` (a power of two), that
// begin with the bytes of `old`, which has `old_size` bytes, and it frees `old`. If `old` is NULL, there is nothing to
// copy. If `size` is 0, it frees `old`, and its result is not used. It returns NULL when there is no memory; `old` then
// stays as it is. Several threads may call it at once. All calls for one piece of memory have the same `align`.
typedef struct HoloAlloc {
    void *(*resize)(void *state, void *old, size_t old_size, size_t size, size_t align);
    void *state; // passed to the function, not used otherwise
} HoloAlloc;

// Copies `alloc`. NULL means the system's memory.
HOLO_API HOLO_MUST HoloStatus holo_context_create(const HoloAlloc *alloc, HoloContext **out_context, HoloError *error);
HOLO_API void                 holo_context_destroy(HoloContext *context); // call it after everything made in it is
                                                                          // destroyed
// Limits the bytes that everything in the context together may hold. 0, the default: no limit but that of the process.
HOLO_API void     holo_context_set_memory_limit(HoloContext *context, uint64_t bytes);
HOLO_API uint64_t holo_context_memory(const HoloContext *context); // bytes held now

typedef enum HoloLogLevel {
    HOLO_LOG_DEBUG   = 0, // each run; each time that new sizes are bound
    HOLO_LOG_INFO    = 1, // what is opened, made and compiled
    HOLO_LOG_WARNING = 2, // what works but could work better, or was not checked
    HOLO_LOG_ERROR   = 3, // calls that fail, with their messages
} HoloLogLevel;
// Receives one line, without an end of line. The text lives during the call. Several threads may call it at once.
typedef void (*HoloLogFn)(void *state, HoloLogLevel level, const char *text);
// Sends messages of level `least` and above to `log`. Call it before anything is made in the context. NULL: no
// messages.
HOLO_API void holo_context_set_log(HoloContext *context, HoloLogLevel least, HoloLogFn log, void *state);

// ---- numbers and tensors -----------------------------------------------------------------------

// The element types, with ONNX's numbers. Elements of 6, 4 and 2 bits take one byte each in memory, which holds the
// value itself, sign-extended if the type is signed.
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

HOLO_API const char *holo_dtype_name(HoloDtype dtype); // "f32"; "?" if there is no such type
HOLO_API size_t      holo_dtype_size(HoloDtype dtype); // bytes of an element; 0 if there is no such type

enum { HOLO_MAX_RANK = 16 };

typedef enum HoloKind {
    HOLO_TENSOR   = 0,
    HOLO_SEQUENCE = 1, // data: dim[0] HoloTensors
    HOLO_OPTIONAL = 2, // data: dim[0] (0 or 1) HoloTensors
    HOLO_MAP      = 3, // data: two HoloTensors of rank 1, keys and values
} HoloKind;

// One string of a string tensor: bytes, usually UTF-8, without a 0 at the end.
typedef struct HoloString {
    const char *data;
    size_t      size;
} HoloString;

// A view of a value: it owns nothing. Tensors are dense and row-major.
typedef struct HoloTensor {
    uint8_t dtype; // HoloDtype; if kind is not HOLO_TENSOR, the type of the innermost elements
    uint8_t kind;  // HoloKind
    uint8_t inner; // HoloKind of the elements of a sequence or optional
    int8_t  rank;  // -1: not known
    int64_t dim[HOLO_MAX_RANK];
    void   *data; // NULL: not known, or there are no elements
} HoloTensor;

HOLO_API int64_t holo_tensor_count(const HoloTensor *t); // number of elements; -1: not known, or too many
HOLO_API size_t  holo_tensor_bytes(const HoloTensor *t);

// The same view in the layout of DLPack's DLTensor, to exchange tensors with other libraries without a copy.
typedef struct HoloDlTensor {
    void    *data;
    int32_t  device_type, device_id; // 1 and 0: the CPU
    int32_t  ndim;
    uint8_t  code, bits; // DLDataType
    uint16_t lanes;
    int64_t *shape;
    int64_t *strides; // in elements; NULL: dense, row-major
    uint64_t byte_offset;
} HoloDlTensor;

// The view refers to the shape inside `t`, so it lives as long as `t`. Returns false if DLPack has no such type.
HOLO_API bool holo_tensor_to_dlpack(HoloTensor *t, HoloDlTensor *out);
// Returns false if the tensor is on another device, is not dense, or has a type or rank that Hologram does not have.
HOLO_API bool holo_tensor_from_dlpack(const HoloDlTensor *dl, HoloTensor *out);

// ---- threads -----------------------------------------------------------------------------------

typedef struct HoloPool HoloPool;

// A pool runs work on `threads` threads; the calling thread is one of them. 0 means one thread for each core. Idle
// workers sleep. Sessions of several threads may share one pool.
HOLO_API HOLO_MUST HoloStatus holo_pool_create(int threads, HoloPool **out_pool);
// The same, with workers that stay on cores of your choice, numbered as the system numbers them: worker i runs on
// cores[i % core_count]. The calling thread is worker 0 and is not moved; cores[0] is meant for it. If `threads` is 0,
// there are as many as cores given. Returns HOLO_UNSUPPORTED on systems that do not let programs choose, such as macOS.
HOLO_API HOLO_MUST HoloStatus holo_pool_create_on(int threads, const int *cores, int core_count, HoloPool **out_pool,
                                                  HoloError *error);
// The same in a context (NULL: none). If `cores` is NULL, the system chooses the cores.
HOLO_API HOLO_MUST HoloStatus holo_pool_create_in(HoloContext *context, int threads, const int *cores, int core_count,
                                                  HoloPool **out_pool, HoloError *error);
HOLO_API void                 holo_pool_destroy(HoloPool *pool);
HOLO_API int                  holo_pool_threads(const HoloPool *pool);

// ---- models ------------------------------------------------------------------------------------

typedef struct HoloModel HoloModel;

// Maps the file, or reads it if it cannot be mapped. The file must not change while it is open.
HOLO_API HOLO_MUST HoloStatus holo_model_open(const char *path, HoloModel **out_model, HoloError *error);

// Work that a program can do before the first run instead of during it. These flags change no result.
#define HOLO_OPEN_PREFAULT 1u // load all pages of the file and of the sessions' memory before the first run
#define HOLO_OPEN_HUGE     2u // copy weights into large pages, if the system has them; sessions use such pages, too

// As holo_model_open. `flags` is a sum of the above.
HOLO_API HOLO_MUST HoloStatus holo_model_open_with(const char *path, uint32_t flags, HoloModel **out_model,
                                                   HoloError *error);
// Opens an archive in memory. The bytes must be 64-byte aligned and must not change until holo_model_close.
HOLO_API HOLO_MUST HoloStatus holo_model_open_memory(const void *bytes, size_t size, HoloModel **out_model,
                                                     HoloError *error);
// The same two, in a context (NULL: none).
HOLO_API HOLO_MUST HoloStatus holo_model_open_in(HoloContext *context, const char *path, uint32_t flags,
                                                 HoloModel **out_model, HoloError *error);
HOLO_API HOLO_MUST HoloStatus holo_model_open_memory_in(HoloContext *context, const void *bytes, size_t size,
                                                        HoloModel **out_model, HoloError *error);
HOLO_API void holo_model_close(HoloModel *model); // after its sessions are destroyed and its runs have ended

// Reads every byte and compares every checksum. Opening does not read the weights.
HOLO_API HOLO_MUST HoloStatus holo_model_verify(const HoloModel *model, HoloError *error);

typedef struct HoloPort { // an input or an output; strings live as long as the model
    const char *name;
    HoloTensor  type;                  // dim -1: not fixed; data is NULL
    const char *symbol[HOLO_MAX_RANK]; // how a size that is not fixed is written: "batch", "2*n+1"; else NULL
    bool        optional;              // an input that you may leave out: of optional type, or with a default
    bool        any_shape;             // an input that nothing reads and no size depends on
} HoloPort;

HOLO_API int             holo_model_input_count(const HoloModel *model);
HOLO_API int             holo_model_output_count(const HoloModel *model);
HOLO_API const HoloPort *holo_model_input(const HoloModel *model, int index);              // NULL: there is none
HOLO_API const HoloPort *holo_model_output(const HoloModel *model, int index);             // NULL: there is none
HOLO_API int             holo_model_input_find(const HoloModel *model, const char *name);  // -1: there is none
HOLO_API int             holo_model_output_find(const HoloModel *model, const char *name); // -1: there is none

// States: tensors that a session keeps from run to run, such as the keys and values of the tokens that a language model
// has read. They are not inputs. See holo_session_state.
HOLO_API int             holo_model_state_count(const HoloModel *model);
HOLO_API const HoloPort *holo_model_state(const HoloModel *model, int index); // NULL: there is none

// Checks whether a tensor fits the port: its type, and the sizes that the model fixes. If it does not, the result is
// HOLO_BAD_INPUT, and the message says what is wrong. The data is not read.
HOLO_API HOLO_MUST HoloStatus holo_port_fits(const HoloPort *port, const HoloTensor *tensor, HoloError *error);

// What the compiler wrote about the model, in order: "source.format", "source.hash", "verify.worst_relative" and
// others.
HOLO_API int         holo_model_meta_count(const HoloModel *model);
HOLO_API const char *holo_model_meta(const HoloModel *model, int index, const char **out_key);
HOLO_API const char *holo_model_meta_find(const HoloModel *model, const char *key); // NULL: there is none

// Bytes that belong to the model, under a name, such as "tokenizer" and "template" of a language model. They live
// as long as the model. False: there is nothing of that name.
HOLO_API bool holo_model_asset(const HoloModel *model, const char *name, HoloString *out_bytes);

// A model may have several entries: parts that run by themselves and share weights, such as the encoder and the decoder
// of a translator. The model itself is its first entry, which often has no name (""). Each other entry is also a model,
// with its own inputs, outputs, states and sessions; it lives as long as the model, and closing it does nothing.
HOLO_API int              holo_model_entry_count(const HoloModel *model);             // at least 1
HOLO_API const char      *holo_model_entry_name(const HoloModel *model, int index);   // NULL: there is none
HOLO_API const HoloModel *holo_model_entry(const HoloModel *model, const char *name); // NULL: there is none

// A constant of the archive. holo_model_info gives their number. Names and views live as long as the model.
typedef struct HoloConstant {
    const char *name;      // of the first value that uses it; "" if it is part of an attribute
    HoloTensor  tensor;    // in the shape of that value; packed weights are bytes, u8[size]
    bool        is_packed; // it is stored in the order that its kernel reads
    bool        is_coded;  // it is stored as 4-bit codes behind the at most 16 numbers that they stand for
    uint8_t     dtype;     // HoloDtype of its elements before packing
    uint64_t    count;     // number of its elements before packing
    uint64_t    bytes;     // its size in the file
    uint32_t    uses;      // number of values that use it; it is stored once for all of them
} HoloConstant;
HOLO_API bool holo_model_constant(const HoloModel *model, int index,
                                  HoloConstant *out_constant); // false: there is none

// What the compiler decided about a part of the model, and why: what it computed in advance or turned into a table, and
// what it did not. Numbers are never reused. Treat a number that you do not know as "not made".
#define HOLO_VERDICT_MAP(X)                                                                         \
    X(MADE, 0, "made")                                                                              \
    X(NOT_FASTER, 1, "not faster")   /* computing is as fast or faster */                           \
    X(OVER_BUDGET, 2, "over budget") /* it would take more memory than allowed */                   \
    X(NOT_FINITE, 3, "not finite")   /* too many different inputs are possible */                   \
    X(NOT_ALONE, 4, "not alone")     /* it depends on something else, or something else needs it */ \
    X(FAILS, 5, "fails")             /* for some inputs the model itself fails */                   \
    X(TURNED_OFF, 6, "turned off")   /* by the user */                                              \
    X(TOO_LONG, 7, "too long")       /* computing all of it would take too long */                  \
    X(UNFIT, 8, "unfit")             /* it cannot be made, or would be too inaccurate */

typedef enum HoloVerdict {
#define X(id, value, text) HOLO_VERDICT_##id = value,
    HOLO_VERDICT_MAP(X)
#undef X
} HoloVerdict;

typedef struct HoloNote { // texts live as long as the model; "" if there is nothing to say
    const char *pass;     // who decided: "tables", "fold" ...
    const char *place;    // the value that it is about; if there are several, the first
    const char *what;     // the operators in question: "DequantizeLinear, Gelu, QuantizeLinear"
    const char *why;      // in words
    uint32_t    verdict;  // HoloVerdict
    uint64_t    count;    // number of such places
    uint64_t    bytes;    // size of what was made, or would have been, in all
} HoloNote;

HOLO_API int         holo_model_note_count(const HoloModel *model);
HOLO_API bool        holo_model_note(const HoloModel *model, int index, HoloNote *out_note); // false: there is none
HOLO_API const char *holo_verdict_text(uint32_t verdict); // "not made" for other numbers

// Facts about an opened archive.
typedef struct HoloModelInfo {
    uint64_t file_bytes, constant_bytes, table_bytes;
    uint64_t arena_bytes; // planned memory of a run; 0 if it depends on dynamic sizes
    uint64_t naive_bytes; // the sum of all intermediate values, without reuse of memory
    uint32_t steps, values, constants, plans;
    uint8_t  exact;     // numeric class: 1 exact, 0 fused
    uint8_t  is_static; // 1: every size is fixed in the file
} HoloModelInfo;
HOLO_API void holo_model_info(const HoloModel *model, HoloModelInfo *out_info);

// ---- sessions ----------------------------------------------------------------------------------

typedef struct HoloSession HoloSession;

// The devices that the archive has plans for, in the order in which sessions try them: "cuda", "cpu". NULL: none has that
// index. A model that was compiled for cuda alone has no plan for the CPU.
HOLO_API const char *holo_model_device(const HoloModel *model, int index);
// Chooses the device that runs sessions that are made from now on, and what holo_model_info and listings are about: "cuda",
// "cuda:1" for the second one of a machine, or "cpu". Call it before the first session is made. Without it, the first
// device of holo_model_device that is here is used; a session for the CPU looks for no other device.
HOLO_API HOLO_MUST HoloStatus holo_model_set_device(HoloModel *model, const char *name, HoloError *error);

// Makes a session of `model`, which must outlive it, on `pool` (NULL: the calling thread alone). A session is for one
// thread at a time. If two threads call it at the same time, one of the calls changes nothing and returns HOLO_BUSY at
// once. From then on the session is strict: a run uses only inputs and output memory that its own thread has set, and
// only the thread that ran may take an output. Everything else is HOLO_BUSY. Threads that share a model call
// holo_model_run, or have a session each.
HOLO_API HOLO_MUST HoloStatus holo_session_create(const HoloModel *model, HoloPool *pool, HoloSession **out_session,
                                                  HoloError *error);
HOLO_API void                 holo_session_destroy(HoloSession *session);
HOLO_API const char          *holo_session_device(const HoloSession *session); // what runs it: "cpu", "cuda:0"

// Sets input `index`. The bytes stay yours: runs read them, and nothing is copied. Keep them in place until you set
// another tensor, and aligned as their elements require. Type, rank and fixed sizes are checked here; the run checks
// dynamic sizes.
HOLO_API HOLO_MUST HoloStatus holo_session_set_input(HoloSession *session, int index, const HoloTensor *tensor,
                                                     HoloError *error);
// Lets runs write output `index` to your memory: `data`, of `size` bytes. NULL goes back to the session's own memory.
// An output may share memory with the input that it continues, such as a cache of GroupQueryAttention with room for
// more; then only what is new is written.
HOLO_API HOLO_MUST HoloStatus holo_session_set_output(HoloSession *session, int index, void *data, size_t size,
                                                      HoloError *error);
// Gives a writable view of input `index` in the session's own memory, for models with fixed sizes. Fill it and run:
// nothing is copied.
HOLO_API HOLO_MUST HoloStatus holo_session_input(HoloSession *session, int index, HoloTensor *out_view,
                                                 HoloError *error);

HOLO_API HOLO_MUST HoloStatus holo_session_run(HoloSession *session, HoloError *error);

// Inputs and outputs in the memory of the device that the model was compiled for, such as a GPU: as holo_session_set_input
// and holo_session_set_output, with addresses of that device. Nothing crosses to the host. A run reads and writes them
// in the order of its stream. If a step of the host reads the input, it is copied to the host first.
HOLO_API HOLO_MUST HoloStatus holo_session_set_device_input(HoloSession *session, int index, const HoloTensor *tensor,
                                                            HoloError *error);
HOLO_API HOLO_MUST HoloStatus holo_session_set_device_output(HoloSession *session, int index, void *data, size_t size,
                                                             HoloError *error);
// Runs go to a stream of the caller, after what is there: for cuda a CUstream. If all outputs are on the device, a run then
// returns at once, and the stream says when it is done; what goes wrong on the device is told by a later call. `own`: goes
// back to the session's own stream, and runs return when they are done, as without this call.
HOLO_API HOLO_MUST HoloStatus holo_session_set_stream(HoloSession *session, void *stream, bool own, HoloError *error);
// Takes memory of that device, for such inputs and outputs. Give it back before the session is destroyed.
HOLO_API HOLO_MUST HoloStatus holo_session_device_take(HoloSession *session, size_t size, void **out_memory,
                                                       HoloError *error);
HOLO_API void                 holo_session_device_give(HoloSession *session, void *memory, size_t size);
// Copies bytes to that device (`to_device`) or from it, and waits for them.
HOLO_API HOLO_MUST HoloStatus holo_session_device_copy(HoloSession *session, void *to, const void *from, size_t size,
                                                       bool to_device, HoloError *error);

// `is_left`: from now on runs leave output `index` on the device that computes it. What it costs to bring it is saved; it
// cannot be read then. An output that the CPU computes is there anyway.
HOLO_API HOLO_MUST HoloStatus holo_session_leave_output(HoloSession *session, int index, bool is_left,
                                                        HoloError *error);

// Gives what the last run computed: a view that lives until the next run.
HOLO_API HOLO_MUST HoloStatus holo_session_output(const HoloSession *session, int index, HoloTensor *out_view,
                                                  HoloError *error);

// Asks a run in progress to stop. Any thread may call it. The run returns HOLO_CANCELLED.
HOLO_API void holo_session_cancel(HoloSession *session);

// From now on, a run that takes longer stops and returns HOLO_TIMEOUT. Long steps stop in the middle. 0, the default:
// no limit.
HOLO_API HOLO_MUST HoloStatus holo_session_set_time_limit(HoloSession *session, double seconds, HoloError *error);

// Gives a view of state `index` as it is between runs: read it to save it, write it to load it. It lives until a run in
// which a size of the state grows. A state begins as zeros, with the first run. Fails with HOLO_UNSUPPORTED if the state is in
// the memory of a device: the functions below work wherever it is.
HOLO_API HOLO_MUST HoloStatus holo_session_state(HoloSession *session, int index, HoloTensor *out_view,
                                                 HoloError *error);
// Gives its type and sizes as they are between runs, without data.
HOLO_API HOLO_MUST HoloStatus holo_session_state_type(HoloSession *session, int index, HoloTensor *out_type,
                                                      HoloError *error);
// Copies `size` bytes of a state, from byte `offset` on, between runs: from it, to it, or within it. Bytes are those of the
// elements as the type says them; they must be whole elements. Two parts that are copied within a state must not overlap.
HOLO_API HOLO_MUST HoloStatus holo_session_state_read(HoloSession *session, int index, size_t offset, void *to,
                                                      size_t size, HoloError *error);
HOLO_API HOLO_MUST HoloStatus holo_session_state_write(HoloSession *session, int index, size_t offset, const void *from,
                                                       size_t size, HoloError *error);
HOLO_API HOLO_MUST HoloStatus holo_session_state_copy(HoloSession *session, int index, size_t to, size_t from,
                                                      size_t size, HoloError *error);
// Reserves sizes of states in advance: the sizes with this symbol are at least `size` from the next run on. A state
// that grows keeps its contents, but has to be copied. Its unused pages take no memory.
HOLO_API HOLO_MUST HoloStatus holo_session_set_size(HoloSession *session, const char *symbol, int64_t size,
                                                    HoloError *error);

// Bytes of working memory that the session holds now.
HOLO_API size_t holo_session_memory(const HoloSession *session);

// Limits the bytes that the session may hold at once. 0, the default: no limit but that of the process
// (holo_memory_set_limit). A run whose sizes need more fails with HOLO_NO_MEMORY, and the session can still run other
// sizes. The call fails if the session holds more already: a model with fixed sizes takes its memory when the session
// is made (holo_model_info says how much).
HOLO_API HOLO_MUST HoloStatus holo_session_set_memory_limit(HoloSession *session, uint64_t bytes, HoloError *error);

// What a profile says about a step, over all its runs with the same sizes.
typedef struct HoloProfiledStep {
    const char *name, *op, *kernel; // the node's name, its operator, and the kernel that runs it
    const char *shapes;             // "f32[1,56,56,64], f32[64,64,3,3] -> f32[1,56,56,64]"; at most two inputs
    const char *fused; // functions applied to its result, which were nodes of their own: "relu, add"; "": none
    uint64_t    runs;
    double      seconds, least; // of all runs together, and of the fastest run
    double      flops;          // of one run: matrix products, convolutions, attention; 0 for other steps
    uint64_t    bytes;          // of one run: inputs, weights and outputs; of a table, the rows that are read
} HoloProfiledStep;
// The profiled steps. Call these between runs. A step and its strings live until the session ends or runs profiled
// again.
HOLO_API int  holo_session_profile_steps(const HoloSession *session);
HOLO_API bool holo_session_profile_step(const HoloSession *session, int index, HoloProfiledStep *out_step);

// Turns timing of each step on or off. holo_session_profile_write writes the times as Chrome trace JSON, with a track
// for each thread.
HOLO_API void                 holo_session_profile(HoloSession *session, bool on);
HOLO_API HOLO_MUST HoloStatus holo_session_profile_write(const HoloSession *session, const char *path,
                                                         HoloError *error);

// Called for each value that a step of a run computes, on the thread of the run. It gets the names of the step and of
// the value: those of the model's nodes and values where these still exist. The view lives during the call. It is not
// called for steps of subgraphs, nor for skipped steps (holo_session_kept_steps). NULL turns it off.
typedef void (*HoloWatchFn)(void *context, const char *step, const char *value, const HoloTensor *view);
HOLO_API void holo_session_watch(HoloSession *session, HoloWatchFn watch, void *context);

// ---- runs of a model, by any number of threads at once -----------------------------------------

// One call, from inputs to outputs, that all threads may make on one model at the same time. It uses sessions inside:
// the model makes them when they are needed, keeps them, and destroys them when it is closed. No lock is held during a
// run.

typedef struct HoloRunInput {
    const char *name;   // NULL: `index` says which input
    int         index;  // counted from 0
    HoloTensor  tensor; // yours; read during the call
} HoloRunInput;

typedef struct HoloRunOutput {
    const char *name;  // NULL: `index` says which output
    int         index; // filled in if there is a name
    void       *data;  // your memory for it, of `size` bytes; NULL: the library allocates it
    size_t      size;
    HoloTensor  tensor; // filled in: type, shape, and where the data is
    void       *owned;  // filled in: what holo_run_outputs_free frees, or NULL
} HoloRunOutput;

typedef struct HoloRunOptions {
    size_t size;       // sizeof(HoloRunOptions): later versions may add fields
    double time_limit; // in seconds, including the wait for a session; 0: none
    // The run ends with HOLO_CANCELLED when this is not 0. Any thread or a signal handler may set it, with an atomic
    // store where the language has one. NULL: nothing cancels the run.
    const volatile int *cancel;
} HoloRunOptions;

// Give every input that is not optional, and list the outputs that you want. `options` may be NULL. Outputs without
// your memory get memory that holo_run_outputs_free frees. After a failure there is nothing to free.
HOLO_API HOLO_MUST HoloStatus holo_model_run(const HoloModel *model, const HoloRunInput *inputs, int input_count,
                                             HoloRunOutput *outputs, int output_count, const HoloRunOptions *options,
                                             HoloError *error);
// Frees what holo_model_run allocated. Outputs in your memory stay as they are.
HOLO_API void holo_run_outputs_free(HoloRunOutput *outputs, int count);
// Call it before the first such run. It sets the pool that runs use (NULL, the default: each run on its caller's
// thread), and how many sessions there may be: 1 to 256 (0, the default: one for each core). When all are in use,
// further callers wait.
HOLO_API HOLO_MUST HoloStatus holo_model_set_runs(HoloModel *model, HoloPool *pool, int sessions, HoloError *error);

// ---- memo: inputs that were seen before --------------------------------------------------------

// An archive may hold the answers to some inputs, and a session can keep the answers that it computes. A run first
// looks its inputs up by a hash of their types, shapes and bytes. If it finds them, and all bytes are equal, it
// computes nothing: holo_session_output then gives views of the archive or of what is kept. Those may only be read. A
// memo changes no result.

// How many inputs have their answers in the archive.
HOLO_API int64_t holo_model_memo_count(const HoloModel *model);
// Keeps answers and their inputs from now on, in at most `bytes` (1024 or more). The least recently used answers are
// dropped first. 0 stops it. The call forgets what was kept before and ends views of outputs. It fails for a model that
// is random, or that has inputs or outputs other than tensors of numbers.
HOLO_API HOLO_MUST HoloStatus holo_session_set_memo(HoloSession *session, size_t bytes, HoloError *error);
// How many runs found their inputs, and how many did not. Pointers may be NULL. Both are 0 without a memo.
HOLO_API void holo_session_memo_counts(const HoloSession *session, uint64_t *out_hits, uint64_t *out_misses);
// How many steps the last run skipped because their results are the same as before. Steps that depend only on sizes run
// once for these sizes. With a memo, steps that depend on some of the inputs run only when one of these changed, byte
// by byte: a prompt that stays the same is not encoded again for the next image. The kept values count as part of the
// memo.
HOLO_API uint32_t holo_session_kept_steps(const HoloSession *session);
// Writes the archive of the session again, with its own answers and those that the session keeps. The file is written
// completely or not at all.
HOLO_API HOLO_MUST HoloStatus holo_session_save_memo(const HoloSession *session, const char *path, HoloError *error);

// ---- the machine -------------------------------------------------------------------------------

// The CPU level whose kernels are in use: "sse2", "avx2", "avx512", "avx512vnni", "avx512vbmi", "neon", "neondot",
// "simd128", "relaxed" or "relaxeddot" (these of WebAssembly).
// The environment variable HOLO_CPU can choose a lower level.
HOLO_API const char *holo_cpu_level(void);

#ifdef __cplusplus
}
#endif

#include "hologram_executor.h" // a part of this API

#endif
