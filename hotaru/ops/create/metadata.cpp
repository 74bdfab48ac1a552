// A check that traced programs keep of their tensors.
#include "hotaru/core/checks/check.h"
#include "hotaru/core/cpp_type.h"
#include "hotaru/ops/registry.h"

namespace hotaru {
namespace {

template <class T>
void check(const char* what, bool same, const T& wanted, const T& found) {
  HOTARU_CHECK(same, "Tensor ", what, " mismatch! Expected: ", wanted,
               ", Got: ", found);
}

void check_list(const char* what, const Optional<IntSpan>& wanted,
                IntSpan found) {
  if (wanted)
    check(what, Dims(*wanted) == Dims(found), shape_text(*wanted),
          shape_text(found));
}

/// Throws unless a tensor has what is given of these. Every layout but the
/// strided one, which is 0, is a mismatch.
void assert_tensor_metadata(const Tensor& a, const Optional<IntSpan>& size,
                            const Optional<IntSpan>& stride,
                            const Optional<DType>& dtype,
                            const Optional<Device>& device,
                            const Optional<int64_t>& layout) {
  check_list("sizes", size, a.sizes());
  check_list("strides", stride, a.strides());
  if (dtype)
    check("dtype", *dtype == a.dtype(), scalar_type_name(*dtype),
          cpp_type_name(a.dtype()));
  if (device) check("device", *device == a.device(), *device, a.device());
  if (layout)
    check("layout", *layout == 0, std::string(*layout ? "Sparse" : "Strided"),
          std::string("Strided"));
}

HOTARU_OP(
    "_assert_tensor_metadata(Tensor a, int[]? size=None, int[]? stride=None, "
    "ScalarType? dtype=None, *, Device? device=None, Layout? layout=None) -> "
    "()",
    assert_tensor_metadata);

}  // namespace
}  // namespace hotaru
