// Bodies of ATen/forms_by_hand.h.
#include "ATen/Functions.h"
#include "source/formulas.h"

namespace at {

using hotaru::libtorch::absent;

Tensor& _amp_update_scale_out(Tensor& out, const Tensor& self,
                              Tensor& growth_tracker, const Tensor& found_inf,
                              double scale_growth_factor,
                              double scale_backoff_factor,
                              int64_t growth_interval) {
  out.resize_(self.sizes()).copy_(self);
  return at::_amp_update_scale_(out, growth_tracker, found_inf,
                                scale_growth_factor, scale_backoff_factor,
                                growth_interval);
}

std::tuple<Tensor&, Tensor&, Tensor&> _slow_conv2d_backward_out(
    Tensor& grad_input, Tensor& grad_weight, Tensor& grad_bias,
    const Tensor& grad_output, const Tensor& self, const Tensor& weight,
    IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding) {
  TORCH_CHECK(weight.dim() == 4 && weight.size(2) == kernel_size[0] &&
                  weight.size(3) == kernel_size[1],
              "kernel_size is not that of the weight");
  const int64_t bias = weight.size(0);
  const auto [input, own, of_bias] = at::convolution_backward(
      grad_output, self, weight, IntArrayRef(bias), stride, padding, {1, 1},
      false, {0, 0}, 1, {true, true, true});
  grad_input.resize_(input.sizes()).copy_(input);
  grad_weight.resize_(own.sizes()).copy_(own);
  grad_bias.resize_(of_bias.sizes()).copy_(of_bias);
  return {grad_input, grad_weight, grad_bias};
}

void lstm_mps_backward_out(Tensor&, TensorList, TensorList,
                           const optional<Tensor>&, const optional<Tensor>&,
                           const optional<Tensor>&, const Tensor&,
                           const Tensor&, const Tensor&, const Tensor&,
                           TensorList, TensorList, bool, int64_t, double, bool,
                           bool, bool) {
  absent("aten::lstm_mps_backward");
}

Tensor _test_string_default(const Tensor& dummy, std::string_view a,
                            std::string_view b) {
  constexpr std::string_view kWanted = "\"'\\";
  TORCH_CHECK(a == kWanted, "Default A failed");
  TORCH_CHECK(b == kWanted, "Default B failed");
  return dummy;
}

std::vector<Tensor> align_tensors(TensorList) {
  absent("aten::align_tensors");
}

}  // namespace at
