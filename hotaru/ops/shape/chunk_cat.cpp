// Chunks of several tensors side by side.
#include <algorithm>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/join.h"
#include "hotaru/ops/shape/pad.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

/// Where the tensors are cut; throws PyTorch's texts for those that do not go
/// together.
int64_t chunked_dim(const Tensors& tensors, int64_t dim, int64_t chunks) {
  HOTARU_CHECK(chunks >= 1, "_chunk_cat expects positive num_chunks");
  HOTARU_CHECK(!tensors.empty(),
               "_chunk_cat expects a non-empty input tensor list");
  const Tensor& first = tensors.front();
  bool same_rank = true;
  for (const Tensor& t : tensors) {
    HOTARU_CHECK(t.numel() > 0, "_chunk_cat expects non-empty tensor");
    HOTARU_CHECK(t.dtype() == first.dtype(),
                 "_chunk_cat expects all input tensors with the same dtype");
    same_rank &= t.dim() == first.dim();
  }
  if (same_rank)
    dim = wrap_dim(dim, first.dim());
  else
    HOTARU_CHECK(dim >= 0,
                 "_chunk_cat expects non-negative dim when input tensors have "
                 "different ndims");
  for (const Tensor& t : tensors) {
    HOTARU_CHECK(dim < t.dim(),
                 "_chunk_cat expects dim < ndim for all input tensors");
    HOTARU_CHECK(std::equal(t.sizes().begin(), t.sizes().begin() + dim,
                            first.sizes().begin()),
                 "_chunk_cat expects same sizes of 0,...,dim-1 dimensions for "
                 "all tensors");
  }
  return dim;
}

/// Each tensor padded with zeros to a multiple of `chunks` along `dim`, as
/// [leading sizes, chunks, elements of a chunk], joined along the last.
Tensor chunk_cat(const Tensors& tensors, int64_t dim, int64_t chunks) {
  dim = chunked_dim(tensors, dim, chunks);
  Tensors parts;
  for (const Tensor& t : tensors) {
    const int64_t size = t.size(dim);
    const int64_t over = size % chunks, missing = over ? chunks - over : 0;
    Dims padding(size_t(2 * (t.dim() - dim)), 0);
    padding.back() = missing;
    Dims shape(t.sizes().first(size_t(dim)));
    shape.push_back(chunks);
    shape.push_back(-1);
    parts.push_back(
        reshape(missing ? constant_pad_nd(t, padding, 0) : t, shape));
  }
  return cat(parts, -1);
}

HOTARU_OP("_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor",
          chunk_cat);

}  // namespace
}  // namespace hotaru
