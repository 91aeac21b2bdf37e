// replay.c - runs a fuzz entry over files, without libFuzzer: every input ever found, in every test.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) return fprintf(stderr, "cannot read %s\n", path), 1;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    uint8_t *data = malloc((size_t)size + 1); // exactly sized, so that a sanitizer sees an overrun
    int      ok   = data && fread(data, 1, (size_t)size, file) == (size_t)size;
    fclose(file);
    uint8_t *exact = ok ? malloc((size_t)size ? (size_t)size : 1) : NULL;
    if (exact) {
        memcpy(exact, data, (size_t)size);
        LLVMFuzzerTestOneInput(exact, (size_t)size);
    }
    free(exact);
    free(data);
    return !ok;
}

int main(int argc, char **argv)
{
    int count = 0, failed = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (!folder) {
            failed += replay(argv[i]);
            count++;
            continue;
        }
        for (struct dirent *entry; (entry = readdir(folder));) {
            char        path[4096];
            struct stat st;
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            if (entry->d_name[0] == '.' || (stat(path, &st) == 0 && S_ISDIR(st.st_mode))) continue;
            failed += replay(path);
            count++;
        }
        closedir(folder);
    }
    printf("%s: %d inputs replayed\n", argc > 1 ? argv[1] : "replay", count);
    return failed || !count;
}
