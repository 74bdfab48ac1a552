#include "hotaru/ops/shape/tensor_split.h"

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {

void check_parts(const char* op, int64_t parts) {
  constexpr int64_t kMost = int64_t{1} << 24;
  HOTARU_CHECK(parts <= kMost, op, "(): this would make ", parts,
               " tensors; at most ", kMost, " parts can be made at once");
}

Tensors tensor_split(const Tensor& self, int64_t sections, int64_t dim) {
  HOTARU_CHECK(sections > 0, "number of sections must be larger than 0, got ",
               sections);
  check_parts("tensor_split", sections);
  const int64_t size = self.size(dim);
  Dims ends;
  for (int64_t i = 1, end = 0; i < sections; ++i)
    ends.push_back(end += size / sections + (i <= size % sections));
  return tensor_split(self, ends, dim);
}

Tensors tensor_split(const Tensor& self, IntSpan indices, int64_t dim) {
  Tensors out;
  int64_t start = 0;
  for (int64_t end : indices) {
    out.push_back(slice(self, dim, start, end));
    start = end;
  }
  out.push_back(slice(self, dim, start, std::nullopt));
  return out;
}

namespace {

void check_dim(const Tensor& self) {
  HOTARU_CHECK(self.dim() > 0,
               "tensor_split expected at least a 1-dimensional tensor, but got "
               "a tensor with ",
               self.dim(), " dims");
}

// Before the others, which take a tensor of one element for a number.
HOTARU_OP(
    "tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor "
    "tensor_indices_or_sections, int dim=0) -> Tensor(a)[]",
    +[](const Tensor& self, const Tensor& given, int64_t dim) {
      check_dim(self);
      HOTARU_CHECK(given.device().is_cpu(),
                   "tensor_split expected tensor_indices_or_sections to be on "
                   "cpu, but it's on ",
                   given.device());
      HOTARU_CHECK(given.dtype() == DType::kInt64,
                   "tensor_split expected tensor_indices_or_sections to have "
                   "dtype of long, but got ",
                   scalar_type_name(given.dtype()));
      HOTARU_CHECK(given.dim() <= 1,
                   "tensor_split expected tensor_indices_or_sections to be a "
                   "zero-dimensional or one-dimensional tensor, but got a "
                   "tensor with ",
                   given.dim(), " dims");
      const std::vector<int64_t> numbers =
          host_integers(given, "the sizes of the parts");
      return given.dim() == 0 ? tensor_split(self, numbers[0], dim)
                              : tensor_split(self, Dims(numbers), dim);
    });

HOTARU_OP(
    "tensor_split.sections(Tensor(a -> *) self, SymInt sections, int "
    "dim=0) -> Tensor(a)[]",
    +[](const Tensor& self, int64_t sections, int64_t dim) {
      check_dim(self);
      return tensor_split(self, sections, dim);
    });
HOTARU_OP(
    "tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) "
    "-> Tensor(a)[]",
    +[](const Tensor& self, IntSpan indices, int64_t dim) {
      check_dim(self);
      return tensor_split(self, indices, dim);
    });

}  // namespace
}  // namespace hotaru
