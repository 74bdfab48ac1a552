// Conversions from and to dtypes that are only stored: each goes through the
// type that carries it, so that there is one loop for each of them and not one
// for each pair.
#include <algorithm>
#include <array>

#include "hotaru/backend/cpu/create/cast.h"
#include "hotaru/core/rare.h"

namespace hotaru::cpu {
namespace {

template <class To, class From>
To converted(From x) {
  // Beyond int64 a uint64 is what its value says, below it wraps.
  if constexpr (std::is_same_v<To, uint64_t> && std::is_same_v<From, double>)
    return x >= 0x1p63 ? uint64_t(x) : uint64_t(truncated(x));
  else
    return static_cast<To>(x);
}

template <class To, class From>
void step(const void*, char* const* p, const int64_t* s, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    *reinterpret_cast<To*>(p[0] + i * s[0]) =
        converted<To>(*reinterpret_cast<const From*>(p[1] + i * s[1]));
}

template <class T>
struct CarrierOf {
  using type = std::conditional_t<std::is_integral_v<T>, int64_t, float>;
};
template <>
struct CarrierOf<uint16_t> {
  using type = int32_t;
};
template <>
struct CarrierOf<ComplexHalf> {
  using type = std::complex<float>;
};
template <class T>
using Carrier = typename CarrierOf<T>::type;

/// Up to three conversions, one behind the other.
struct Chain {
  std::array<LoopNest::Inner, 3> steps{};
  std::array<int8_t, 3> sizes{};  // of what each gives
  int8_t count = 0;

  void add(LoopNest::Inner step, DType to) {
    steps[size_t(count)] = step;
    sizes[size_t(count++)] = int8_t(itemsize(to));
  }

  static void run(const void* context, char* const* p, const int64_t* s,
                  int64_t n) {
    const auto& chain = *static_cast<const Chain*>(context);
    constexpr int64_t kRun = 512;
    alignas(16) char room[2][kRun * 8];  // carriers have 8 bytes at most
    for (int64_t i = 0; i < n; i += kRun) {
      const int64_t count = std::min(kRun, n - i);
      char* from = p[1] + i * s[1];
      int64_t stride = s[1];
      for (size_t k = 0; k < size_t(chain.count); ++k) {
        const bool last = k + 1 == size_t(chain.count);
        char* to = last ? p[0] + i * s[0] : room[k % 2];
        const int64_t by = last ? s[0] : chain.sizes[k];
        char* const ends[] = {to, from};
        const int64_t strides[] = {by, stride};
        chain.steps[k](nullptr, ends, strides, count);
        from = to;
        stride = by;
      }
    }
  }
};

/// uint64 beside floats goes by its value, not by the bits of int64.
bool by_value(DType rare, DType other) {
  return rare == DType::kUInt64 && is_differentiable(other);
}

}  // namespace

Elementwise rare_cast(DType to, DType from) {
  if (is_stored_only(from) || is_stored_only(to))
    refuse_dtype("copy_", is_stored_only(from) ? from : to);
  Chain chain;
  DType at = from;
  const auto go = [&](LoopNest::Inner step, DType next) {
    chain.add(step, next);
    at = next;
  };
  if (by_value(from, to)) {
    const bool wide = to == DType::kFloat64 || to == DType::kComplex128;
    wide ? go(&step<double, uint64_t>, DType::kFloat64)
         : go(&step<float, uint64_t>, DType::kFloat32);
  } else if (is_rare(from)) {
    visit_if_listed(RareTypes{}, from, [&]<class T>() {
      go(&step<Carrier<T>, T>, carrier(from));
    });
  }
  const DType last = by_value(to, at) ? DType::kFloat64 : carrier(to);
  if (at != last) go(cast_loop(last, at), last);
  if (last == DType::kFloat64 && to == DType::kUInt64)
    go(&step<uint64_t, double>, to);
  else if (is_rare(to))
    visit_if_listed(RareTypes{}, to,
                    [&]<class T>() { go(&step<T, Carrier<T>>, to); });
  return {&Chain::run, chain};
}

}  // namespace hotaru::cpu
