// batches.cpp - one session, batches of growing size, results instead of exceptions: batches DIGITS.holo
//
// It only runs archives, so it needs the runtime library alone. Pixels are read where they are, and outputs are views.
#define HOLOGRAM_NO_EXCEPTIONS
#include <cstdio>
#include <hologram.hpp>

static int fail(const hologram::Error &error)
{
    std::fprintf(stderr, "batches: %s\n", error.what());
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 2) return std::fprintf(stderr, "usage: batches DIGITS.holo\n"), 2;
    auto model = hologram::Model::open(argv[1]);
    if (!model) return fail(model.error());
    auto pool = hologram::Pool::create(2);
    if (!pool) return fail(pool.error());
    auto session = hologram::Session::create(*model, &*pool);
    if (!session) return fail(session.error());

    for (std::int64_t rows = 1; rows <= 4; rows *= 2) {
        std::vector<float> pixels(std::size_t(rows) * 64, 0.5f);
        auto               run = session->run({{"image", hologram::Tensor(pixels, {rows, 1, 8, 8})}});
        if (!run) return fail(run.error());
        auto scores = session->output("probabilities");
        if (!scores) return fail(scores.error());
        std::printf("%lld images: %lld numbers\n", (long long)rows, (long long)scores->count());
    }
}
