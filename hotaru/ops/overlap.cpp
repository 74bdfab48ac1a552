#include "hotaru/ops/overlap.h"

#include <string>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/warning.h"

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

// Checks what two tensors of one storage share: nothing or, if allowed, all.
void check_regions(const Tensor& out, const Tensor& in, bool may_be_equal) {
  if (out.numel() == 0 || in.numel() == 0 || !dense(out) || !dense(in)) return;
  const bool apart =
      last_byte(out) <= first_byte(in) || last_byte(in) <= first_byte(out);
  const bool equal = first_byte(out) == first_byte(in) &&
                     last_byte(out) == last_byte(in) &&
                     same(out.strides(), in.strides());
  HOTARU_CHECK(apart || (equal && may_be_equal),
               "unsupported operation: some elements of the input tensor and "
               "the written-to tensor refer to a single memory location. "
               "Please clone() the tensor before performing the operation.");
}

}  // namespace

bool repeats(const Tensor& t) {
  if (t.is_contiguous()) return false;
  for (size_t d = 0; d < t.sizes().size(); ++d)
    if (t.strides()[d] == 0 && t.sizes()[d] > 1) return true;
  return false;
}

Tensor without_repeats(const Tensor& t) {
  Tensor out = t;
  for (size_t d = 0; d < t.sizes().size(); ++d)
    if (t.strides()[d] == 0 && t.sizes()[d] > 1)
      out = narrow(out, int64_t(d), 0, 1);
  return out;
}

void warn_of_repeats(const char* op, const char* as) {
  warn("Use of " + std::string(op) +
       " on expanded tensors is deprecated. Please clone() the tensor before "
       "performing this operation. This also applies to advanced indexing "
       "e.g. " +
       as);
}

void check_written(const Tensor& out) {
  HOTARU_CHECK(!repeats(out),
               "unsupported operation: more than one element of the "
               "written-to tensor refers to a single memory location. Please "
               "clone() the tensor before performing the operation.");
}

void check_overlap(const Tensor& out, const Tensor& in) {
  if (out.storage() != in.storage() || out.is_same(in)) return;
  check_regions(out, in, true);
}

void check_apart(const Tensor& out, const Tensor& in) {
  if (out.storage() == in.storage()) check_regions(out, in, false);
}

}  // namespace hotaru
