// ptx.c - modules and kernels in PTX, around the instructions of ptx_code.c.
#include "lower/cuda/ptx_code.h"

const char *holo_ptx_lacks(const HoloIsaProgram *program)
{
    if (program->shared_count || program->local_count) return "arrays of a block or a lane";
    for (int i = 0; i < program->count; i++)
        if (!holo_ptx_write(&program->code[i])) return holo_isa_op(program->code[i].op)->text;
    return NULL;
}

uint32_t holo_ptx_calls(const HoloIsaProgram *program)
{
    uint32_t calls = 0;
    for (int i = 0; i < program->count; i++) {
        int function = holo_ptx_function(&program->code[i]);
        if (function >= 0) calls |= UINT32_C(1) << function;
    }
    return calls;
}

void holo_ptx_begin(HoloText *out, HoloPtxFor machine)
{
    holo_text_add(out, ".version 7.8\n.target %s\n.address_size 64\n", machine == HOLO_PTX_SM_90 ? "sm_90" : "sm_80");
}

static void registers(HoloPtx *p)
{
    static const struct {
        char        letter;
        const char *type;
    } sets[] = {{'p', "pred"}, {'r', "b32"}, {'l', "b64"}, {'f', "f32"}, {'d', "f64"}};
    for (int i = 0; i < HOLO_COUNT(sets); i++)
        holo_text_add(p->out, "    .reg .%s %%%c<%d>;\n", sets[i].type, sets[i].letter, p->program->register_count + 1);
    holo_text_add(p->out,
                  "    .reg .pred %%q<2>;\n    .reg .b16 %%h<2>;\n    .reg .b32 %%t<3>;\n    .reg .b64 %%w<3>;\n"
                  "    .reg .f32 %%g<1>;\n    .reg .f64 %%e<1>;\n    mov.b16 %%h1, 0;\n");
}

HoloStatus holo_ptx_kernel(HoloText *out, const char *name, const HoloIsaProgram *program, HoloPtxFor machine,
                           HoloPtxStore store, uint64_t narrow, HoloError *error)
{
    const char *lacks = holo_ptx_lacks(program);
    HoloPtx     p     = {.out = out, .program = program, .store = store, .narrow = narrow};
    if (lacks)
        return holo_fail(error, HOLO_UNSUPPORTED, "program %s cannot run on cuda: it has %s", program->name, lacks);
    holo_text_add(out, ".visible .entry %s(.param .align 8 .b8 args[%d])\n.maxntid 256\n{\n", name,
                  program->param_count ? program->param_count * 16 : 16);
    registers(&p);
    // the kernel after this one may begin, and this one waits until those before it have ended
    if (machine == HOLO_PTX_SM_90)
        holo_text_add(out, "    griddepcontrol.launch_dependents;\n    griddepcontrol.wait;\n");
    for (int i = 0; i < program->count; i++) holo_ptx_write (&program->code[i])(&p, &program->code[i]);
    holo_text_add(out, "    ret;\n}\n");
    return HOLO_OK;
}
