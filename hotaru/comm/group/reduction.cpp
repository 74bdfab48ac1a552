#include "hotaru/comm/group/reduction.h"

#include <algorithm>
#include <complex>
#include <type_traits>

#include "hotaru/core/checks/check.h"

namespace hotaru::comm {

namespace {

/// f(T()) for the C++ type of the elements.
template <class F>
void with_type(DType dtype, const F& f) {
  switch (dtype) {
    case DType::kUInt8:
      return f(uint8_t());
    case DType::kInt8:
      return f(int8_t());
    case DType::kInt16:
      return f(int16_t());
    case DType::kUInt16:
      return f(uint16_t());
    case DType::kInt32:
      return f(int32_t());
    case DType::kUInt32:
      return f(uint32_t());
    case DType::kInt64:
      return f(int64_t());
    case DType::kUInt64:
      return f(uint64_t());
    case DType::kFloat16:
      return f(Half());
    case DType::kBFloat16:
      return f(BFloat16());
    case DType::kFloat32:
      return f(float());
    case DType::kFloat64:
      return f(double());
    case DType::kComplex64:
      return f(std::complex<float>());
    case DType::kComplex128:
      return f(std::complex<double>());
    case DType::kBool:
      return f(bool());
    default:
      break;
  }
  HOTARU_CHECK_AS(NotImplementedError, false, "elements of type ",
                  dtype_name(dtype), " cannot be reduced over processes");
}

template <class T>
constexpr bool kComplex = std::is_same_v<T, std::complex<float>> ||
                          std::is_same_v<T, std::complex<double>>;

template <class T, class F>
void combine(T* __restrict into, const T* __restrict other, int64_t count,
             const F& f) {
  for (int64_t i = 0; i < count; ++i) into[i] = T(f(into[i], other[i]));
}

template <class T>
void reduce_as(ReduceKind kind, T* into, const T* other, int64_t count) {
  switch (kind) {
    case ReduceKind::kSum:
    case ReduceKind::kAverage:
    case ReduceKind::kScaledSum:
      return combine(into, other, count, [](T a, T b) { return a + b; });
    case ReduceKind::kProduct:
      return combine(into, other, count, [](T a, T b) { return a * b; });
    case ReduceKind::kMin:
      if constexpr (!kComplex<T>)
        return combine(into, other, count,
                       [](T a, T b) { return b < a ? b : a; });
      break;
    case ReduceKind::kMax:
      if constexpr (!kComplex<T>)
        return combine(into, other, count,
                       [](T a, T b) { return a < b ? b : a; });
      break;
    case ReduceKind::kBitAnd:
      if constexpr (std::is_integral_v<T>)
        return combine(into, other, count, [](T a, T b) { return a & b; });
      break;
    case ReduceKind::kBitOr:
      if constexpr (std::is_integral_v<T>)
        return combine(into, other, count, [](T a, T b) { return a | b; });
      break;
    case ReduceKind::kBitXor:
      if constexpr (std::is_integral_v<T>)
        return combine(into, other, count, [](T a, T b) { return a ^ b; });
      break;
  }
}

/// Integers are divided as PyTorch does it in place: towards zero.
template <class T>
T divided(T value, int by) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return T(float(value) / float(by));
  else
    return T(value / T(by));
}

}  // namespace

const char* Reduction::name() const {
  constexpr const char* kNames[] = {"SUM", "AVG",  "PRODUCT",
                                    "MIN", "MAX",  "BAND",
                                    "BOR", "BXOR", "PREMUL_SUM"};
  return kNames[size_t(kind)];
}

void Reduction::check(DType dtype, const char* op) const {
  const bool bits = kind == ReduceKind::kBitAnd || kind == ReduceKind::kBitOr ||
                    kind == ReduceKind::kBitXor;
  HOTARU_CHECK(!bits || !(is_floating_point(dtype) || is_complex(dtype)), op,
               ": Cannot use ReduceOp.", name(), " with non-integral dtype (",
               dtype_name(dtype), ")");
  const bool order = kind == ReduceKind::kMin || kind == ReduceKind::kMax;
  HOTARU_CHECK_AS(ValueError, !order || !is_complex(dtype), op, ": reduceop ",
                  name(), " does not support complex tensors");
  with_type(dtype, [](auto) {});
}

void Reduction::prepare(DType dtype, void* data, int64_t count) const {
  if (kind != ReduceKind::kScaledSum) return;
  with_type(dtype, [&]<class T>(T) {
    auto* values = static_cast<T*>(data);
    for (int64_t i = 0; i < count; ++i)
      if constexpr (kComplex<T>)
        values[i] *= typename T::value_type(factor);
      else
        values[i] = T(double(values[i]) * factor);
  });
}

void Reduction::conclude(DType dtype, void* data, int64_t count,
                         int ranks) const {
  if (kind != ReduceKind::kAverage) return;
  with_type(dtype, [&]<class T>(T) {
    auto* values = static_cast<T*>(data);
    for (int64_t i = 0; i < count; ++i) values[i] = divided(values[i], ranks);
  });
}

void reduce_into(const Reduction& reduction, DType dtype, void* into,
                 const void* other, int64_t count) {
  with_type(dtype, [&]<class T>(T) {
    reduce_as(reduction.kind, static_cast<T*>(into),
              static_cast<const T*>(other), count);
  });
}

}  // namespace hotaru::comm
