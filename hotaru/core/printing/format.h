// The text of tensors, equal to PyTorch's repr() to the character.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hotaru/core/printing/print_options.h"

namespace hotaru {

class Tensor;

/// The text of a CPU or meta tensor under the process-wide options, e.g.
/// "tensor([1., 2.], dtype=torch.float64)". Device, size and dtype are added
/// where PyTorch shows them; `suffix` ("grad_fn=<AddBackward0>",
/// "requires_grad=True", UTF-8, or nothing) comes after them. `prefix` ends
/// in the opening parenthesis and sets the indentation.
///
/// Reads only the elements that are shown, and waits for nobody: the caller
/// has waited for the tensor's writers.
std::string format_tensor(const Tensor& self, std::string_view suffix = {},
                          std::string_view prefix = "tensor(");

/// A view of the elements that printing under these options shows, in the
/// order they are shown. Summarised dimensions become two: (2, edgeitems).
/// Copying it to the CPU is all that printing another device's tensor needs.
Tensor shown_elements(const Tensor& self, const PrintOptions& options);

/// The same for a tensor of any device: `shown` is shown_elements(self,
/// options), or its copy on the CPU; not looked at for empty and meta tensors.
std::string format_tensor(const Tensor& self, const Tensor& shown,
                          const PrintOptions& options,
                          const std::vector<std::string>& suffixes = {},
                          std::string_view prefix = "tensor(");

}  // namespace hotaru
