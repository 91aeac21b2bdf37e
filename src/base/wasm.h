// wasm.h - what only WebAssembly has: files that the host puts into memory, and threads that the host brings.
#ifndef HOLO_BASE_WASM_H
#define HOLO_BASE_WASM_H

#include <stdbool.h>
#include <stddef.h>

// Makes a file of `size` bytes that are still to be written, 64-byte aligned. It replaces one of the same name. NULL: no
// memory. Nothing may be reading the one that it replaces.
void *holo_wasm_file_put(const char *path, size_t size);
bool  holo_wasm_file_remove(const char *path); // false: there is none

// A worker of the host gives itself to threads that start from now on. The call does not return.
void holo_wasm_thread_serve(void);
int  holo_wasm_thread_count(void); // how many are here, at work or not
// Says that this thread may not sleep, like that of a page: it looks again and again instead.
void holo_wasm_thread_restless(void);

#endif
