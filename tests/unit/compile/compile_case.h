// compile_case.h - a compiler as the tests want it.
#ifndef HOLO_TESTS_COMPILE_CASE_H
#define HOLO_TESTS_COMPILE_CASE_H

#include "support/models.h"
#include "support/onnx_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline HoloCompiler *compiler_make(void)
{
    HoloCompiler *compiler;
    EXPECT_OK(holo_compiler_create(&compiler));
    return compiler;
}

#endif
