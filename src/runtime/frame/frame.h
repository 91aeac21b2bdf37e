// frame.h - a plan with memory: its sizes are bound, its offsets laid out, its calls ready to run.
//
// A session has one frame for each plan it has run: the model's own, and those of subgraphs. A frame is bound again
// only when the sizes of its inputs change.
#ifndef HOLO_RUNTIME_FRAME_FRAME_H
#define HOLO_RUNTIME_FRAME_FRAME_H

#include "base/memory.h"
#include "devices/device.h"
#include "ops/value.h"
#include "runtime/memo/memo.h"
#include "runtime/model.h"
#include "runtime/profile/profile.h"
#include "runtime/session/defaults.h"
#include "runtime/session/images.h"

typedef struct HoloFrame HoloFrame;

// Who uses a session. Threads are told apart by their marks: see holo_thread_mark.
typedef struct HoloUsers {
    atomic_bool  is_taken;  // by a call in progress
    atomic_bool  have_met;  // two calls of different threads met at some time
    const void **set_input; // who set each of them; NULL: nobody
    const void **set_output;
    const void  *ran;
} HoloUsers;

// A device that a session has opened.
typedef struct HoloOpenDevice {
    const HoloDevice *device;
    void             *self;
    char             *scratch; // for its steps, in its memory; the CPU's has a piece for each worker
    size_t            scratch_size, scratch_stride;
    int               pieces; // pieces of scratch
    size_t            asked;  // size of a piece that the steps being bound ask for
} HoloOpenDevice;

// What any thread may ask a session at any time; as of the last run.
typedef struct HoloSeen {
    atomic_ullong hits, misses; // of its memo
    atomic_uint   kept_steps;
    atomic_bool   is_profiled; // from the next run on
} HoloSeen;

// An input in the memory of the model's device.
typedef struct HoloThere {
    bool       is_input; // the caller's tensor is there
    HoloTensor here;     // its copy, if steps of the host read it
    size_t     room;
} HoloThere;

struct HoloSession {
    const HoloModel   *model;   // borrowed: must outlive the session
    HoloAccount       *account; // for its memory and its limit
    HoloPool          *pool;    // borrowed; NULL: the calling thread alone
    HoloFrame        **frames;  // by number of the plan; NULL until first used
    HoloFrame         *frame;   // of the model's own plan
    HoloOpenDevice    *devices; // by number of the target; number 0 is the CPU
    uint32_t           device_count;
    char               device[48]; // "cpu", or the first other one: "cuda:0"
    HoloTensor        *inputs;     // as set by the caller
    bool              *input_is_set;
    void             **own_inputs; // memory of holo_session_input; NULL until asked for
    HoloDefault       *defaults;   // by input or state
    int64_t           *sizes;      // by symbol: the least number that holo_session_set_size gave it; 0: none
    const HoloTensor **input_list; // room for pointers to them, if there are many
    struct {
        void  *data; // the caller's memory; NULL: the session's own
        size_t size;
        bool   is_there; // it is the device's
        bool   is_left;  // nobody wants it: it stays where it was computed
    } * outputs;
    HoloThere          *there;      // by input
    bool                has_stream; // runs go to a stream of the caller
    HoloArena           arena;      // owns the arrays above and views of holo_session_input
    HoloProfile         profile;
    HoloWatchFn         watch; // NULL: nobody watches
    void               *watch_context;
    HoloMemo           *memo; // NULL: there is none
    HoloImages          images;
    HoloUsers           users;
    HoloSeen            seen;
    HoloStop            stop;       // for the run
    double              time_limit; // seconds that a run may take; 0: any number
    const volatile int *cancel;     // for holo_model_run: a value other than 0 ends the run; NULL: none
    bool                has_run;
    bool                is_lean; // give back the pages of a step's constants after it: for plans that run only once
};

// The memory of a frame in one space.
typedef struct HoloSpaceMemory {
    char  *memory;
    size_t size, used; // used: by values of the bound sizes
} HoloSpaceMemory;

typedef struct HoloStep {
    HoloOpenDevice *on;         // the device that runs it
    void           *job;        // what the device has prepared; NULL: a transfer of bytes
    bool            is_open;    // sizes of operands are known only during the run
    bool            is_decided; // it is open and has a kernel: the run decides whether that runs it (holo_frame_decide)
    bool            is_checked; // the output sizes depend on values: ask infer again before each run
    bool            is_kept;    // what op->prepare makes serves all runs, since it depends on constants alone
    bool            has_packed; // an input is packed: its bytes are not elements, and infer does not see them
    bool            is_transfer;
    bool            is_constant; // it brings a constant to a device
    bool            is_held; // it brings a constant to a device that holds it for all sessions: there is nothing to run
    HoloTransferWay way;     // of a transfer
    size_t          bytes;   // of a transfer

    const void *prepared;       // what is kept so; NULL: not made yet
    uint64_t    prepared_types; // types of the inputs that it was made for
} HoloStep;

