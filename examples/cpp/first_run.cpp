// first_run.cpp - compile a model, open the archive, run it: first_run MODEL.onnx IMAGE.npy
#include <algorithm>
#include <cstdio>
#include <hologram.hpp>

int main(int argc, char **argv)
try {
    if (argc != 3) return std::fprintf(stderr, "usage: first_run MODEL.onnx IMAGE.npy\n"), 2;
    hologram::compile(argv[1], "digits.holo");
    auto model   = hologram::Model::open("digits.holo");
    auto image   = hologram::Tensors::read(argv[2]);
    auto outputs = model.run({{"image", image[0]}});
    auto scores  = outputs["probabilities"].values<const float>();
    std::printf("%td\n", std::max_element(scores.begin(), scores.end()) - scores.begin());
} catch (const hologram::Error &error) {
    return std::fprintf(stderr, "first_run: %s\n", error.what()), 1;
}
