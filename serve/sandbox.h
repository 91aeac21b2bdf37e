// sandbox.h - gives up what serving does not need: the user's rights, files, and calls of the system.
#ifndef HOLO_SERVE_SANDBOX_H
#define HOLO_SERVE_SANDBOX_H

#include "options.h"

// Call it before there are threads, and after ports, keys and certificates are open. What the kernel does not have is left
// out, and the log says so. False: `why` says what failed.
bool sandbox_enter(const Options *options, char *why, size_t room);

#endif