struct HoloFrame {
    HoloHost              host; // what operators see; first, so that a pointer to the host is a pointer to the frame
    HoloSession          *session;
    const HoloPlanRecord *plan;
    const HoloFrame      *parent;   // its symbols hold here, too; NULL: this is the model's own frame
    HoloArena             arena;    // owns the arrays below
    HoloTensor           *values;   // by number in the plan, in their current state
    HoloTensor           *types;    // as bound
    uint32_t             *roots;    // the value that owns the bytes: aliases and parts have none of their own
    size_t               *starts;   // first byte of an alias or a part in its root
    uint32_t             *writers;  // steps that write a value that owns its bytes, also through others
    bool                 *is_there; // an input or output of the caller's that is in the memory of the device
    bool                 *is_left;  // an output that nobody wants: its transfer is left out
    bool                 *is_held;  // its bytes are a constant that a device holds for all sessions
    uint32_t             *origins;  // the host's value of one that a transfer brings to another space; or HOLO_NO_VALUE
    HoloTensor          **operands;
    HoloCall             *calls;
    HoloStep             *steps;
    int64_t              *dims, *parent_dims; // numbers of the archive's expressions; those of the parent at binding
    bool                 *dim_is_known, *parent_dim_is_known;
    HoloSpaceMemory      *spaces;        // the arenas of the plan, by number of the target
    HoloArena             heap[2], temp; // heap: of this run and of the next; temp: of the current step
    int                   turn;          // which heap the current run uses; 0 in the model's own frame
    size_t                heap_limit;    // if a heap holds more bytes, the next run uses the other one
    bool                  has_lists;     // an output is a sequence: several runs share a heap
    bool                  is_fresh;      // the current run began with an empty heap
    HoloLists             lists;         // sequences in the heap of the current run
    HoloArena             prepared;      // what op->prepare made for steps that keep it
    HoloArena             jobs;          // jobs of steps since sizes were bound, and what they hold
    HoloArena            *holds;         // where operators and kernels take memory now; NULL: temp
    struct HoloReuse     *reuse;         // for the model's own frame: steps that need not run again; NULL: none yet
    struct HoloStretches *stretches;     // steps that devices have recorded; NULL: none
    bool                  is_bound;
    HoloArena             contents; // contents of values that follow from sizes, since these were bound
    uint64_t              contents_count;
    int                   depth; // how deep subgraphs are nested
};

HOLO_MUST HoloStatus holo_frame_create(HoloSession *session, uint32_t plan, const HoloFrame *parent, HoloFrame **out,
                                       HoloError *error);
void                 holo_frame_destroy(HoloFrame *frame);

// Binds the frame to these inputs. Does nothing if their types and sizes are bound already.
HOLO_MUST HoloStatus holo_frame_bind(HoloFrame *frame, const HoloTensor *const *inputs, HoloError *error);
// Asks the operator of a step for its outputs and compares them with what is bound. *out_known is false if this depends
// on values that do not exist yet. The types are in frame->temp.
HOLO_MUST HoloStatus holo_frame_infer(HoloFrame *frame, uint32_t step, const HoloTensor **out_types, bool *out_known,
                                      HoloError *error);
// Binds a step that copies between spaces: how many bytes, and where a constant is that a device holds.
HOLO_MUST HoloStatus holo_frame_bind_transfer(HoloFrame *frame, uint32_t step);
// The bytes that a value takes in its space; more than its elements have if it is a constant in a packed form.
size_t holo_frame_bytes(const HoloFrame *frame, uint32_t value);
// Decides who runs an open step with a kernel, now that its sizes are known: the kernel, with scratch for it, or eval
// if the kernel refuses these sizes. Fails if eval could not read the inputs either, because they are packed.
HOLO_MUST HoloStatus holo_frame_decide(HoloFrame *frame, uint32_t step, HoloError *error);
// Has the operator of a step prepare what is kept, unless that is done, and gives it to the call if it fits.
HOLO_MUST HoloStatus holo_frame_prepare(HoloFrame *frame, uint32_t step);
// Takes memory for all planned values, whose sizes are bound: as the file says, or laid out now.
HOLO_MUST HoloStatus holo_frame_layout(HoloFrame *frame, HoloError *error);
// Gives that memory back.
void holo_frame_give(HoloFrame *frame);
// Makes the memory of one space, of a frame or of what it keeps, at least that large. False: no memory.
bool holo_frame_take(const HoloFrame *frame, uint32_t space, HoloSpaceMemory *memory, size_t size);
// Launches a step that is ready.
HOLO_MUST HoloStatus holo_frame_launch(HoloFrame *frame, uint32_t step, HoloError *error);
// Runs all steps on the inputs that the frame is bound to. holo_frame_output_value then gives the outputs.
HOLO_MUST HoloStatus holo_frame_run(HoloFrame *frame, const HoloTensor *const *inputs, HoloError *error);

