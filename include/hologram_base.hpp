// hologram_base.hpp - a part of hologram.hpp, which includes it: errors, spans, element types, tensors, and owners of C objects.
#ifndef HOLOGRAM_BASE_HPP
#define HOLOGRAM_BASE_HPP

#include "hologram.h"
#include "hologram_compiler.h"

#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#if defined __has_include
#if __has_include(<span>) && __cplusplus >= 202002L
#include <span>
#define HOLOGRAM_HAS_SPAN 1
#endif
#endif

#if !defined HOLOGRAM_NO_EXCEPTIONS && !defined __cpp_exceptions
#define HOLOGRAM_NO_EXCEPTIONS 1
#endif

// Sources of both kinds can be linked into one program.
#ifdef HOLOGRAM_NO_EXCEPTIONS
#define HOLOGRAM_MODE results
#else
#define HOLOGRAM_MODE exceptions
#endif

namespace hologram
{
inline namespace HOLOGRAM_MODE
{

// ---- errors ------------------------------------------------------------------------------------

class Error : public std::runtime_error
{
  public:
    Error(HoloStatus status, const char *text)
        : std::runtime_error(text && *text ? text : holo_status_text(status)), status_(status)
    {
    }
    HoloStatus status() const noexcept { return status_; }

  private:
    HoloStatus status_;
};

#ifdef HOLOGRAM_NO_EXCEPTIONS
// A value, or why there is none.
template <class T> class [[nodiscard]] Expected
{
  public:
    Expected(T value) : it_(std::in_place_index<0>, std::move(value)) {}
    Expected(Error error) : it_(std::in_place_index<1>, std::move(error)) {}
    bool         has_value() const noexcept { return it_.index() == 0; }
    explicit     operator bool() const noexcept { return has_value(); }
    T           &operator*()           &{ return *std::get_if<0>(&it_); }
    const T     &operator*() const     &{ return *std::get_if<0>(&it_); }
    T          &&operator*()          &&{ return std::move(*std::get_if<0>(&it_)); }
    T           *operator->() { return std::get_if<0>(&it_); }
    const T     *operator->() const { return std::get_if<0>(&it_); }
    const Error &error() const { return *std::get_if<1>(&it_); }

  private:
    std::variant<T, Error> it_;
};

template <> class [[nodiscard]] Expected<void>
{
  public:
    Expected() = default;
    Expected(Error error) : error_(std::make_unique<Error>(std::move(error))) {}
    bool         has_value() const noexcept { return !error_; }
    explicit     operator bool() const noexcept { return has_value(); }
    const Error &error() const { return *error_; }

  private:
    std::unique_ptr<Error> error_;
};

template <class T> using Result = Expected<T>;
#else
template <class T> using Result = T;
#endif

namespace detail
{

template <class T> [[nodiscard]] inline Result<T> failed(Error error)
{
#ifdef HOLOGRAM_NO_EXCEPTIONS
    return Result<T>(std::move(error));
#else
    throw error;
#endif
}

// One call of the C API, or several of which the first failure counts.
class Call
{
  public:
    Call()
    {
        error_.status  = HOLO_OK;
        error_.text[0] = 0;
    }
    operator HoloError *() noexcept { return &error_; }

    template <class... Args> HoloStatus fail(HoloStatus status, const char *format, Args... args)
    {
        error_.status = status;
        std::snprintf(error_.text, sizeof error_.text, format, args...);
        return status;
    }
    // Of a call that succeeded, the value.
    template <class T> Result<T> give(HoloStatus status, T value)
    {
        if (status) return failed<T>(Error(status, error_.text));
        return Result<T>(std::move(value));
    }
    Result<void> give(HoloStatus status)
    {
        if (status) return failed<void>(Error(status, error_.text));
        return Result<void>();
    }

  private:
    HoloError error_;
};

} // namespace detail

// ---- spans and shapes --------------------------------------------------------------------------

#ifdef HOLOGRAM_HAS_SPAN
template <class T> using span = std::span<T>;
#else
// The part of std::span that is used here.
template <class T> class span
{
  public:
    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <std::size_t N> constexpr span(T (&array)[N]) noexcept : data_(array), size_(N) {}
    template <class C, class = std::enable_if_t<std::is_convertible_v<decltype(std::declval<C &>().data()), T *>>>
    constexpr span(C &&from) : data_(from.data()), size_(from.size())
    {
    }
    constexpr T          *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
    constexpr bool        empty() const noexcept { return !size_; }
    constexpr T          &operator[](std::size_t i) const { return data_[i]; }
    constexpr T          *begin() const noexcept { return data_; }
    constexpr T          *end() const noexcept { return data_ + size_; }

  private:
    T          *data_ = nullptr;
    std::size_t size_ = 0;
};
#endif

// The sizes of a tensor, as {1, 3, 224, 224} or from any range of int64_t.
class Shape
{
  public:
    Shape(std::initializer_list<std::int64_t> dims) : Shape(dims.begin(), dims.size()) {}
    Shape(span<const std::int64_t> dims) : Shape(dims.data(), dims.size()) {}
    Shape(const std::vector<std::int64_t> &dims) : Shape(dims.data(), dims.size()) {}
    int                 rank() const noexcept { return rank_; } // -1: there are more dimensions than a tensor can have
    const std::int64_t *data() const noexcept { return dim_; }

  private:
    Shape(const std::int64_t *dims, std::size_t rank) : rank_(rank <= HOLO_MAX_RANK ? int(rank) : -1)
    {
        for (int i = 0; i < rank_; i++) dim_[i] = dims[i];
    }
    std::int64_t dim_[HOLO_MAX_RANK] = {};
    int          rank_;
};

// ---- element types -----------------------------------------------------------------------------

enum class Dtype : std::uint8_t {
    none       = HOLO_NONE,
    f32        = HOLO_F32,
    u8         = HOLO_U8,
    i8         = HOLO_I8,
    u16        = HOLO_U16,
    i16        = HOLO_I16,
    i32        = HOLO_I32,
    i64        = HOLO_I64,
    string     = HOLO_STRING,
    bool_      = HOLO_BOOL,
    f16        = HOLO_F16,
    f64        = HOLO_F64,
    u32        = HOLO_U32,
    u64        = HOLO_U64,
    c64        = HOLO_C64,
    c128       = HOLO_C128,
    bf16       = HOLO_BF16,
    f8e4m3fn   = HOLO_F8E4M3FN,
    f8e4m3fnuz = HOLO_F8E4M3FNUZ,
    f8e5m2     = HOLO_F8E5M2,
    f8e5m2fnuz = HOLO_F8E5M2FNUZ,
    u4         = HOLO_U4,
    i4         = HOLO_I4,
    f4e2m1     = HOLO_F4E2M1,
    f8e8m0     = HOLO_F8E8M0,
    u2         = HOLO_U2,
    i2         = HOLO_I2,
    f6e2m3     = HOLO_F6E2M3,
    f6e3m2     = HOLO_F6E3M2,
};
static_assert(HOLO_DTYPE_COUNT == 29, "a type of the C API is missing here");

inline const char *name(Dtype dtype)
{
    return holo_dtype_name(HoloDtype(dtype));
} // "f32"

// The type of T; Dtype::none: T is no element. Types that C++ lacks (f16, bf16 ...) are given by name.
template <class T> constexpr Dtype dtype_of()
{
    using V = std::remove_cv_t<T>;
    if constexpr (std::is_same_v<V, bool>)
        return Dtype::bool_;
    else if constexpr (std::is_same_v<V, float>)
        return Dtype::f32;
    else if constexpr (std::is_same_v<V, double>)
        return Dtype::f64;
    else if constexpr (std::is_same_v<V, std::complex<float>>)
        return Dtype::c64;
    else if constexpr (std::is_same_v<V, std::complex<double>>)
        return Dtype::c128;
    else if constexpr (std::is_same_v<V, HoloString>)
        return Dtype::string;
    else if constexpr (std::is_integral_v<V> && std::is_signed_v<V>)
        return sizeof(V) == 1 ? Dtype::i8 : sizeof(V) == 2 ? Dtype::i16 : sizeof(V) == 4 ? Dtype::i32 : Dtype::i64;
    else if constexpr (std::is_integral_v<V>)
        return sizeof(V) == 1 ? Dtype::u8 : sizeof(V) == 2 ? Dtype::u16 : sizeof(V) == 4 ? Dtype::u32 : Dtype::u64;
    else
        return Dtype::none;
}

// ---- tensors -----------------------------------------------------------------------------------

// A view of memory: dense, row-major. It lives as long as what it views.
class Tensor
{
  public:
    Tensor() noexcept : view_{} { view_.rank = -1; }
    explicit Tensor(const HoloTensor &view) noexcept : view_(view) {}
    // Of memory that is large enough for the shape.
    template <class T> Tensor(T *data, const Shape &shape) : Tensor(dtype_of<T>(), data, shape)
    {
        static_assert(dtype_of<T>() != Dtype::none, "name the type of the elements: Tensor(Dtype::f16, data, shape)");
    }
    Tensor(Dtype dtype, const void *data, const Shape &shape, std::size_t bytes = SIZE_MAX) : view_{}, bytes_(bytes)
    {
        view_.dtype = std::uint8_t(dtype);
        view_.rank  = std::int8_t(shape.rank());
        view_.data  = const_cast<void *>(data);
        for (int i = 0; i < shape.rank(); i++) view_.dim[i] = shape.data()[i];
    }
    // Of a vector, an array or a span; using it fails if the shape has more elements than there are.
    template <class C, class T = std::remove_pointer_t<decltype(std::declval<C &>().data())>>
    Tensor(C &&data, const Shape &shape) : Tensor(dtype_of<T>(), data.data(), shape, data.size() * sizeof(T))
    {
        static_assert(dtype_of<T>() != Dtype::none, "name the type of the elements: Tensor(Dtype::f16, data, shape)");
    }

    HoloKind                 kind() const noexcept { return HoloKind(view_.kind); }
    Dtype                    dtype() const noexcept { return Dtype(view_.dtype); }
    int                      rank() const noexcept { return view_.rank; }
    span<const std::int64_t> shape() const noexcept
    {
        return {view_.dim, std::size_t(view_.rank < 0 ? 0 : view_.rank)};
    }
    std::int64_t      count() const noexcept { return holo_tensor_count(&view_); } // elements; -1: not known
    std::size_t       bytes() const noexcept { return holo_tensor_bytes(&view_); }
    const void       *data() const noexcept { return view_.data; }
    const HoloTensor *get() const noexcept { return &view_; }

    // The elements, which must be of this type.
    template <class T> Result<span<T>> values() const
    {
        detail::Call call;
        HoloStatus   status = HOLO_OK;
        if (kind() != HOLO_TENSOR || dtype() != dtype_of<T>() || count() < 0)
            status =
                call.fail(HOLO_BAD_ARGUMENT, "elements of %s were asked for, and this is %s of %s", name(dtype_of<T>()),
                          kind() == HOLO_TENSOR ? "a tensor" : "no tensor, but", name(dtype()));
        std::size_t size = status ? 0 : std::size_t(count());
        return call.give(status, span<T>(static_cast<T *>(view_.data), size));
    }
    // The i-th value of a sequence or an optional; of a map, keys and values.
    Result<Tensor> item(std::int64_t i) const
    {
        detail::Call call;
        std::int64_t size   = kind() == HOLO_TENSOR ? 0 : kind() == HOLO_MAP ? 2 : view_.dim[0];
        HoloStatus   status = HOLO_OK;
        if (i < 0 || i >= size)
            status = call.fail(HOLO_BAD_ARGUMENT, "there is no item %lld of %lld", (long long)i, (long long)size);
        return call.give(status, status ? Tensor() : Tensor(static_cast<const HoloTensor *>(view_.data)[i]));
    }
    // HOLO_OK: the memory is large enough for the shape.
    HoloStatus check(detail::Call &call, const char *what) const
    {
        if (view_.rank < 0)
            return call.fail(HOLO_BAD_INPUT, "%s: a tensor has 0 to %d dimensions", what, int(HOLO_MAX_RANK));
        if (bytes_ != SIZE_MAX && (count() < 0 || bytes() > bytes_))
            return call.fail(HOLO_BAD_INPUT, "%s: the shape takes %zu bytes, and there are %zu", what, bytes(), bytes_);
        return HOLO_OK;
    }
    std::size_t room() const noexcept { return bytes_ == SIZE_MAX ? bytes() : bytes_; } // bytes of memory

  private:
    HoloTensor  view_;
    std::size_t bytes_ = SIZE_MAX; // that are there; SIZE_MAX: nobody said
};

// A tensor and which input or output it is.
struct Named {
    Named(const char *which, Tensor view) : name(which), index(-1), tensor(view) {}
    Named(const std::string &which, Tensor view) : Named(which.c_str(), view) {}
    Named(int which, Tensor view) : name(nullptr), index(which), tensor(view) {}
    const char *what() const noexcept { return name ? name : "a tensor"; }
    const char *name; // NULL: `index` says which
    int         index;
    Tensor      tensor;
};

// ---- objects of the C API ----------------------------------------------------------------------

// Owns a C object.
template <class T, void (*destroy)(T *)> class Handle
{
  public:
    Handle() noexcept = default;
    explicit Handle(T *object) noexcept : object_(object) {}
    Handle(Handle &&other) noexcept : object_(other.release()) {}
    Handle &operator=(Handle &&other) noexcept
    {
        if (this != &other) reset(other.release());
        return *this;
    }
    ~Handle() { reset(nullptr); }
    T       *get() const noexcept { return object_; }
    explicit operator bool() const noexcept { return object_; }
    T       *operator->() const noexcept { return object_; }
    T       *release() noexcept { return std::exchange(object_, nullptr); }

  private:
    void reset(T *object) noexcept
    {
        if (object_) destroy(object_);
        object_ = object;
    }
    T *object_ = nullptr;
};

using Context  = Handle<HoloContext, holo_context_destroy>;
using Executor = Handle<HoloExecutor, holo_executor_destroy>;
using Buffer   = Handle<HoloBuffer, holo_buffer_destroy>;
using Portable = Handle<HoloPortable, holo_portable_destroy>;
using Report   = Handle<HoloReport, holo_report_destroy>; // report->verified
using Listing  = Handle<HoloListing, holo_listing_close>;
using Source   = Handle<HoloSource, holo_source_close>;

} // namespace HOLOGRAM_MODE
} // namespace hologram

#endif
