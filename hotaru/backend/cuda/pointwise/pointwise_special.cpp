// Special functions; see device/pointwise/special.cu.
#include <deque>

#include "hotaru/backend/common/pointwise/special.h"
#include "hotaru/backend/cuda/pointwise/pointwise.h"
#include "hotaru/core/printing/concat.h"

namespace hotaru::cuda {
namespace {

#define HOTARU_NAME(name) #name "_Unary_",
constexpr const char* kUnary[] = {HOTARU_SPECIAL_UNARY(HOTARU_NAME)};
#undef HOTARU_NAME
#define HOTARU_NAME(name) #name "_Binary_",
constexpr const char* kBinary[] = {HOTARU_SPECIAL_BINARY(HOTARU_NAME)};
#undef HOTARU_NAME

/// Functions of all names, for one dtype.
template <size_t kCount>
std::deque<PointwiseFunctions> functions_of(const char* const (&names)[kCount],
                                            DType dtype) {
  std::deque<PointwiseFunctions> out;
  for (const char* name : names)
    out.emplace_back(concat(name, type_suffix(dtype)), false, false);
  return out;
}

/// The attributes say which of the names.
template <int kInputs, const auto& names>
void special(const KernelCall& call) {
  kCudaPointwiseTypes<FloatingTypes>.visit(call, [&]<class T>() {
    static const auto& functions = *new std::deque<PointwiseFunctions>(
        functions_of(names, call.tensor(1).dtype()));
    PointwiseParams params;
    for (int i = 0; i < kInputs; ++i) {
      const Tensor& t = call.tensor(size_t(i) + 1);
      if (t.device().is_cpu()) params.set_value(i, number_on_cpu<OpMath<T>>(t));
    }
    const int64_t which = call.attributes<PointwiseNumbers>().a.to_int();
    launch_pointwise(call, functions[size_t(which)], params);
  });
}

HOTARU_KERNEL(kCUDA, "special_unary", (special<1, kUnary>),
              check_types<kCudaPointwiseTypes<FloatingTypes>>);
HOTARU_KERNEL(kCUDA, "special_binary", (special<2, kBinary>),
              check_types<kCudaPointwiseTypes<FloatingTypes>>);

}  // namespace
}  // namespace hotaru::cuda
