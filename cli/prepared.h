// prepared.h - samples for the compiler, which reads .npy and .npz: pictures and numbers as text become such files.
#ifndef HOLO_CLI_PREPARED_H
#define HOLO_CLI_PREPARED_H

#include "loading.h"

// The path to give to the compiler: `path` itself, or a temporary folder with the same samples as .npy files, if there
// are files among them that the compiler does not read. `path` is a file, a folder, or NAME=FILE.
int cli_prepare(const Cli *cli, const HoloCompiler *compiler, const char *path, const char **out);
// Removes the temporary folders: after the compiler has read them.
void cli_prepared_remove(void);

#endif
