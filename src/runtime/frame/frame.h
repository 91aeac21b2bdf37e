// frame.h - a plan with memory: sizes bound, offsets laid out, calls made ready, then run.
//
// A session has one frame for each plan it has run: the model's own, and those of subgraphs. A frame
// is bound anew when the sizes of its inputs change, and only then.
#ifndef HOLO_RUNTIME_FRAME_FRAME_H
#define HOLO_RUNTIME_FRAME_FRAME_H

#include "base/memory.h"
#include "devices/device.h"
#include "ops/value.h"
#include "runtime/memo/memo.h"
#include "runtime/model.h"
#include "runtime/profile/profile.h"
#include "runtime/session/images.h"

typedef struct HoloFrame HoloFrame;

// Who uses a session. Marks are those of threads: see holo_thread_mark.
typedef struct HoloUsers {
    atomic_bool  is_taken;  // by a call that is going on
    atomic_bool  have_met;  // two calls of two threads, at some time
    const void **set_input; // who set each of them; NULL: nobody
    const void **set_output;
    const void  *ran;
} HoloUsers;

// A device as a session has it open.
typedef struct HoloOpenDevice {
    const HoloDevice *device;
    void             *self;
    char             *scratch; // for its steps, in its memory: of the CPU one piece a worker
    size_t            scratch_size, scratch_stride;
    int               pieces; // of scratch
    size_t            asked;  // of a piece, by the steps that are being bound
} HoloOpenDevice;

// What a session tells of itself to any thread at any time, as of the last run.
typedef struct HoloSeen {
    atomic_ullong hits, misses; // of its memo
    atomic_uint   kept_steps;
    atomic_bool   is_profiled; // from the next run on
} HoloSeen;

struct HoloSession {
    const HoloModel   *model;   // borrowed: outlives the session
    HoloAccount       *account; // of its memory, and what it may have
    HoloPool          *pool;    // borrowed; NULL: the caller's thread alone
    HoloFrame        **frames;  // by number of the plan; NULL until first used
    HoloOpenDevice    *devices; // by number of the target; number 0 is the CPU
    uint32_t           device_count;
    HoloTensor        *inputs; // as set by the caller
    bool              *input_is_set;
    void             **own_inputs; // memory of holo_session_input; NULL until asked for
    const HoloTensor **input_list; // room for pointers to them, where there are many
    struct {
        void  *data; // the caller's memory; NULL: the session's own
        size_t size;
    } * outputs;
    HoloArena   arena; // owns the arrays above and views of holo_session_input
    HoloProfile profile;
    HoloWatchFn watch; // NULL: nobody watches
    void       *watch_context;
    HoloMemo   *memo; // NULL: there is none
    HoloImages  images;
    HoloUsers   users;
    HoloSeen    seen;
    HoloStop    stop;       // of the run
    double      time_limit; // seconds that a run may take; 0: any number
    bool        has_run;
    bool        is_lean; // pages of a step's constants are given back behind it: for whoever runs a plan only once
};

// The memory of a frame in one space.
typedef struct HoloSpaceMemory {
    char  *memory;
    size_t size, used; // used: by values of the sizes that are bound
} HoloSpaceMemory;

typedef struct HoloStep {
    HoloOpenDevice *on;      // what runs it
    void           *job;     // what that has prepared
    bool            is_open; // sizes of operands are found only while running
    bool is_decided;         // it is open and has a kernel: whether that runs it is found then, see holo_frame_decide
    bool is_checked;         // the output sizes depend on values: infer again before each run
    bool is_kept;            // what op->prepare makes serves all runs, as it depends on constants alone
    bool has_packed;         // an input is packed: infer does not see its bytes, which are no elements
    bool is_transfer;
    HoloTransferWay way;   // of a transfer
    size_t          bytes; // of a transfer

    const void *prepared;       // kept so; NULL: not made yet
    uint64_t    prepared_types; // of the inputs it was made for
} HoloStep;

struct HoloFrame {
    HoloHost              host; // what operators see; first, so that a host is its frame
    HoloSession          *session;
    const HoloPlanRecord *plan;
    const HoloFrame      *parent;  // whose symbols hold here too; NULL: the model's own frame
    HoloArena             arena;   // owns the arrays below
    HoloTensor           *values;  // by number in the plan, as they are now
    HoloTensor           *types;   // as they were bound
    uint32_t             *roots;   // the value whose bytes these are: aliases and parts have none of their own
    size_t               *starts;  // of an alias or a part: its first byte in its root
    uint32_t             *origins; // of what a transfer brings into another space: the host's value; else HOLO_NO_VALUE
    HoloTensor          **operands;
    HoloCall             *calls;
    HoloStep             *steps;
    int64_t              *dims, *parent_dims; // numbers for the archive's expressions; those of the parent when bound
    bool                 *dim_is_known, *parent_dim_is_known;
    HoloSpaceMemory      *spaces;        // the arena of the plan, by number of the target
    HoloArena             heap[2], temp; // of a run, and of the next; of the present step
    int                   turn;          // which heap is that of the present run; 0 in the model's own frame
    size_t                heap_limit;    // bytes of a heap above which the next run goes to the other one
    bool                  has_lists;     // an output is a sequence: several runs share a heap
    bool                  is_fresh;      // the present run has begun with an empty heap
    HoloLists             lists;         // sequences in the heap of the present run
    HoloArena             prepared;      // of what op->prepare has made for steps that keep it
    HoloArena             jobs;          // of steps, since sizes were bound, and of what they hold
    HoloArena            *holds;         // where operators and kernels hold memory now; NULL: temp
    struct HoloReuse     *reuse;         // of the model's own frame: steps that need not run again; NULL: none yet
    bool                  is_bound;
    HoloArena             contents; // of values that follow from sizes, since they were bound
    uint64_t              contents_count;
    int                   depth; // of subgraphs in subgraphs
};

