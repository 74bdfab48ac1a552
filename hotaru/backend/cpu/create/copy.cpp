// Copy with cast, and fill.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "hotaru/backend/common/create/convert.h"
#include "hotaru/backend/common/elementwise.h"
#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/pointwise/pointwise.h"
#include "hotaru/backend/cpu/create/block_copy.h"
#include "hotaru/backend/cpu/create/cast.h"
#include "hotaru/backend/cpu/create/move_simd.h"
#include "hotaru/backend/cpu/create/repeat_copy.h"
#include "hotaru/backend/cpu/create/transpose.h"
#include "hotaru/backend/cpu/independent.h"
#include "hotaru/backend/cpu/simd/reduced_simd.h"
#include "hotaru/core/rare.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

using formulas::convert;

template <class To, class From>
[[gnu::noinline]] void convert_loop(const void*, char* const* p,
                                    const int64_t* s, int64_t n);

/// Converts 16-bit floats, which are computed with as float: vectors widen and
/// narrow them, and other types need no such code of their own.
template <class To, class From>
void convert_by_floats(char* const* p, int64_t n) {
  constexpr int64_t kBlock = 256;
  constexpr int64_t kIn[] = {sizeof(float), sizeof(From)};
  constexpr int64_t kOut[] = {sizeof(To), sizeof(float)};
  float floats[kBlock];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t some = std::min(kBlock, n - i);
    auto* const via = reinterpret_cast<char*>(floats);
    char* const in[] = {via, p[1] + i * int64_t(sizeof(From))};
    char* const to[] = {p[0] + i * int64_t(sizeof(To)), via};
    convert_loop<float, From>(nullptr, in, kIn, some);
    convert_loop<To, float>(nullptr, to, kOut, some);
  }
}

template <class To, class From>
void convert_loop(const void*, char* const* p, const int64_t* s, int64_t n) {
  if (s[0] == sizeof(To) && s[1] == sizeof(From)) {
    auto* out = reinterpret_cast<To*>(p[0]);
    const auto* x = reinterpret_cast<const From*>(p[1]);
    if constexpr (kIsReduced<From> && std::is_same_v<To, float>)
      return widen(x, out, n);
    if constexpr (kIsReduced<To> && std::is_same_v<From, float>)
      return narrow(x, out, n);
    if constexpr (std::is_same_v<To, int32_t> && std::is_same_v<From, float>)
      return truncate_floats(x, out, n);
    if constexpr ((kIsReduced<From> ||
                   kIsReduced<To>)&&!std::is_same_v<From, To>)
      return convert_by_floats<To, From>(p, n);
    HOTARU_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) out[i] = convert<To>(x[i]);
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    *reinterpret_cast<To*>(p[0] + i * s[0]) =
        convert<To>(*reinterpret_cast<const From*>(p[1] + i * s[1]));
}

