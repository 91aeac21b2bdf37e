// api_test.cpp - hologram.hpp, in both ways to tell of failures: api_test MODEL.onnx KERNELS.py FOLDER
#include <hologram.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

namespace holo = hologram;

static int checks;

[[noreturn]] static void die(int line, const char *what, const char *why = "")
{
    std::fprintf(stderr, "api_test.cpp:%d: %s: %s\n", line, what, why);
    std::exit(1);
}
#define CHECK(...) (checks++, (__VA_ARGS__) ? void() : die(__LINE__, #__VA_ARGS__))

// TAKE is the value of a call that must succeed; FAILS, that one does not, and with which status and words.
static void expect(int line, const char *what, const holo::Error &error, HoloStatus status, const char *words)
{
    checks++;
    if (error.status() != status || !std::strstr(error.what(), words)) die(line, what, error.what());
}
#ifdef HOLOGRAM_NO_EXCEPTIONS
template <class T> static T take(int line, const char *what, holo::Result<T> result)
{
    if (!result) die(line, what, result.error().what());
    return std::move(*result);
}
static void take(int line, const char *what, holo::Result<void> result)
{
    if (!result) die(line, what, result.error().what());
}
#define TAKE(...) take(__LINE__, #__VA_ARGS__, __VA_ARGS__)
#define FAILS(status, words, ...)                                       \
    do {                                                                \
        auto result_ = (__VA_ARGS__);                                   \
        if (result_) die(__LINE__, #__VA_ARGS__, "it succeeds");        \
        expect(__LINE__, #__VA_ARGS__, result_.error(), status, words); \
    } while (0)
#else
#define TAKE(...) (__VA_ARGS__)
#define FAILS(status, words, ...)                                  \
    do {                                                           \
        bool failed_ = false;                                      \
        try {                                                      \
            (void)(__VA_ARGS__);                                   \
        } catch (const holo::Error &error_) {                      \
            failed_ = true;                                        \
            expect(__LINE__, #__VA_ARGS__, error_, status, words); \
        }                                                          \
        if (!failed_) die(__LINE__, #__VA_ARGS__, "it succeeds");  \
    } while (0)
#endif

template <class T>
constexpr bool only_moves = std::is_nothrow_move_constructible_v<T> && !std::is_copy_constructible_v<T>;
static_assert(only_moves<holo::Model> && only_moves<holo::Session> && only_moves<holo::Pool> &&
              only_moves<holo::Compiler>);
static_assert(only_moves<holo::Outputs> && only_moves<holo::Kernels> && only_moves<holo::Report>);
static_assert(holo::dtype_of<float>() == holo::Dtype::f32 && holo::dtype_of<const long long>() == holo::Dtype::i64);
static_assert(holo::dtype_of<bool>() == holo::Dtype::bool_ && holo::dtype_of<unsigned char>() == holo::Dtype::u8);
static_assert(holo::dtype_of<std::string>() == holo::Dtype::none);
#define X(id, value, text, size) static_assert(int(HOLO_##id) == value);
HOLO_DTYPE_MAP(X)
#undef X

static std::vector<float> pixels_make(int images = 1)
{
    std::vector<float> pixels(std::size_t(images) * 64);
    for (std::size_t i = 0; i < pixels.size(); i++) pixels[i] = float(i % 17) / 16;
    return pixels;
}

static void models(const holo::Model &model)
{
    CHECK(model.inputs().size() == 1 && model.outputs().size() == 1);
    for (holo::Port port : model.inputs()) {
        CHECK(!std::strcmp(port.name(), "image") && port.dtype() == holo::Dtype::f32 && port.rank() == 4);
        CHECK(port.shape()[0] == -1 && port.symbol(0) && port.shape()[3] == 8 && !port.symbol(3) &&
              !port.is_optional());
    }
    CHECK(model.inputs().find("image") == 0 && model.inputs().find("x") == -1);
    CHECK(!std::strcmp(holo::name(model.outputs()[0].dtype()), "f32"));
    CHECK(!std::strcmp(model.meta("source.format"), "ONNX") && !model.meta("no.such"));

    auto pixels  = pixels_make();
    auto outputs = TAKE(model.run({{"image", holo::Tensor(pixels, {1, 1, 8, 8})}}));
    auto scores  = TAKE(TAKE(outputs["probabilities"]).values<const float>());
    CHECK(outputs.size() == 1 && scores.size() == 10 && TAKE(outputs[0]).shape()[1] == 10);
    float sum = 0;
    for (float x : scores) sum += x;
    CHECK(sum > 0.999f && sum < 1.001f);

    // Into memory of ours, by index, from a list that is made at run time.
    std::vector<float>       mine(10);
    std::vector<holo::Named> in{{0, holo::Tensor(pixels.data(), {1, 1, 8, 8})}}, out{{0, holo::Tensor(mine, {1, 10})}};
    auto                     same = TAKE(model.run(in, out));
    CHECK(TAKE(same[0]).data() == mine.data() && !std::memcmp(mine.data(), scores.data(), 40));

    holo::Outputs moved = std::move(outputs);
    CHECK(moved.size() == 1 && outputs.size() == 0);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] {
            auto one = TAKE(model.run({{"image", holo::Tensor(pixels, {1, 1, 8, 8})}}));
            if (std::memcmp(TAKE(one[0]).data(), mine.data(), 40)) die(__LINE__, "threads agree");
        });
    for (auto &thread : threads) thread.join();
}

static void failures(const holo::Model &model)
{
    auto                      pixels = pixels_make();
    std::vector<float>        small(3);
    std::vector<std::int64_t> deep(17, 1);
    std::atomic<int>          flag{1};
    holo::RunOptions          cancelled, late;
    cancelled.cancel = &flag;
    late.time_limit  = -1;
    holo::Tensor image(pixels, {1, 1, 8, 8});
    FAILS(HOLO_NO_FILE, "no-such.holo", holo::Model::open("no-such.holo"));
    FAILS(HOLO_BAD_ARGUMENT, "the model has no input x", model.run({{"x", image}}));
    FAILS(HOLO_BAD_INPUT, "image: the shape takes 512 bytes, and there are 256",
          model.run({{"image", holo::Tensor(pixels, {2, 1, 8, 8})}}));
    FAILS(HOLO_BAD_INPUT, "0 to 16 dimensions", model.run({{"image", holo::Tensor(pixels, deep)}}));
    FAILS(HOLO_BAD_INPUT, "0 to 16 dimensions", model.run({{"image", holo::Tensor()}}));
    FAILS(HOLO_BAD_INPUT, "image", model.run({{"image", holo::Tensor(holo::Dtype::f64, pixels.data(), {1, 1, 8, 8})}}));
    FAILS(HOLO_BAD_ARGUMENT, "", model.run({{"image", image}}, {{"probabilities", holo::Tensor(small, {3})}}));
    FAILS(HOLO_CANCELLED, "cancelled", model.run({{"image", image}}, cancelled));
    FAILS(HOLO_BAD_ARGUMENT, "time limit", model.run({{"image", image}}, late));
    auto outputs = TAKE(model.run({{"image", image}}));
    FAILS(HOLO_BAD_ARGUMENT, "there is no output logits", outputs["logits"]);
    FAILS(HOLO_BAD_ARGUMENT, "there is no output 1: there are 1", outputs[1]);
    FAILS(HOLO_BAD_ARGUMENT, "elements of i64 were asked for, and this is a tensor of f32",
          TAKE(outputs[0]).values<std::int64_t>());
    FAILS(HOLO_BAD_ARGUMENT, "there is no item 0", TAKE(outputs[0]).item(0));
    auto session = TAKE(holo::Session::create(model));
    FAILS(HOLO_BAD_ARGUMENT, "there is no input x", session.set({"x", image}));
    FAILS(HOLO_BAD_ARGUMENT, "there is no input 7: there are 1", session.set({7, image}));
    FAILS(HOLO_BAD_ARGUMENT, "not run", session.output());
    FAILS(HOLO_BAD_ARGUMENT, "there is no output x", session.output("x"));
    FAILS(HOLO_BAD_ARGUMENT, "not fixed", session.input("image"));
    FAILS(HOLO_BAD_ARGUMENT, "time limit", session.time_limit(-1));
    CHECK(std::strstr(holo::Error(HOLO_NO_MEMORY, "").what(), "memory"));
}

static void sessions(const holo::Model &model)
{
    auto pool    = TAKE(holo::Pool::create(2));
    auto session = TAKE(holo::Session::create(model, &pool));
    auto pixels  = pixels_make(3);
    CHECK(pool.threads() == 2);
    TAKE(session.run({{"image", holo::Tensor(pixels, {3, 1, 8, 8})}}));
    auto view = TAKE(session.output("probabilities"));
    CHECK(view.rank() == 2 && view.shape()[0] == 3 && view.count() == 30 && view.bytes() == 120 &&
          session.memory() > 0);
    // Inputs are read where they are: other numbers in the same place, another answer.
    std::vector<float> before(static_cast<const float *>(view.data()), static_cast<const float *>(view.data()) + 30);
    for (float &x : pixels) x = 1 - x;
    TAKE(session.run());
    CHECK(std::memcmp(before.data(), TAKE(session.output()).data(), 120) != 0);
    // Outputs are written where they are wanted, and nowhere else.
    alignas(64) static float mine[30];
    TAKE(session.set_output({"probabilities", holo::Tensor(mine, {3, 10})}));
    TAKE(session.run());
    CHECK(TAKE(session.output()).data() == mine && mine[0] > 0);
    holo::Session moved = std::move(session);
    CHECK(moved && !session);
    TAKE(moved.run());
    TAKE(moved.time_limit(100));
    moved.cancel();
    FAILS(HOLO_CANCELLED, "cancelled", moved.run());
}

static void compiling(const char *path, const std::string &folder)
{
    auto compiler = TAKE(holo::Compiler::create());
    int  told     = 0;
    compiler.set_progress([&](const char *, double) { told++; });
    TAKE(compiler.set_shape("image", {1, 1, 8, 8}));
    compiler.set_threads(1);
    auto report = TAKE(compiler.compile(path, folder + "/fixed.holo"));
    CHECK(report->verified && told > 3);
    // All sizes are fixed: the session has memory for its inputs.
    auto model   = TAKE(holo::Model::open(folder + "/fixed.holo"));
    auto session = TAKE(holo::Session::create(model));
    auto pixels  = TAKE(TAKE(session.input("image")).values<float>());
    CHECK(pixels.size() == 64 && TAKE(session.input(0)).data() == pixels.data());
    for (float &x : pixels) x = 0.5f;
    TAKE(session.run());
    CHECK(TAKE(session.output(0)).count() == 10);

    std::ifstream     file(path, std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    auto memory = TAKE(compiler.compile_memory({reinterpret_cast<const std::byte *>(bytes.data()), bytes.size()}));
    CHECK(memory.inputs()[0].shape()[0] == 1);
    FAILS(HOLO_BAD_MODEL, "not a model", compiler.compile_memory({reinterpret_cast<const std::byte *>("...."), 4}));
    FAILS(HOLO_BAD_ARGUMENT, "", compiler.set_shape("image", {-7}));

    auto samples = pixels_make(16);
    auto narrow  = TAKE(holo::Compiler::create());
    narrow.set_quantize(HOLO_QUANTIZE_INT8);
    narrow.set_verify(false);
    TAKE(narrow.add_sample({{"image", holo::Tensor(samples, {16, 1, 8, 8})}}));
    CHECK(TAKE(narrow.compile(path, folder + "/narrow.holo"))->quantization.samples == 1);
    FAILS(HOLO_BAD_INPUT, "image: the shape takes",
          narrow.add_sample({{"image", holo::Tensor(samples, {17, 1, 8, 8})}}));
    TAKE(narrow.set_calibration(folder + "/none.npz"));
    FAILS(HOLO_NO_FILE, "none.npz", narrow.compile(path));

    holo::Compiler moved = std::move(compiler);
    moved.set_progress([&](const char *stage, double) { std::strcmp(stage, "fold") ? void() : moved.cancel(); });
    FAILS(HOLO_CANCELLED, "cancelled while optimizing", moved.compile(path));
#ifndef HOLOGRAM_NO_EXCEPTIONS
    struct Mine {
    };
    bool caught = false;
    moved.set_progress([](const char *, double) { throw Mine(); });
    try {
        (void)moved.compile(path);
    } catch (const Mine &) {
        caught = true;
    }
    CHECK(caught);
#endif
    moved.set_progress(nullptr);
    CHECK(bool(TAKE(moved.compile(path))));
}

static void kernels(const char *path)
{
    auto           kernels = TAKE(holo::Kernels::open(path));
    HoloKernelInfo info;
    CHECK(kernels.size() > 0 && kernels.info(kernels.find("vector_add_f32"), info) && info.param_count == 4);
    CHECK(kernels.find("no_such") == -1 && !kernels.info(-1, info));
    std::vector<float> a{1, 2, 3}, b{10, 20, 30}, c(3);
    std::int32_t       n       = 3;
    std::int64_t       wide    = 3;
    bool               is_wide = info.params[3].type == HOLO_I64;
    holo::Tensor       count   = is_wide ? holo::Tensor(&wide, {}) : holo::Tensor(&n, {});
    TAKE(kernels.run("vector_add_f32", {holo::Tensor(a, {3}), holo::Tensor(b, {3}), holo::Tensor(c, {3}), count}));
    CHECK(c == std::vector<float>{11, 22, 33});
    FAILS(HOLO_BAD_ARGUMENT, "there is no kernel no_such", kernels.run("no_such", {}));
    FAILS(HOLO_NO_FILE, "none.py", holo::Kernels::open("none.py"));
}

static void files(const std::string &folder)
{
    std::string path = folder + "/seven.npy";
    auto        mine = pixels_make();
    HoloError   error{};
    CHECK(!holo_tensor_write_npy(path.c_str(), holo::Tensor(mine, {64}).get(), &error));
    auto tensors = TAKE(holo::Tensors::read(path));
    CHECK(tensors.size() == 1 && TAKE(tensors[0]).count() == 64 &&
          TAKE(TAKE(tensors[0]).values<float>())[5] == mine[5]);
    FAILS(HOLO_BAD_ARGUMENT, "there is no tensor 1: there are 1", tensors[1]);
    FAILS(HOLO_BAD_ARGUMENT, "there is no tensor x", tensors["x"]);
    FAILS(HOLO_NO_FILE, "none.npy", holo::Tensors::read("none.npy"));
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    std::string folder = argv[3];
    CHECK(TAKE(holo::compile(argv[1], folder + "/model.holo"))->verified);
    auto model = TAKE(holo::Model::open(folder + "/model.holo", HOLO_OPEN_PREFAULT));
    models(model);
    models(TAKE(holo::compile(argv[1])));
    failures(model);
    sessions(model);
    compiling(argv[1], folder);
    files(folder);
    kernels(argv[2]);
    std::printf("%d checks\n", checks);
}
