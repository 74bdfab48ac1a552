// Tensors as text: columns, then type and sizes (hotaru/ops/print.h).
#include "hotaru/ops/print.h"

#include <iostream>

#include "ATen/Functions.h"

namespace at {

std::ostream& print(std::ostream& out, const Tensor& tensor, int64_t linesize) {
  hotaru::print_columns(out, tensor.hotaru_tensor(), linesize);
  return out;
}

void print(const Tensor& tensor, int64_t linesize) {
  print(std::cout, tensor, linesize);
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return print(out, tensor, 80);
}

}  // namespace at