template <class Word>
void move_loop(const void*, char* const* p, const int64_t* s, int64_t n) {
  if (s[0] == sizeof(Word) && s[1] == sizeof(Word)) {
    std::memmove(p[0], p[1], size_t(n) * sizeof(Word));
    return;
  }
  if (s[0] == sizeof(Word) && s[1] == 0) {
    Word value;
    std::memcpy(&value, p[1], sizeof(Word));
    std::fill_n(reinterpret_cast<Word*>(p[0]), n, value);
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(p[0] + i * s[0], p[1] + i * s[1], sizeof(Word));
}

struct Word16 {
  int64_t low, high;
};

LoopNest::Inner mover(size_t item) {
  switch (item) {
    case 1:
      return &move_loop<int8_t>;
    case 2:
      return &move_loop<int16_t>;
    case 4:
      return &move_loop<int32_t>;
    case 8:
      return &move_loop<int64_t>;
    default:
      return &move_loop<Word16>;
  }
}

/// The bytes of a copied bool are 0 and 1, whatever they were.
bool moves(const Tensor& out, const Tensor& x) {
  return out.dtype() == x.dtype() && x.dtype() != DType::kBool;
}

std::optional<Elementwise> copy_loop(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &x = call.tensor(1);
  if (TransposeCopy::of(out, x)) return {};
  if (moves(out, x)) {
    if (BlockCopy::of(out, x) || RepeatCopy::of(out, x)) return {};
    return Elementwise(mover(itemsize(x.dtype())));
  }
  if (is_rare(out.dtype()) || is_rare(x.dtype()))
    return rare_cast(out.dtype(), x.dtype());
  return Elementwise(cast_loop(out.dtype(), x.dtype()));
}

/// Operands: destination, source (broadcast to it).
void copy(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &x = call.tensor(1);
  if (const auto transposed = TransposeCopy::of(out, x))
    return transposed->run(out, x);
  if (moves(out, x)) {
    if (const auto blocks = BlockCopy::of(out, x)) return blocks->run(out, x);
    if (const auto repeat = RepeatCopy::of(out, x)) return repeat->run(out, x);
  }
  run_elementwise(call, *copy_loop(call));
}

template <class T>
void fill_loop(const void* context, char* const* p, const int64_t* s,
               int64_t n) {
  const T value = *static_cast<const T*>(context);
  if (s[0] == sizeof(T)) {
    // The C library fills long memory without reading it first.
    const auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(value);
    if (std::ranges::all_of(bytes, [](char b) { return b == 0; }))
      std::memset(p[0], 0, size_t(n) * sizeof(T));
    else
      std::fill_n(reinterpret_cast<T*>(p[0]), n, value);
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    *reinterpret_cast<T*>(p[0] + i * s[0]) = value;
}

template <class T>
T rare_number(const Scalar& value) {
  if constexpr (std::is_same_v<T, ComplexHalf>)
    return value.to<std::complex<float>>();
  else if constexpr (std::is_integral_v<T>)
    return value.to<T>();
  else
    return value.to<float>();
}

/// Operand: the tensor. Attributes: PointwiseNumbers, the value in a.
std::optional<Elementwise> fill(const KernelCall& call) {
  std::optional<Elementwise> out;
  const DType dtype = call.tensor(0).dtype();
  if (is_rare(dtype)) {
    visit_dtype(RareTypes{}, dtype, "fill_cpu", [&]<class T>() {
      const Scalar& value = call.attributes<PointwiseNumbers>().a;
      out.emplace(&fill_loop<T>, rare_number<T>(value));
    });
    return out;
  }
  visit_dtype(AllTypes{}, call.tensor(0).dtype(), "fill_", [&]<class T>() {
    out.emplace(&fill_loop<T>, call.attributes<PointwiseNumbers>().a.to<T>());
  });
  return out;
}

constexpr KernelTypes<RealTypes> kArangeTypes{0, "arange_cpu"};

/// Operand: a row-major vector. Attributes: PointwiseNumbers, start and step.
/// Integers wrap around. Floats are counted in double from every eighth one,
/// itself rounded: PyTorch's values where its vectors hold eight.
void arange(const KernelCall& call) {
  const Tensor& out = call.tensor(0);
  const auto& numbers = call.attributes<PointwiseNumbers>();
  kArangeTypes.visit(call, [&]<class T>() {
    T* data = out.data<T>();
    const int64_t n = out.numel();
    if constexpr (std::is_integral_v<T>) {
      const auto start = uint64_t(numbers.a.to<int64_t>());
      const auto step = uint64_t(numbers.b.to<int64_t>());
      parallel_for(0, n, kGrainSize, [&](int64_t begin, int64_t end) {
        // Sums, not products, and four that do not wait for each other.
        uint64_t next = start + uint64_t(begin) * step;
        int64_t i = begin;
        for (; i + 4 <= end; i += 4, next += 4 * step) {
          data[i] = T(next);
          data[i + 1] = T(next + step);
          data[i + 2] = T(next + 2 * step);
          data[i + 3] = T(next + 3 * step);
        }
        for (; i < end; ++i, next += step) data[i] = T(next);
      });
    } else {
      using M = std::conditional_t<kIsReduced<T>, float, double>;
      constexpr int64_t kRun = std::is_same_v<T, float> ? 8 : 1;
      const M start = numbers.a.to<M>(), step = numbers.b.to<M>();
      int64_t i = 0;
      for (; i + kRun <= n; i += kRun) {
        const M first = M(T(start + step * M(i)));
        for (int64_t k = 0; k < kRun; ++k) data[i + k] = T(first + step * M(k));
      }
      for (; i < n; ++i) data[i] = T(start + step * M(i));
    }
  });
}

constexpr KernelTypes<NumberTypes> kLinspaceTypes{0, "linspace_cpu"};

/// The i-th step from `from` on. 16-bit floats round after each operation, and
/// integers at the end, towards zero.
template <class T>
T stepped(T from, double step, int64_t i) {
  if constexpr (kIsReduced<T>)
    return T(float(from) +
             float(T(float(T(float(step))) * float(T(float(i))))));
  else if constexpr (std::is_integral_v<T>)
    return T(int64_t(double(from) + step * double(i)));
  else
    return T(double(from) + step * double(i));
}

template <class T>
void complex_linspace(T* data, int64_t n, T start, T end) {
  const T step = n > 1 ? (end - start) / T(n - 1) : T(0);
  for (int64_t i = 0; i < n; ++i)
    data[i] =
        i < n / 2 || n == 1 ? start + step * T(i) : end - step * T(n - i - 1);
}

/// Operand: a row-major vector. Attributes: PointwiseNumbers, start and end.
/// Symmetric: the second half counts back from the end.
void linspace(const KernelCall& call) {
  const Tensor& out = call.tensor(0);
  const auto& numbers = call.attributes<PointwiseNumbers>();
  kLinspaceTypes.visit(call, [&]<class T>() {
    if constexpr (kIsComplex<T>) {
      complex_linspace(out.data<T>(), out.numel(), numbers.a.to<T>(),
                       numbers.b.to<T>());
    } else {
      // Steps are computed in this type; bounds have the elements' precision.
      using M = std::conditional_t<std::is_integral_v<T>, double, OpMath<T>>;
      const int64_t n = out.numel();
      const T start = numbers.a.to<T>(), end = numbers.b.to<T>();
      M step = n > 1 ? M(M(end) - M(start)) : M(0);
      if constexpr (kIsReduced<T>)
        step = n > 1 ? float(T(float(T(step)) / float(T(float(n - 1))))) : 0;
      else
        step = n > 1 ? step / M(n - 1) : M(0);
      T* data = out.data<T>();
      for (int64_t i = 0; i < n; ++i)
        data[i] = i < n / 2 ? stepped(start, double(step), i)
                            : stepped(end, -double(step), n - i - 1);
      if (n == 1) data[0] = start;
    }
  });
}

const ElementwiseRegistration<copy_loop> registered_copy("copy_", nullptr,
                                                         &copy);
const ElementwiseRegistration<fill> registered_fill("fill_");
HOTARU_KERNEL(kCPU, "arange", arange, check_types<kArangeTypes>);
HOTARU_KERNEL(kCPU, "linspace", linspace, check_types<kLinspaceTypes>);

}  // namespace

LoopNest::Inner cast_loop(DType to, DType from) {
  LoopNest::Inner inner = nullptr;
  visit_dtype(AllTypes{}, to, "copy_", [&]<class To>() {
    visit_dtype(AllTypes{}, from, "copy_",
                [&]<class From>() { inner = &convert_loop<To, From>; });
  });
  return inner;
}

}  // namespace hotaru::cpu
