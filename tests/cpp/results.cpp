// results.cpp - a source without exceptions, linked with one that has them.
#define HOLOGRAM_NO_EXCEPTIONS
#include <hologram.hpp>

bool results_open(const char *path)
{
    auto model = hologram::Model::open(path);
    return model && model->inputs().size() > 0 && !hologram::Model::open("no-such.holo");
}
