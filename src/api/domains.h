// domains.h - the values that inputs can have, as the compiler was told, in the types of the model's inputs.
#ifndef HOLO_API_DOMAINS_H
#define HOLO_API_DOMAINS_H

#include "api/compiler.h"
#include "materialize/materialize.h"

// One for each domain of the compiler, in the arena. Fails if the model has no such input, if the input's sizes are
// open, or if its type cannot hold a value.
HOLO_MUST HoloStatus holo_compiler_domains(const HoloCompiler *compiler, const HoloGraph *graph, HoloArena *arena,
                                           HoloDomain **out, HoloError *error);

// Seeded inputs for the graph. Inputs with a domain get values of it. NULL: no domain is declared.
HOLO_MUST HoloStatus holo_compiler_domain_inputs(const HoloCompiler *compiler, const HoloGraph *graph, HoloArena *arena,
                                                 const HoloTensor *const **out, HoloError *error);

#endif
