// peer.h - what the pass `peer` knows of nodes, for others.
#ifndef HOLO_PASSES_PEER_PEER_H
#define HOLO_PASSES_PEER_PEER_H

#include "graph/graph.h"

// Does the node make fewer bits of numbers of f32: a quantization, or a rounding to f16?
bool holo_peer_is_step(const HoloNode *node);

#endif