// The number of elements of a sequence is not part of its type.
static inline bool holo_types_equal(const HoloTensor *a, const HoloTensor *b)
{
    if (a->dtype != b->dtype || a->kind != b->kind || a->inner != b->inner || a->rank != b->rank) return false;
    return a->rank <= 0 || a->kind != HOLO_TENSOR || !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof a->dim[0]);
}

static inline const HoloValueRecord *holo_frame_record(const HoloFrame *frame, uint32_t value)
{
    return &frame->session->model->archive.VALUES_at[frame->plan->value_first + value];
}
// The direction in which a step copies between spaces; HOLO_TRANSFER_WITHIN: it does not. (The check of the archive
// made sure that all operands of any other step are in one space.)
static inline HoloTransferWay holo_frame_transfer(const HoloFrame *frame, const HoloStepRecord *s)
{
    const uint32_t *operand = frame->session->model->archive.OPERANDS_at + s->operand_first;
    if (!s->target || s->in_count != 1 || s->out_count != 1 || operand[0] == HOLO_NO_VALUE) return HOLO_TRANSFER_WITHIN;
    if (!holo_frame_record(frame, operand[0])->space) return HOLO_TRANSFER_IN;
    return operand[1] != HOLO_NO_VALUE && !holo_frame_record(frame, operand[1])->space ? HOLO_TRANSFER_OUT
                                                                                       : HOLO_TRANSFER_WITHIN;
}
// The constant that owns the bytes of a value; NULL: it is not a constant's.
static inline const HoloConstantRecord *holo_frame_constant(const HoloFrame *frame, uint32_t value)
{
    const HoloValueRecord *root = holo_frame_record(frame, frame->roots[value]);
    return root->storage == HOLO_STORE_CONSTANT ? &frame->session->model->archive.CONSTANTS_at[root->at] : NULL;
}
static inline uint32_t holo_frame_input_value(const HoloFrame *frame, uint32_t i)
{
    return frame->session->model->archive.OPERANDS_at[frame->plan->input_first + i];
}
static inline uint32_t holo_frame_output_value(const HoloFrame *frame, uint32_t i)
{
    return frame->session->model->archive.OPERANDS_at[frame->plan->output_first + i];
}

// May a value of the kind of `have` be given for `want`? The content of an optional may be given directly.
static inline bool holo_kind_fits(uint8_t want, uint8_t want_inner, const HoloTensor *have)
{
    return want == have->kind || (want == HOLO_OPTIONAL && want_inner == have->kind);
}

// A public call takes the session first and gives it back at its end; giving it back yields the status of the call, and
// tells the log of a failure.
// HOLO_BUSY: another thread's call has it.
HOLO_MUST HoloStatus holo_session_take(const HoloSession *session, HoloError *error);
HOLO_MUST HoloStatus holo_session_give(const HoloSession *session, HoloStatus status, const HoloError *error);
// If two threads have met: did this thread set everything, and did it make the last run? HOLO_BUSY: no.
HOLO_MUST HoloStatus holo_session_owns_sets(const HoloSession *session, HoloError *error);
HOLO_MUST HoloStatus holo_session_owns_run(const HoloSession *session, HoloError *error);
// Forgets everything that was set.
void holo_session_clear(HoloSession *session);

// Makes each piece of a device's scratch at least that large.
HOLO_MUST HoloStatus holo_session_reserve(HoloSession *session, HoloOpenDevice *on, size_t scratch, HoloError *error);

// How messages write a type. symbol[d], if given and not NULL, is the name of size d.
enum { HOLO_SYMBOL_SHOWN = 64 }; // most bytes of a size's name in messages
typedef struct HoloTypeText {
    char text[HOLO_MAX_RANK * (HOLO_SYMBOL_SHOWN + 1) + 32];
} HoloTypeText;
HoloTypeText holo_type_text(const HoloTensor *t, const char *const *symbol);

#endif
