// narrow_f16.h - which nodes of f16 read and give numbers that are rounded to f16, as they do in ONNX Runtime.
#ifndef HOLO_PASSES_PEER_NARROW_F16_H
#define HOLO_PASSES_PEER_NARROW_F16_H

#include "passes/passes.h"

typedef struct HoloNarrowF16 {
    // By node id: it reads rounded numbers of f16, and what it gives is rounded. All others compute in f32, and read what was
    // not rounded where a node of f32 made it.
    bool *is_narrow;
    bool *is_read;   // by value id: a node with a kernel of f16 that is no Cast reads it, or it leaves the graph
    bool *is_back;   // by value id: a Cast of the graph makes it wider again
    bool *is_stored; // by value id: all who read it read rounded numbers
} HoloNarrowF16;

// Transposes that do not stand there where the model has them.
typedef struct HoloTurns {
    bool *is_gone; // by node id: it stands behind others
    bool *is_read; // by value id: such a Transpose reads it
} HoloTurns;

// Nodes are numbered. Memory is of `scratch`; false: none left.
bool holo_narrow_turns(const HoloGraph *graph, HoloArena *scratch, HoloTurns *out);

// Numbers the nodes. Memory is of `scratch`; false: none left.
bool holo_narrow_find(HoloGraph *graph, HoloArena *scratch, HoloNarrowF16 *out);

// Does a node give numbers of f16 if it is given such? Its operator is known.
bool holo_narrow_keeps(const HoloNode *node);

// The value that the node gives on as it is, as ONNX Runtime sees before it looks at types; NULL: it computes.
HoloValue *holo_narrow_same(const HoloNode *node);

#endif
