// level_table.c - the table of kernels of TABLE_LEVEL. A #define of a kernel's name replaces the kernel.
extern const HoloKernelTable TABLE(TABLE_LEVEL, HOLO_EXACT);

const HoloKernelTable TABLE(TABLE_LEVEL, HOLO_EXACT) = {
    TEXT(TABLE_LEVEL),
    HOLO_EXACT,
#define KERNEL(name, ret, args)      name,
#define KERNEL_ONCE(name, ret, args) SHARED(name),
#include "kernels/kernels.def"
#undef KERNEL
};

#undef TABLE_LEVEL
