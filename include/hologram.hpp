// hologram.hpp - Hologram from C++17, in one header over the C API.
//
// Objects own what they stand for, can be moved and cannot be copied: Model, Session, Pool, Compiler, Report, Kernels,
// Outputs. A Tensor is a view: it owns nothing and copies nothing. A model must outlive its sessions, and a pool the
// sessions that use it. For whatever is not here, get() gives the C object.
//
// Functions that can fail return a Result<T>. By default that is T itself, and failures are thrown as hologram::Error. With
// HOLOGRAM_NO_EXCEPTIONS defined (or -fno-exceptions), it is a value like std::expected<T, Error>: test it, then use it with
// * and ->.
#ifndef HOLOGRAM_HPP
#define HOLOGRAM_HPP

#include "hologram_base.hpp"

namespace hologram
{
inline namespace HOLOGRAM_MODE
{

// A set of threads that sessions share.
class Pool : public Handle<HoloPool, holo_pool_destroy>
{
  public:
    using Handle::Handle;
    static Result<Pool> create(int threads = 0) // 0: one a core
    {
        detail::Call call;
        HoloPool    *pool   = nullptr;
        HoloStatus   status = holo_pool_create(threads, &pool);
        return call.give(status, Pool(pool));
    }
    int threads() const { return holo_pool_threads(get()); }
};

// ---- models ------------------------------------------------------------------------------------

// An input or an output: its name, type and shape.
class Port
{
  public:
    explicit Port(const HoloPort *port) noexcept : port_(port) {}
    const char              *name() const noexcept { return port_->name; }
    Dtype                    dtype() const noexcept { return Dtype(port_->type.dtype); }
    int                      rank() const noexcept { return port_->type.rank; }
    span<const std::int64_t> shape() const noexcept
    {
        return {port_->type.dim, std::size_t(rank() < 0 ? 0 : rank())};
    }                                                                         // -1: open
    const char     *symbol(int i) const noexcept { return port_->symbol[i]; } // of a dynamic size: "batch"; else NULL
    bool            is_optional() const noexcept { return port_->optional; }
    const HoloPort *get() const noexcept { return port_; }

  private:
    const HoloPort *port_;
};

// The inputs or outputs of a model, in order.
class Ports
{
  public:
    Ports(const HoloModel *model, bool are_inputs) noexcept : model_(model), are_inputs_(are_inputs) {}
    int size() const noexcept { return are_inputs_ ? holo_model_input_count(model_) : holo_model_output_count(model_); }
    Port operator[](int i) const noexcept
    {
        return Port(are_inputs_ ? holo_model_input(model_, i) : holo_model_output(model_, i));
    }
    // Which one has the name; -1: none.
    int find(const char *name) const noexcept
    {
        return are_inputs_ ? holo_model_input_find(model_, name) : holo_model_output_find(model_, name);
    }
    struct Iterator {
        const Ports *ports;
        int          at;
        Port         operator*() const { return (*ports)[at]; }
        Iterator    &operator++() { return ++at, *this; }
        bool         operator!=(const Iterator &other) const { return at != other.at; }
    };
    Iterator begin() const noexcept { return {this, 0}; }
    Iterator end() const noexcept { return {this, size()}; }

  private:
    const HoloModel *model_;
    bool             are_inputs_;
};

namespace detail
{

// The index of a port; -1, with a message: there is none.
inline int port_of(Call &call, const Ports &ports, const char *kind, const char *name, int index)
{
    if (name) index = ports.find(name);
    if (index >= 0 && index < ports.size()) return index;
    if (name)
        call.fail(HOLO_BAD_ARGUMENT, "there is no %s %s", kind, name);
    else
        call.fail(HOLO_BAD_ARGUMENT, "there is no %s %d: there are %d", kind, index, ports.size());
    return -1;
}

} // namespace detail

// What a run gave. It owns the memory of all outputs that were not written to memory of yours.
class Outputs
{
  public:
    Outputs() = default;
    Outputs(const HoloModel *model, std::vector<HoloRunOutput> list) : model_(model), list_(std::move(list)) {}
    Outputs(Outputs &&other) noexcept : model_(other.model_), list_(std::move(other.list_)) { other.list_.clear(); }
    Outputs &operator=(Outputs &&other) noexcept
    {
        std::swap(model_, other.model_);
        list_.swap(other.list_);
        return *this;
    }
    ~Outputs() { holo_run_outputs_free(list_.data(), int(list_.size())); }
    int            size() const noexcept { return int(list_.size()); }
    Result<Tensor> operator[](int i) const { return find(i); }
    Result<Tensor> operator[](const char *name) const { return find(holo_model_output_find(model_, name), name); }
    Result<Tensor> operator[](const std::string &name) const { return (*this)[name.c_str()]; }

  private:
    // In the order in which they were asked for; with a name, by their places in the model.
    Result<Tensor> find(int i, const char *name = nullptr) const
    {
        detail::Call call;
        for (int k = 0; k < size(); k++)
            if (name ? list_[std::size_t(k)].index == i : k == i)
                return call.give(HOLO_OK, Tensor(list_[std::size_t(k)].tensor));
        HoloStatus status = name ? call.fail(HOLO_BAD_ARGUMENT, "there is no output %s", name)
                                 : call.fail(HOLO_BAD_ARGUMENT, "there is no output %d: there are %d", i, size());
        return call.give(status, Tensor());
    }
    const HoloModel           *model_ = nullptr;
    std::vector<HoloRunOutput> list_;
};

struct RunOptions {
    double                  time_limit = 0;       // seconds; 0: none
    const std::atomic<int> *cancel     = nullptr; // the run ends when it is not 0
};

// A compiled model: immutable, and shared freely between threads, which may all run it at once.
class Model : public Handle<HoloModel, holo_model_close>
{
  public:
    using Handle::Handle;
    // Opens an archive. `flags` is a sum of HOLO_OPEN_*.
    static Result<Model> open(const std::string &path, std::uint32_t flags = 0)
    {
        detail::Call call;
        HoloModel   *model  = nullptr;
        HoloStatus   status = holo_model_open_with(path.c_str(), flags, &model, call);
        return call.give(status, Model(model));
    }
    // An archive in memory, 64-byte aligned. The bytes must stay as they are until the model is gone.
    static Result<Model> open_memory(span<const std::byte> bytes)
    {
        detail::Call call;
        HoloModel   *model  = nullptr;
        HoloStatus   status = holo_model_open_memory(bytes.data(), bytes.size(), &model, call);
        return call.give(status, Model(model));
    }
    Ports inputs() const noexcept { return {get(), true}; }
    Ports outputs() const noexcept { return {get(), false}; }
    // What the compiler wrote about it, as "source.format"; NULL: nothing.
    const char *meta(const char *key) const noexcept { return holo_model_meta_find(get(), key); }

    // Runs once, from the inputs to all outputs. Any number of threads may call it at the same time.
    Result<Outputs> run(std::initializer_list<Named> inputs, const RunOptions &options = {}) const
    {
        return run(span<const Named>(inputs.begin(), inputs.size()), options);
    }
    Result<Outputs> run(span<const Named> inputs, const RunOptions &options = {}) const
    {
        std::vector<HoloRunOutput> list(std::size_t(outputs().size()));
        for (std::size_t i = 0; i < list.size(); i++) list[i].index = int(i);
        return run_to(inputs, std::move(list), options);
    }
    // The same to the outputs that are listed, in memory of yours: nothing is copied.
    Result<Outputs> run(std::initializer_list<Named> inputs, std::initializer_list<Named> outputs,
                        const RunOptions &options = {}) const
    {
        return run(span<const Named>(inputs.begin(), inputs.size()), span<const Named>(outputs.begin(), outputs.size()),
                   options);
    }
    Result<Outputs> run(span<const Named> inputs, span<const Named> outputs, const RunOptions &options = {}) const
    {
        std::vector<HoloRunOutput> list(outputs.size());
        for (std::size_t i = 0; i < list.size(); i++) {
            list[i].name  = outputs[i].name;
            list[i].index = outputs[i].index;
            list[i].data  = const_cast<void *>(outputs[i].tensor.data());
            list[i].size  = outputs[i].tensor.room();
        }
        return run_to(inputs, std::move(list), options);
    }

  private:
    Result<Outputs> run_to(span<const Named> inputs, std::vector<HoloRunOutput> list, const RunOptions &options) const
    {
        static_assert(sizeof *options.cancel == sizeof(int), "a flag is an int");
        detail::Call              call;
        HoloStatus                status = HOLO_OK;
        std::vector<HoloRunInput> given(inputs.size());
        for (std::size_t i = 0; i < given.size() && !status; i++) {
            given[i] = {inputs[i].name, inputs[i].index, *inputs[i].tensor.get()};
            status   = inputs[i].tensor.check(call, inputs[i].what());
        }
        HoloRunOptions asked = {sizeof asked, options.time_limit,
                                reinterpret_cast<const volatile int *>(options.cancel)};
        if (!status)
            status =
                holo_model_run(get(), given.data(), int(given.size()), list.data(), int(list.size()), &asked, call);
        return call.give(status, status ? Outputs() : Outputs(get(), std::move(list)));
    }
};

// ---- sessions ----------------------------------------------------------------------------------

// One place where a model runs, with the memory for that: for one thread at a time. Inputs are read where they are, outputs are
// views that live until the next run.
class Session : public Handle<HoloSession, holo_session_destroy>
{
  public:
    Session() noexcept = default;
    static Result<Session> create(const Model &model, const Pool *pool = nullptr)
    {
        detail::Call call;
        HoloSession *session = nullptr;
        HoloStatus   status  = holo_session_create(model.get(), pool ? pool->get() : nullptr, &session, call);
        return call.give(status, Session(session, model.get()));
    }
    // The memory of the tensor must stay as long as runs read it, or until another is set.
    Result<void> set(const Named &input)
    {
        detail::Call call;
        return call.give(set(call, input));
    }
    // Has the output written to memory of yours.
    Result<void> set_output(const Named &output)
    {
        detail::Call call;
        int          i      = detail::port_of(call, {model_, false}, "output", output.name, output.index);
        HoloStatus   status = i < 0 ? HOLO_BAD_ARGUMENT
                                    : holo_session_set_output(get(), i, const_cast<void *>(output.tensor.data()),
                                                              output.tensor.room(), call);
        return call.give(status);
    }
    // A view of the session's own memory for an input whose sizes are fixed: fill it and run.
    Result<Tensor> input(const char *name) { return own_input(name, -1); }
    Result<Tensor> input(int index) { return own_input(nullptr, index); }

    // Runs with these inputs, and those that were set before.
    Result<void> run(std::initializer_list<Named> inputs = {})
    {
        return run(span<const Named>(inputs.begin(), inputs.size()));
    }
    Result<void> run(span<const Named> inputs)
    {
        detail::Call call;
        HoloStatus   status = HOLO_OK;
        for (std::size_t i = 0; i < inputs.size() && !status; i++) status = set(call, inputs[i]);
        if (!status) status = holo_session_run(get(), call);
        return call.give(status);
    }
    // What the last run gave: a view that lives until the next run.
    Result<Tensor> output(const char *name) const { return result(name, -1); }
    Result<Tensor> output(int index = 0) const { return result(nullptr, index); }

    void         cancel() noexcept { holo_session_cancel(get()); } // from any thread
    Result<void> time_limit(double seconds)
    {
        detail::Call call;
        HoloStatus   status = holo_session_set_time_limit(get(), seconds, call);
        return call.give(status);
    }
    std::size_t memory() const noexcept { return holo_session_memory(get()); }

  private:
    Session(HoloSession *session, const HoloModel *model) noexcept : Handle(session), model_(model) {}
    HoloStatus set(detail::Call &call, const Named &input)
    {
        int i = detail::port_of(call, {model_, true}, "input", input.name, input.index);
        if (i < 0) return HOLO_BAD_ARGUMENT;
        HoloStatus status = input.tensor.check(call, input.what());
        return status ? status : holo_session_set_input(get(), i, input.tensor.get(), call);
    }
    Result<Tensor> own_input(const char *name, int index)
    {
        detail::Call call;
        HoloTensor   view{};
        int          i      = detail::port_of(call, {model_, true}, "input", name, index);
        HoloStatus   status = i < 0 ? HOLO_BAD_ARGUMENT : holo_session_input(get(), i, &view, call);
        return call.give(status, Tensor(view));
    }
    Result<Tensor> result(const char *name, int index) const
    {
        detail::Call call;
        HoloTensor   view{};
        int          i      = detail::port_of(call, {model_, false}, "output", name, index);
        HoloStatus   status = i < 0 ? HOLO_BAD_ARGUMENT : holo_session_output(get(), i, &view, call);
        return call.give(status, Tensor(view));
    }
    const HoloModel *model_ = nullptr;
};

// ---- compiling: link libhologram-compiler, too ---------------------------------------------------

// How to compile. What has no function here is set by a C function on get().
class Compiler : public Handle<HoloCompiler, holo_compiler_destroy>
{
  public:
    using Progress = std::function<void(const char *stage, double fraction)>;
    using Handle::Handle;
    static Result<Compiler> create()
    {
        detail::Call  call;
        HoloCompiler *compiler = nullptr;
        HoloStatus    status   = holo_compiler_create(&compiler);
        return call.give(status, Compiler(compiler));
    }
    Result<void> set_shape(const std::string &input, const Shape &shape)
    {
        detail::Call call;
        HoloStatus   status = holo_compiler_set_shape(get(), input.c_str(), shape.rank(), shape.data(), call);
        return call.give(status);
    }
    // The memory of the tensor must stay as long as the compiler is used.
    Result<void> set_constant(const std::string &input, const Tensor &tensor)
    {
        detail::Call call;
        HoloStatus   status = tensor.check(call, input.c_str());
        if (!status) status = holo_compiler_set_constant(get(), input.c_str(), tensor.get(), call);
        return call.give(status);
    }
    void set_numeric(HoloNumeric numeric) { holo_compiler_set_numeric(get(), numeric); }
    void set_verify(bool on) { holo_compiler_set_verify(get(), on); }
    void set_threads(int threads) { holo_compiler_set_threads(get(), threads); }
    void set_quantize(HoloQuantizeKind kind) { holo_compiler_set_quantize(get(), kind); }
    // A file or folder of samples to calibrate with.
    Result<void> set_calibration(const std::string &path)
    {
        detail::Call call;
        HoloStatus   status = holo_compiler_set_calibration(get(), path.c_str(), call);
        return call.give(status);
    }
    // One sample more to calibrate with; it is copied.
    Result<void> add_sample(std::initializer_list<Named> inputs)
    {
        detail::Call              call;
        HoloStatus                status = HOLO_OK;
        std::vector<HoloRunInput> given;
        for (const Named &input : inputs) {
            if (!status) status = input.tensor.check(call, input.what());
            given.push_back({input.name, input.index, *input.tensor.get()});
        }
        if (!status) status = holo_compiler_add_sample(get(), given.data(), int(given.size()), call);
        return call.give(status);
    }
    // Called with what is being done. An exception that it throws ends the compile, and comes out of it.
    void set_progress(Progress progress)
    {
        watcher_ = std::make_unique<Watcher>(Watcher{get(), std::move(progress), nullptr});
        holo_compiler_set_progress(get(), watcher_->progress ? watch : nullptr, watcher_.get());
    }
    void cancel() noexcept { holo_compiler_cancel(get()); } // from any thread, or a signal handler

    // The model at `path` into an archive.
    Result<Report> compile(const std::string &path, const std::string &out_path) const
    {
        detail::Call call;
        HoloReport  *report = nullptr;
        HoloStatus   status = holo_compile_file(get(), path.c_str(), out_path.c_str(), &report, call);
        rethrow();
        return call.give(status, Report(report));
    }
    // The same without a file: the model is opened.
    Result<Model> compile(const std::string &path) const
    {
        detail::Call call;
        HoloModel   *model  = nullptr;
        HoloStatus   status = holo_compile_model(get(), path.c_str(), &model, nullptr, call);
        rethrow();
        return call.give(status, Model(model));
    }
    // The same of a model file that is in memory.
    Result<Model> compile_memory(span<const std::byte> bytes) const
    {
        detail::Call call;
        HoloModel   *model  = nullptr;
        HoloStatus   status = holo_compile_memory(get(), bytes.data(), bytes.size(), &model, nullptr, call);
        rethrow();
        return call.give(status, Model(model));
    }

  private:
    struct Watcher {
        HoloCompiler      *compiler;
        Progress           progress;
        std::exception_ptr thrown;
    };
#ifdef HOLOGRAM_NO_EXCEPTIONS
    static void watch(void *context, const char *stage, double fraction)
    {
        static_cast<Watcher *>(context)->progress(stage, fraction);
    }
    void rethrow() const noexcept {}
#else
    static void watch(void *context, const char *stage, double fraction)
    {
        auto *watcher = static_cast<Watcher *>(context);
        try {
            if (!watcher->thrown) watcher->progress(stage, fraction);
        } catch (...) {
            watcher->thrown = std::current_exception();
            holo_compiler_cancel(watcher->compiler);
        }
    }
    void rethrow() const
    {
        if (watcher_ && watcher_->thrown) std::rethrow_exception(std::exchange(watcher_->thrown, nullptr));
    }
#endif
    std::unique_ptr<Watcher> watcher_; // stays where it is when the compiler is moved
};

// With all defaults.
inline Result<Report> compile(const std::string &path, const std::string &out_path)
{
    return Compiler().compile(path, out_path);
}
inline Result<Model> compile(const std::string &path)
{
    return Compiler().compile(path);
}

// Tensors with memory of their own, from a file: .npy, .npz, ONNX .pb, or text of numbers.
class Tensors : public Handle<HoloTensors, holo_tensors_destroy>
{
  public:
    using Handle::Handle;
    static Result<Tensors> read(const std::string &path)
    {
        detail::Call call;
        HoloTensors *tensors = nullptr;
        HoloStatus   status  = holo_tensors_read(path.c_str(), nullptr, &tensors, call);
        return call.give(status, Tensors(tensors));
    }
    int            size() const noexcept { return holo_tensors_count(get()); }
    Result<Tensor> operator[](int i) const
    {
        detail::Call call;
        return give(call, holo_tensors_get(get(), i, nullptr),
                    call.fail(HOLO_BAD_ARGUMENT, "there is no tensor %d: there are %d", i, size()));
    }
    Result<Tensor> operator[](const char *name) const
    {
        detail::Call call;
        return give(call, holo_tensors_find(get(), name), call.fail(HOLO_BAD_ARGUMENT, "there is no tensor %s", name));
    }

  private:
    static Result<Tensor> give(detail::Call &call, const HoloTensor *found, HoloStatus status)
    {
        return call.give(found ? HOLO_OK : status, found ? Tensor(*found) : Tensor());
    }
};

// Kernels of a file, a folder or an archive (docs/kernel-language.md), run on tensors.
class Kernels : public Handle<HoloKernels, holo_kernels_close>
{
  public:
    using Handle::Handle;
    static Result<Kernels> open(const std::string &path, HoloNumeric numeric = HOLO_FUSED)
    {
        detail::Call call;
        HoloKernels *kernels = nullptr;
        HoloStatus   status  = holo_kernels_open(path.c_str(), numeric, &kernels, call);
        return call.give(status, Kernels(kernels));
    }
    int  size() const noexcept { return holo_kernels_count(get()); }
    bool info(int index, HoloKernelInfo &out) const noexcept { return holo_kernels_info(get(), index, &out); }
    // Which one has the name, as "vector_add_f32"; -1: none.
    int find(const char *name) const noexcept
    {
        HoloKernelInfo one;
        for (int i = 0; info(i, one); i++)
            if (!std::strcmp(one.name, name)) return i;
        return -1;
    }
    // A tensor for each parameter, in order; scalars have one element.
    Result<void> run(const char *name, std::initializer_list<Tensor> args, const HoloKernelLaunch *launch = nullptr)
    {
        detail::Call call;
        int          index  = find(name);
        HoloStatus   status = index < 0 ? call.fail(HOLO_BAD_ARGUMENT, "there is no kernel %s", name) : HOLO_OK;
        std::vector<const HoloTensor *> list;
        for (const Tensor &tensor : args) {
            if (!status) status = tensor.check(call, name);
            list.push_back(tensor.get());
        }
        if (!status) status = holo_kernels_run(get(), index, list.data(), int(list.size()), launch, call);
        return call.give(status);
    }
};

} // namespace HOLOGRAM_MODE
} // namespace hologram

#endif
