// onnx_syntax.h - see onnx_syntax.c.
#ifndef HOLO_IMPORT_ONNX_ONNX_SYNTAX_H
#define HOLO_IMPORT_ONNX_ONNX_SYNTAX_H

#include "import/importer.h"

// The binary form of a model that is written in ONNX's own syntax.
HOLO_MUST HoloStatus holo_onnx_from_syntax(HoloImport *import, HoloString text, HoloString *out);

#endif
