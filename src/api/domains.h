// domains.h - what inputs can be, as a compiler was told, in the types that the model's inputs have.
#ifndef HOLO_API_DOMAINS_H
#define HOLO_API_DOMAINS_H

#include "api/compiler.h"
#include "materialize/materialize.h"

// One for each domain of the compiler, in the arena. Fails where the model has no such input, where its sizes are open or
// where a value is no number of its type.
HOLO_MUST HoloStatus holo_compiler_domains(const HoloCompiler *compiler, const HoloGraph *graph, HoloArena *arena,
                                           HoloDomain **out, HoloError *error);

// Seeded inputs for the graph, those with a domain of values in it; NULL where no domain is declared.
HOLO_MUST HoloStatus holo_compiler_domain_inputs(const HoloCompiler *compiler, const HoloGraph *graph, HoloArena *arena,
                                                 const HoloTensor *const **out, HoloError *error);

#endif
