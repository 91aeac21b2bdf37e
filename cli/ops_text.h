// ops_text.h - rows of the operator table in words, for the commands that show it.
#ifndef HOLO_CLI_OPS_TEXT_H
#define HOLO_CLI_OPS_TEXT_H

#include "cli.h"

const char *op_domain(const HoloOpInfo *op);   // "ai.onnx"
char       *op_versions(const HoloOpInfo *op); // "7-11", "12+"
char       *op_types(const HoloOpInfo *op);    // "float i32 bool", families by their names

// Writes docs/operators.md to stdout. It counts tests in the folder tests/ below the working folder, if that exists.
void ops_markdown(void);

#endif
