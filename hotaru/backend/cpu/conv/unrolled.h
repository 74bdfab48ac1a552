// Convolution of any dtype by products with unrolled windows: what serves where
// nothing faster does.
#pragma once

#include "hotaru/backend/cpu/conv/windows.h"

namespace hotaru::cpu {

/// y from x and w; the bias of y's channels may be null.
template <class T>
void unrolled_forward(const Geometry& g, T* y, const T* x, const T* w,
                      const T* bias);
/// x from y and w; the bias of x's channels may be null.
template <class T>
void unrolled_data(const Geometry& g, T* x, const T* y, const T* w,
                   const T* bias);
/// w from y and x.
template <class T>
void unrolled_weight(const Geometry& g, T* w, const T* y, const T* x);

}  // namespace hotaru::cpu
