// ops_text.h - rows of the operator table in words, for the commands that show it.
#ifndef HOLO_CLI_OPS_TEXT_H
#define HOLO_CLI_OPS_TEXT_H

#include "cli.h"

const char *op_domain(const HoloOpInfo *op);   // "ai.onnx"
char       *op_versions(const HoloOpInfo *op); // "7-11", "12+"
char       *op_types(const HoloOpInfo *op);    // "float i32 bool", families by their names

// docs/operators.md, to stdout. What tests there are is read from the folder tests/ below the working folder, if it
// is there.
void ops_markdown(void);

#endif
