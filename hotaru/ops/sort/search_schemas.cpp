// Names of the operators on sets of values.
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/sort/search.h"

namespace hotaru {
namespace {

/// side= says the same as right=.
bool is_right(bool right, const Optional<std::string>& side) {
  if (!side) return right;
  HOTARU_CHECK(*side == "left" || *side == "right",
               "torch.searchsorted(): side can only be 'left' or 'right' but "
               "got ",
               *side);
  HOTARU_CHECK(*side == "right" || !right,
               "torch.searchsorted(): side and right can't be set to "
               "opposites, got side of left while right was True");
  return *side == "right";
}

Tensor number(const Scalar& value, const Tensor& like) {
  return wrapped_scalar(value, like.device());
}

Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32,
                 bool right) {
  HOTARU_CHECK(boundaries.dim() == 1,
               "boundaries tensor must be 1 dimension, but got dim(",
               boundaries.dim(), ")");
  return searchsorted(boundaries, self, out_int32, right);
}

using Triple = std::tuple<Tensor, Tensor, Tensor>;
using Pair = std::tuple<Tensor, Tensor>;

HOTARU_OP(
    "_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> "
    "(Tensor, Tensor)",
    +[](const Tensor& self, bool, bool return_inverse) -> Pair {
      const auto [values, inverse, counts] = unique(self, return_inverse);
      return {values, inverse};
    });
HOTARU_OP(
    "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool "
    "return_counts=False) -> (Tensor, Tensor, Tensor)",
    +[](const Tensor& self, bool, bool return_inverse, bool return_counts) {
      return unique(self, return_inverse, return_counts);
    });
HOTARU_OP(
    "unique_dim(Tensor self, int dim, bool sorted=True, bool "
    "return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, "
    "Tensor)",
    +[](const Tensor& self, int64_t dim, bool, bool return_inverse,
        bool return_counts) {
      return unique_dim(self, dim, return_inverse, return_counts);
    });
HOTARU_OP(
    "unique_consecutive(Tensor self, bool return_inverse=False, bool "
    "return_counts=False, int? dim=None) -> (Tensor, Tensor, Tensor)",
    unique_consecutive);
HOTARU_OP(
    "searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool "
    "out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) "
    "-> Tensor",
    +[](const Tensor& sequence, const Tensor& self, bool out_int32, bool right,
        Optional<std::string> side, const Tensor& sorter) {
      return searchsorted(sequence, self, out_int32, is_right(right, side),
                          sorter);
    });
HOTARU_OP(
    "searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool "
    "out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) "
    "-> Tensor",
    +[](const Tensor& sequence, const Scalar& self, bool out_int32, bool right,
        Optional<std::string> side, const Tensor& sorter) {
      return searchsorted(sequence, number(self, sequence), out_int32,
                          is_right(right, side), sorter);
    });
HOTARU_OP(
    "bucketize.Tensor(Tensor self, Tensor boundaries, *, bool "
    "out_int32=False, bool right=False) -> Tensor",
    bucketize);
HOTARU_OP(
    "bucketize.Scalar(Scalar self, Tensor boundaries, *, bool "
    "out_int32=False, bool right=False) -> Tensor",
    +[](const Scalar& self, const Tensor& boundaries, bool out_int32,
        bool right) {
      return bucketize(number(self, boundaries), boundaries, out_int32, right);
    });
HOTARU_OP(
    "isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool "
    "assume_unique=False, bool invert=False) -> Tensor",
    +[](const Tensor& elements, const Tensor& test_elements, bool,
        bool invert) { return isin(elements, test_elements, invert); });
HOTARU_OP(
    "isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool "
    "assume_unique=False, bool invert=False) -> Tensor",
    +[](const Tensor& elements, const Scalar& test_element, bool, bool invert) {
      return isin(elements, number(test_element, elements), invert);
    });
HOTARU_OP(
    "isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool "
    "assume_unique=False, bool invert=False) -> Tensor",
    +[](const Scalar& element, const Tensor& test_elements, bool, bool invert) {
      return isin(number(element, test_elements), test_elements, invert);
    });

}  // namespace
}  // namespace hotaru
