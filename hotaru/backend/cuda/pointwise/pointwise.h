// How elementwise formulas are launched; see params/pointwise.h.
#pragma once

#include <array>

#include "hotaru/backend/common/create/convert.h"
#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/pointwise/formulas.h"
#include "hotaru/backend/common/pointwise/refusal.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/pointwise.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/backend/cuda/pointwise/formula.h"
#include "hotaru/core/tensor.h"

namespace hotaru::cuda {

/// A formula's kernels for one dtype of inputs.
struct PointwiseFunctions {
  /// `has_rows`: whether there are kernels of rows, too; `has_dense`: whether
  /// there are others than those for any strides.
  PointwiseFunctions(const std::string& symbol, bool has_rows,
                     bool has_dense = true)
      : dense(symbol),
        strided(symbol + "_s"),
        rows(symbol + "_v"),
        has_rows(has_rows),
        has_dense(has_dense) {}
  const Function dense, strided, rows;
  const bool has_rows, has_dense;
};

/// Launches over the call's operands. `params` has the formula, and the values
/// of inputs on the CPU.
void launch_pointwise(const KernelCall& call, const PointwiseFunctions& f,
                      PointwiseParams& params);

/// The number in a CPU tensor without dimensions as type M.
template <class M>
M number_on_cpu(const Tensor& t) {
  M out{};
  visit_dtype(AllTypes{}, t.dtype(), "number", [&]<class V>() {
    const V value = *static_cast<const V*>(t.raw_data());
    out = formulas::convert<M>(value);
  });
  return out;
}

/// Calls f for the dtype of the first input.
template <class Types>
struct CudaPointwiseTypes {
  template <class F>
  void visit(const KernelCall& call, F&& f) const {
    const DType dtype = call.tensor(1).dtype();
    if (!visit_if_listed(Types{}, dtype, f))
      refuse_pointwise(call.kernel().name(), dtype);
  }
};
template <class Types>
inline constexpr CudaPointwiseTypes<Types> kCudaPointwiseTypes;

/// Name::value: the formula's, as symbols have it.
template <template <class> class F, class Types, int kInputs, class Name,
          bool kHasRows>
void pointwise_kernel(const KernelCall& call) {
  kCudaPointwiseTypes<Types>.visit(call, [&]<class T>() {
    using M = OpMath<T>;
    using Formula = F<M>;
    static const auto& functions = *new PointwiseFunctions(
        std::string(Name::value) + "_" + type_suffix(call.tensor(1).dtype()),
        kHasRows);
    PointwiseParams params;
    if constexpr (std::is_constructible_v<Formula, const PointwiseNumbers&>)
      params.set_formula(Formula(call.attributes<PointwiseNumbers>()));
    for (int i = 0; i < kInputs; ++i) {
      const Tensor& t = call.tensor(size_t(i) + 1);
      if (t.device().is_cpu()) params.set_value(i, number_on_cpu<M>(t));
    }
    launch_pointwise(call, functions, params);
  });
}

/// At namespace scope, for the lists of formulas.h: HOTARU_MATH(HOTARU_…).
#define HOTARU_CUDA_POINTWISE(name, F, Types, inputs) \
  HOTARU_CUDA_POINTWISE_OF(name, F, Types, inputs, false)
/// The same where there are kernels of rows.
#define HOTARU_CUDA_POINTWISE_ROWS(name, F, Types, inputs) \
  HOTARU_CUDA_POINTWISE_OF(name, F, Types, inputs, true)
#define HOTARU_CUDA_POINTWISE_OF(name, F, Types, inputs, rows) \
  struct F##Name { \
    static constexpr const char* value = #F; \
  }; \
  HOTARU_KERNEL(kCUDA, name, \
                (pointwise_kernel<formulas::F, Types, inputs, F##Name, rows>), \
                check_types<kCudaPointwiseTypes<Types>>); \
  const FormulaRegistration F##Formula( \
      name, {#F, inputs, &formula_has<formulas::F, Types>, \
             &formula_object<formulas::F, Types>});

}  // namespace hotaru::cuda
