// tiny_bert.h - a BERT with a few random weights, and HuggingFace folders of it in every form that they come in.
#ifndef HOLO_TESTS_TINY_BERT_H
#define HOLO_TESTS_TINY_BERT_H

#include <stdbool.h>

enum { VOCAB = 11, HIDDEN = 8, LAYERS = 2, HEADS = 2, INNER = 12, PLACES = 6, KINDS = 2 };

typedef struct Weight {
    char   name[96], shape[24];
    int    count;
    float *data;
} Weight;

typedef struct Weights {
    int    count;
    Weight list[96];
} Weights;

Weights bert_weights(void);
void    weights_free(Weights *w);
// More weights: a matrix or, with 0 columns, a list; those of a product; those of a normalization.
void weights_add(Weights *w, const char *name, int rows, int columns);
void weights_add_linear(Weights *w, const char *name, int in, int out);
void weights_add_norm(Weights *w, const char *name);

typedef struct Form { // of a folder
    const char *prefix;
    bool        is_old, is_sharded, is_f16;
    const char *config;  // more of it; NULL
    const char *without; // a weight that is left out; NULL
} Form;

// The path of a file in a folder of the temporary one.
const char *path_in(const char *folder, const char *name);
void        save_config(const char *folder, const char *architecture, const char *more);
// The folder's path. With shards, every other weight is in the second file.
const char *save_folder(const char *folder, const char *architecture, const Weights *w, const Form *form);

#endif
