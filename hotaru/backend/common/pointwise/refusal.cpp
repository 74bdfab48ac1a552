#include "hotaru/backend/common/pointwise/refusal.h"

#include <algorithm>
#include <string>

#include "hotaru/core/checks/check.h"

namespace hotaru {
namespace {

struct Renamed {
  std::string_view kernel, name;
};
/// Kernels whose names in messages are not their own with "_cpu" behind.
constexpr Renamed kRenamed[] = {
    {"addcmul", "addcmul_cpu_out"},
    {"bitwise_left_shift", "lshift_cpu"},
    {"bitwise_right_shift", "rshift_cpu"},
    {"ceil", "ceil_vml_cpu"},
    {"digamma", "digamma"},
    {"elu_result_grad", "elu_backward_cpu"},
    {"erf", "erf_vml_cpu"},
    {"erfc", "erfc_vml_cpu"},
    {"floor", "floor_vml_cpu"},
    {"gelu", "GeluKernelImpl"},
    {"gelu_tanh", "GeluKernelImpl"},
    {"lerp", "lerp_kernel_tensor"},
    {"lgamma", "lgamma_vml_cpu"},
    {"pow", "pow"},
    {"round", "round_vml_cpu"},
    {"softshrink", "softshrink_check"},
    {"trigamma", "trigamma"},
    {"trunc", "trunc_vml_cpu"},
};

bool is_one_of(std::string_view kernel,
               std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), kernel) != names.end();
}

}  // namespace

void refuse_pointwise(std::string_view kernel, DType dtype) {
  if (is_complex(dtype)) {
    if (is_one_of(kernel, {"floor", "ceil", "trunc"}))
      fail<NotImplementedError>(kernel, " is not supported for complex inputs");
    if (is_one_of(kernel, {"maximum", "minimum", "fmax", "fmin"}))
      fail(kernel, " not implemented for complex tensors.");
    if (is_one_of(kernel,
                  {"clamp", "clamp_min", "clamp_max", "relu", "hardtanh"}))
      fail<NotImplementedError>("clamp is not supported for complex types");
  }
  HOTARU_CHECK(kernel != "relu" || dtype != DType::kBool,
               "Boolean inputs not supported for relu");
  std::string name = concat(kernel, "_cpu");
  for (const Renamed& each : kRenamed)
    if (each.kernel == kernel) name = each.name;
  refuse_dtype(name.c_str(), dtype);
}

}  // namespace hotaru
