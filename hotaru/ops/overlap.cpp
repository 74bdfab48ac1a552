#include "hotaru/ops/overlap.h"

namespace hotaru {
namespace {

bool dense(const Tensor& t) {
  return t.is_contiguous() || is_dense(t.sizes(), t.strides());
}

const char* first_byte(const Tensor& t) {
  return static_cast<const char*>(t.address());
}

const char* last_byte(const Tensor& t) {
  return first_byte(t) + t.numel() * int64_t(itemsize(t.dtype()));
}

}  // namespace

void check_written(const Tensor& out) {
  if (out.is_contiguous()) return;
  for (size_t d = 0; d < out.sizes().size(); ++d)
    HOTARU_CHECK(out.strides()[d] != 0 || out.sizes()[d] <= 1,
                 "unsupported operation: more than one element of the "
                 "written-to tensor refers to a single memory location. Please "
                 "clone() the tensor before performing the operation.");
}

void check_overlap(const Tensor& out, const Tensor& in) {
  if (out.storage() != in.storage() || out.is_same(in)) return;
  if (out.numel() == 0 || in.numel() == 0 || !dense(out) || !dense(in)) return;
  const bool apart =
      last_byte(out) <= first_byte(in) || last_byte(in) <= first_byte(out);
  const bool equal = first_byte(out) == first_byte(in) &&
                     last_byte(out) == last_byte(in) &&
                     same(out.strides(), in.strides());
  HOTARU_CHECK(apart || equal,
               "unsupported operation: some elements of the input tensor and "
               "the written-to tensor refer to a single memory location. "
               "Please clone() the tensor before performing the operation.");
}

}  // namespace hotaru
