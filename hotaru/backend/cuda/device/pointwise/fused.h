// Code that texts of fused kernels are written with; see fused/element_text.h.
#pragma once

#include "hotaru/backend/common/create/convert.h"
#include "hotaru/backend/common/pointwise/formulas.h"
#include "hotaru/backend/cuda/device/norm/channel.h"
#include "hotaru/backend/cuda/device/platform.h"
#include "hotaru/backend/cuda/params/pointwise/fused.h"

namespace hotaru::cuda {

/// The formula object of a part, or its attributes.
template <class F, class Params>
HOTARU_DEVICE inline F formula_at(const Params& p, int i) {
  if constexpr (std::is_empty_v<F>)
    return F{};
  else
    return *reinterpret_cast<const F*>(p.formula[i]);
}
template <class M, class Params>
HOTARU_DEVICE inline M number_at(const Params& p, int i) {
  return *reinterpret_cast<const M*>(p.number[i]);
}

/// An element as arithmetic takes it.
template <class T>
HOTARU_DEVICE inline OpMath<T> element(const void* at) {
  return widen<T>(*static_cast<const Stored<T>*>(at));
}
/// Value that a later part reads of a result: what memory would have held. The
/// compiler may not multiply and add at once over this border, as separate
/// kernels do not.
template <class T, class V>
HOTARU_DEVICE inline OpMath<T> rounded(V x) {
  OpMath<T> out = widen<T>(narrow<T>(OpMath<T>(x)));
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, float>)
    asm("" : "+f"(out));
  else if constexpr (std::is_same_v<T, double>)
    asm("" : "+d"(out));
#endif
  return out;
}

}  // namespace hotaru::cuda
