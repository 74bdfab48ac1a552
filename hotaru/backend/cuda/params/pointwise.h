// Parameters of the elementwise kernels.
//
//   symbol       <Formula>_<suffix> (operands dense and aligned) or
//                <Formula>_<suffix>_s (any strides), Formula as
//                common/pointwise/formulas.h has it and suffix of types.h by
//                the first input's dtype: "Add_f32", "Add_f32_s"; those of
//                HOTARU_ARITHMETIC also <Formula>_<suffix>_v (see to_rows())
//   parameters   PointwiseParams; StridedPointwiseParams for _s and _v
//   grid, block  elements a block: dense_items(), or kStridedItems of _s; of
//                _v so many vectors: row_items(). kBlock threads
//   shared       none; threads do not wait for each other
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// Where a kernel finds an input.
enum class Source : uint8_t {
  /// Elements in device memory.
  kElements = 0,
  /// One for all, in `value`, of the type that arithmetic is done in (OpMath):
  /// a Python number, or a CPU tensor without dimensions.
  kValue = 1,
  /// One for all, an element in device memory.
  kOne = 2,
  /// The same, a float though elements have 16 bits: see
  /// elementwise::Spec::keeps_number.
  kOneFloat = 3,
};

struct PointwiseParams {
  static constexpr int kMaxInputs = 3;

  void* out = nullptr;
  const void* in[kMaxInputs] = {};
  uint32_t numel = 0;
  Source source[kMaxInputs] = {};
  alignas(16) std::byte value[kMaxInputs][16] = {};
  /// The formula object, F<OpMath<T>> for elements T, as the CPU's kernel has
  /// it; nothing for one without members.
  alignas(16) std::byte formula[64] = {};

  template <class V>
  void set_value(int input, V v) {
    static_assert(sizeof(V) <= 16 && std::is_trivially_copyable_v<V>);
    source[input] = Source::kValue;
    std::memcpy(value[input], &v, sizeof(V));
  }
  template <class F>
  void set_formula(const F& f) {
    static_assert(sizeof(F) <= sizeof(formula) && alignof(F) <= 16);
    static_assert(std::is_trivially_copyable_v<F>);
    if constexpr (!std::is_empty_v<F>) std::memcpy(formula, &f, sizeof(F));
  }
};

/// Operands are the output and then the inputs; those that are one for all
/// have strides 0, or any.
struct StridedPointwiseParams {
  PointwiseParams pointwise;
  Index<1 + PointwiseParams::kMaxInputs> index;
};

/// Elements that a thread of a dense kernel moves by one instruction: 16 bytes
/// of the inputs, but no more than 8 of them, as each is a copy of the formula.
constexpr uint32_t vector_length(size_t input_size) {
  return input_size >= 2 ? uint32_t(16 / input_size) : 8;
}
/// Vectors of each input that a thread has under way. The product of bandwidth
/// and latency of an H200 is some 3 MB, 24 KB for each of 132 processors, of
/// which 2/3 to 1/2 are reads. 2,048 threads with 32 bytes each keep 64 KB
/// under way; with half the threads, as many registers leave, it is still 32.
/// More would cost small tensors blocks that they could have.
constexpr uint32_t vectors(int inputs) {
  return inputs == 3 ? 1 : 2;
}
/// Elements of a block of a dense kernel.
constexpr uint32_t dense_items(size_t input_size, int inputs) {
  return kBlock * vector_length(input_size) * vectors(inputs);
}
/// Elements of a thread and of a block of a strided kernel.
inline constexpr uint32_t kStridedEach = 4;
inline constexpr uint32_t kStridedItems = kBlock * kStridedEach;

/// Tells whether a dense operand lies so that dense kernels may have it; the
/// output's item size may be another one than the inputs'.
inline bool lies_well(const void* data, size_t item, size_t input_size) {
  return reinterpret_cast<uintptr_t>(data) %
             (item * vector_length(input_size)) ==
         0;
}

/// Vectors of a block of a kernel of rows.
constexpr uint32_t row_items(int inputs) {
  return kBlock * vectors(inputs);
}

/// Parameters for _v from those for _s, where elements of the innermost
/// dimension lie side by side, or are one, and whole vectors of them at
/// multiples of their size: biases, slices, masks of rows. The index is then
/// one of vectors, and so is numel. False where they do not lie so.
inline bool to_rows(StridedPointwiseParams& p, int inputs, size_t out_item,
                    size_t input_item) {
  const int64_t length = vector_length(input_item);
  auto& index = p.index;
  if (index.dims == 0 || index.sizes[0].divisor % length != 0) return false;
  for (int k = 0; k <= inputs; ++k) {
    if (k > 0 && p.pointwise.source[k - 1] != Source::kElements) continue;
    const auto item = int64_t(k ? input_item : out_item);
    const void* data = k ? p.pointwise.in[k - 1] : p.pointwise.out;
    const int64_t step = index.strides[0][k];
    if (k > 0 && step == 0) continue;  // one element a row, anywhere
    if (step != item || !lies_well(data, size_t(item), input_item))
      return false;
    for (int d = 1; d < index.dims; ++d)
      if (index.strides[d][k] % (item * length) != 0) return false;
  }
  index.sizes[0] = Divider(uint32_t(index.sizes[0].divisor / length));
  for (int64_t& step : index.strides[0]) step *= length;
  p.pointwise.numel = uint32_t(p.pointwise.numel / length);
  return true;
}

}  // namespace hotaru::cuda
