// The kernel "weight_only_linear".
#include "hotaru/backend/common/matmul/weight_only.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/matmul/areas.h"
#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/backend/cpu/matmul/narrow/int4_quads.h"
#include "hotaru/backend/cpu/matmul/narrow/int8_quads.h"
#include "hotaru/backend/cpu/matmul/narrow/weight_only_rows.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/backend/cpu/simd/reduced_simd.h"

namespace hotaru::cpu {
namespace {

using Layout = NarrowLayout;

// Rows of x up to which weights are widened in registers; of more, in panels.
constexpr int64_t kFewRows = 8;
// Rows of the weights that are cut apart for threads and panels at once.
constexpr int64_t kRowUnit = kInt4Rows;
// Bytes of a panel of floats, about.
constexpr int64_t kPanelSize = 1 << 21;

/// Product with x and results in T, scales in S.
template <class T, class S>
struct Product {
  const WeightOnlyAttributes& g;
  FewRows x;   // in float; of few rows in the order of what multiplies them
  bool quads;  // x is in that of int4_quads() or int8_quads()
  const uint8_t* w;
  const S* scales;
  const T* bias;
  float* sums;  // [m, n], which may be out
  T* out;

  bool few() const { return g.m <= kFewRows && g.layout != Layout::kBlocks; }
  FewSums sums_at(int64_t row) const { return {sums + row, g.n}; }
  /// kInt4's rows whose scales and zeros lie side by side in each group.
  int64_t together() const { return g.scales_by_blocks ? kInt4Rows : g.n; }
  const S* pairs_at(int64_t group, int64_t row) const {
    return scales + 2 * int4_pair(row, group, g.k / g.group, together());
  }
};

/// Scale and zero of a block of kInt4's rows from `row` on, in one group, as
/// floats.
template <class T, class S>
const float* pairs_of(const Product<T, S>& p, int64_t group, int64_t row,
                      int64_t rows, float* buffer) {
  const S* from = p.pairs_at(group, row);
  if constexpr (std::is_same_v<S, float>) {
    static_cast<void>(rows);
    static_cast<void>(buffer);
    return from;
  } else {
    widen(from, buffer, rows * 2);
    return buffer;
  }
}

/// Scales and zeros of a block of int4's rows as floats, group by group.
template <class T, class S>
float* wide_pairs(const Product<T, S>& p, int64_t row) {
  const int64_t groups = p.g.k / p.g.group;
  float* to = scratch<float>(ScratchUse::kNarrowScales, groups * 2 * kInt4Rows);
  for (int64_t i = 0; i < groups; ++i)
    widen(p.pairs_at(i, row), to + i * 2 * kInt4Rows, 2 * kInt4Rows);
  return to;
}

/// The last, smaller block of int4's rows as floats [k, rows].
template <class T, class S>
void widen_rest(const Product<T, S>& p, int64_t row, int64_t rows, float* to) {
  const uint8_t* w = p.w + row * (p.g.k / 2);
  const int64_t bytes = (rows + 1) / 2;
  float buffer[2 * kInt4Rows];
  for (int64_t i = 0; i < p.g.k; ++i, w += bytes, to += rows) {
    const float* pairs = pairs_of(p, i / p.g.group, row, rows, buffer);
    for (int64_t j = 0; j < rows; ++j) {
      const int q = j % 2 ? w[j / 2] >> 4 : w[j / 2] & 15;
      to[j] = float(q - 8) * pairs[2 * j] + pairs[2 * j + 1];
    }
  }
}

/// Rows [row, row + rows) of the weights, at most kInt4Rows of int4's, as
/// floats: a matrix [k, rows].
template <class T, class S>
MatrixRef<float> widened(const Product<T, S>& p, int64_t row, int64_t rows) {
  const WeightOnlyAttributes& g = p.g;
  float* to = scratch<float>(ScratchUse::kNarrowPanel, rows * g.k);
  if (g.layout == Layout::kInt4) {
    float buffer[2 * kInt4Rows];
    if (rows < kInt4Rows)
      widen_rest(p, row, rows, to);
    else
      for (int64_t i = 0; i < g.k; i += g.group)
        int4_kernels().widen(
            g.group, p.w + row * (g.k / 2) + i * (kInt4Rows / 2),
            pairs_of(p, i / g.group, row, rows, buffer), to + i * kInt4Rows);
    return {to, rows, 1};
  }
  if (g.layout == Layout::kInt8) {
    const auto* from = reinterpret_cast<const int8_t*>(p.w) + row * g.k;
    for (int64_t i = 0; i < rows * g.k; ++i) to[i] = float(from[i]);
  } else {
    const int64_t blocks = g.k / g.block_elements;
    g.unpack(
        reinterpret_cast<const std::byte*>(p.w) + row * blocks * g.block_bytes,
        rows * blocks, to);
  }
  return {to, 1, g.k};
}

/// Rows [begin, end) of the weights by way of floats.
template <class T, class S>
void by_panels(const Product<T, S>& p, int64_t begin, int64_t end) {
  const WeightOnlyAttributes& g = p.g;
  int64_t most = kPanelSize / int64_t{sizeof(float)} / g.k;
  most = std::clamp<int64_t>(most, kRowUnit, 4 * kRowUnit);
  if (g.layout == Layout::kInt4) most = kInt4Rows;
  for (int64_t row = begin; row < end; row += most) {
    const int64_t rows = std::min(most, end - row);
    const FewSums to = p.sums_at(row);
    gemm<float>(g.m, rows, g.k, 1.0f, {p.x.x, p.x.stride, 1},
                widened(p, row, rows), 0.0f, to.data, to.stride);
  }
}

template <class T, class S>
void int4_by_registers(const Product<T, S>& p, int64_t begin, int64_t end) {
  const WeightOnlyAttributes& g = p.g;
  const Int4Products multiply =
      p.quads ? int4_quads()->multiply : int4_kernels().multiply;
  int64_t row = begin;
  for (; row + kInt4Rows <= end; row += kInt4Rows) {
    const auto block = [&]<class U>(const U* scales, int64_t apart) {
      return Int4Block<U>{p.w + row * (g.k / 2), g.group, scales, apart};
    };
    if constexpr (std::is_same_v<S, Half>) {
      const float* wide = wide_pairs(p, row);
      multiply(p.x, block(wide, 2 * kInt4Rows), p.sums_at(row));
    } else {
      multiply(p.x, block(p.pairs_at(0, row), 2 * p.together()),
               p.sums_at(row));
    }
  }
  if (row < end) by_panels(p, row, end);
}

template <class T, class S>
void by_registers(const Product<T, S>& p, int64_t begin, int64_t end) {
  const WeightOnlyKernels& kernels = weight_only_kernels();
  const int64_t rows = end - begin;
  const FewSums to = p.sums_at(begin);
  const uint8_t* blocks =
      p.w + begin * (p.g.k / p.g.block_elements) * p.g.block_bytes;
  switch (p.g.layout) {
    case Layout::kInt8:
      return (p.quads ? int8_quads()->multiply : kernels.int8)(
          p.x, rows, reinterpret_cast<const int8_t*>(p.w) + begin * p.g.k, to);
    case Layout::kInt4:
      return int4_by_registers(p, begin, end);
    case Layout::kQ8_0:
      return kernels.q8_0(p.x, rows, blocks, to);
    case Layout::kQ4_0:
      return kernels.q4_0(p.x, rows, blocks, to);
    case Layout::kBlocks:
      return by_panels(p, begin, end);
  }
}

/// Columns [begin, end) of sums, in the cache, to those of out.
template <class T, class S>
void finish(const Product<T, S>& p, int64_t begin, int64_t end) {
  const bool scaled = p.g.layout == Layout::kInt8;
  if (std::is_same_v<T, float> && !scaled && !p.bias) return;
  for (int64_t i = 0; i < p.g.m; ++i) {
    const float* from = p.sums + i * p.g.n;
    T* to = p.out + i * p.g.n;
    for (int64_t j = begin; j < end; ++j) {
      float v = from[j];
      if (scaled) v *= float(p.scales[j]);
      if (p.bias) v += float(p.bias[j]);
      to[j] = T(v);
    }
  }
}

template <class T, class S>
void multiply(const Product<T, S>& p) {
  const WeightOnlyAttributes& g = p.g;
  // Loading the weights takes as long as the products of a single row.
  const int64_t work = std::max<int64_t>(g.m, 2) * g.k * kRowUnit;
  const int64_t units = detail::divide_up(g.n, kRowUnit);
  const int64_t grain = std::max<int64_t>(1, kProductsPerThread / work);
  parallel_for(0, units, grain, [&](int64_t first, int64_t last) {
    const int64_t begin = first * kRowUnit;
    const int64_t end = std::min(g.n, last * kRowUnit);
    p.few() ? by_registers(p, begin, end) : by_panels(p, begin, end);
    finish(p, begin, end);
  });
}

/// x in float and in the order in which it is read.
template <class T, class S>
FewRows rows_of(const Product<T, S>& p, const T* x) {
  const WeightOnlyAttributes& g = p.g;
  const WeightOnlyKernels& kernels = weight_only_kernels();
  const bool order = p.few() && g.layout == Layout::kQ4_0;
  if constexpr (std::is_same_v<T, float>)
    if (!order) return {x, g.x_row, g.m, g.k};
  const int64_t stride = order ? kernels.q4_0_size(g.k) : g.k;
  float* to = scratch<float>(ScratchUse::kNarrowRows, g.m * stride + g.k);
  for (int64_t i = 0; i < g.m; ++i) {
    const float* row = nullptr;
    if constexpr (std::is_same_v<T, float>) {
      row = x + i * g.x_row;
    } else {
      float* wide = to + (order ? g.m : i) * stride;
      widen(x + i * g.x_row, wide, g.k);
      row = wide;
    }
    if (order) kernels.q4_0_order(row, g.k, to + i * stride);
  }
  return {to, stride, g.m, g.k};
}

/// Brings few rows into the form that order(row, to) makes of them, `size`
/// floats each, unless one has none.
template <class T, class S, class F>
bool brought(Product<T, S>& p, int64_t size, const F& order) {
  float* to = scratch<float>(ScratchUse::kNarrowQuads, p.g.m * size);
  for (int64_t i = 0; i < p.g.m; ++i)
    if (!order(p.x.x + i * p.x.stride, to + i * size)) return false;
  p.x = {to, size, p.g.m, p.g.k};
  return true;
}

/// Into the form of int4_quads() or int8_quads(), if they have one. n of int4
/// is of whole blocks then, as panels want floats.
template <class T, class S>
bool as_quads(Product<T, S>& p) {
  const WeightOnlyAttributes& g = p.g;
  if (!p.few()) return false;
  if (const Int4Quads* quads = int4_quads();
      quads && g.layout == Layout::kInt4 && Int4Quads::suits(g.group) &&
      g.n % kInt4Rows == 0)
    return brought(p, Int4Quads::size(g.k, g.group),
                   [&](const float* row, float* to) {
                     return quads->order(row, g.k, g.group, to);
                   });
  if (const Int8Quads* quads = int8_quads();
      quads && g.layout == Layout::kInt8 && Int8Quads::suits(g.k))
    return brought(p, Int8Quads::size(g.k), [&](const float* row, float* to) {
      return quads->order(row, g.k, to);
    });
  return false;
}

template <class T, class S>
void run(const KernelCall& call) {
  const auto& g = call.attributes<WeightOnlyAttributes>();
  const Tensor &weight = call.tensor(2), &scales = call.tensor(3),
               &bias = call.tensor(4);
  T* out = call.tensor(0).data<T>();
  Product<T, S> p{.g = g,
                  .x = {},
                  .quads = false,
                  .w = static_cast<const uint8_t*>(weight.raw_data()),
                  .scales = scales.defined() ? scales.data<S>() : nullptr,
                  .bias = bias.defined() ? bias.data<T>() : nullptr,
                  .sums = nullptr,
                  .out = out};
  if constexpr (std::is_same_v<T, float>)
    p.sums = out;
  else
    p.sums = scratch<float>(ScratchUse::kNarrowSums, g.m * g.n);
  if (g.k == 0) {
    std::fill_n(p.sums, g.m * g.n, 0.0f);
    return finish(p, 0, g.n);
  }
  p.x = rows_of(p, call.tensor(1).data<T>());
  p.quads = as_quads(p);
  multiply(p);
}

constexpr KernelTypes<TypeList<float, Half, BFloat16>> kTypes{0};

void weight_only_linear(const KernelCall& call) {
  const auto& g = call.attributes<WeightOnlyAttributes>();
  if (g.m == 0 || g.n == 0) return;
  const Tensor& scales = call.tensor(3);
  const bool brief = scales.defined() && scales.dtype() == DType::kBFloat16;
  if (brief && call.tensor(0).dtype() == DType::kFloat32)
    return run<float, BFloat16>(call);
  kTypes.visit(call, [&]<class T>() { run<T, T>(call); });
}

HOTARU_KERNEL(kCPU, "weight_only_linear", weight_only_linear,
              check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cpu