HOLO_MUST HoloStatus holo_frame_create(HoloSession *session, uint32_t plan, const HoloFrame *parent, HoloFrame **out,
                                       HoloError *error);
void                 holo_frame_destroy(HoloFrame *frame);

// Makes the frame fit these inputs. Does nothing when their types and sizes are those bound before.
HOLO_MUST HoloStatus holo_frame_bind(HoloFrame *frame, const HoloTensor *const *inputs, HoloError *error);
// Asks the operator of a step what its outputs are and compares that with what they are bound to;
// *out_known is false where that depends on values that do not exist yet. The types are in frame->temp.
HOLO_MUST HoloStatus holo_frame_infer(HoloFrame *frame, uint32_t step, const HoloTensor **out_types, bool *out_known,
                                      HoloError *error);
// Sets who runs an open step that has a kernel, now that its sizes are there: the kernel, with scratch for it, or, where
// it refuses these sizes, eval. Fails where eval could not read the inputs either, because they are packed.
HOLO_MUST HoloStatus holo_frame_decide(HoloFrame *frame, uint32_t step, HoloError *error);
// Has the operator of a step prepare what is kept, unless that is there already, and gives it to the call if it fits.
HOLO_MUST HoloStatus holo_frame_prepare(HoloFrame *frame, uint32_t step);
// Memory for all planned values, whose sizes are bound: from the file, or laid out now.
HOLO_MUST HoloStatus holo_frame_layout(HoloFrame *frame, HoloError *error);
// Gives that memory back.
void holo_frame_give(HoloFrame *frame);
// Makes the memory of one space, of a frame or of what it keeps, at least so large. False: there is none.
bool holo_frame_take(const HoloFrame *frame, uint32_t space, HoloSpaceMemory *memory, size_t size);
// Runs all steps on these inputs, to which the frame is bound. Outputs are then values: see holo_frame_output_value.
HOLO_MUST HoloStatus holo_frame_run(HoloFrame *frame, const HoloTensor *const *inputs, HoloError *error);

static inline const HoloValueRecord *holo_frame_record(const HoloFrame *frame, uint32_t value)
{
    return &frame->session->model->archive.VALUES_at[frame->plan->value_first + value];
}
// Which way a step copies from one space to another; HOLO_TRANSFER_WITHIN: it does not. (The archive's check has made sure
// that operands of any other step are all in one space.)
static inline HoloTransferWay holo_frame_transfer(const HoloFrame *frame, const HoloStepRecord *s)
{
    const uint32_t *operand = frame->session->model->archive.OPERANDS_at + s->operand_first;
    if (!s->target || s->in_count != 1 || s->out_count != 1 || operand[0] == HOLO_NO_VALUE) return HOLO_TRANSFER_WITHIN;
    if (!holo_frame_record(frame, operand[0])->space) return HOLO_TRANSFER_IN;
    return operand[1] != HOLO_NO_VALUE && !holo_frame_record(frame, operand[1])->space ? HOLO_TRANSFER_OUT
                                                                                       : HOLO_TRANSFER_WITHIN;
}
// The constant whose bytes a value has, or some of them; NULL: it has others.
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

// May a value of the kind of `have` be given where `want` is wanted? What is optional may be given bare.
static inline bool holo_kind_fits(uint8_t want, uint8_t want_inner, const HoloTensor *have)
{
    return want == have->kind || (want == HOLO_OPTIONAL && want_inner == have->kind);
}

// A public call begins with taking the session and ends with giving it back, whose status is then that of the call.
// HOLO_BUSY: another thread's call has it.
HOLO_MUST HoloStatus holo_session_take(const HoloSession *session, HoloError *error);
HOLO_MUST HoloStatus holo_session_give(const HoloSession *session, HoloStatus status);
// Where two threads have met: is all that is set this thread's, and the last run? HOLO_BUSY: no.
HOLO_MUST HoloStatus holo_session_owns_sets(const HoloSession *session, HoloError *error);
HOLO_MUST HoloStatus holo_session_owns_run(const HoloSession *session, HoloError *error);
// Nothing is set any more.
void holo_session_clear(HoloSession *session);

// Makes each piece of a device's scratch at least this large.
HOLO_MUST HoloStatus holo_session_reserve(HoloSession *session, HoloOpenDevice *on, size_t scratch, HoloError *error);

// How messages write a type; symbol[d], where it is given and not NULL, stands for size d.
enum { HOLO_SYMBOL_SHOWN = 64 }; // bytes of a size's name in messages, at most
typedef struct HoloTypeText {
    char text[HOLO_MAX_RANK * (HOLO_SYMBOL_SHOWN + 1) + 32];
} HoloTypeText;
HoloTypeText holo_type_text(const HoloTensor *t, const char *const *symbol);

#endif
