// Sparse tensors: a shape and a dtype whose elements other tensors keep.
#pragma once

#include <array>
#include <atomic>

#include "hotaru/core/sparse/opaque.h"

namespace hotaru {

/// How a tensor keeps its elements; the numbers are those of torch.layout.
enum class Layout : uint8_t {
  kStrided,
  kSparseCoo,
  kSparseCsr,
  kSparseCsc,
  kSparseBsr,
  kSparseBsc,
};

/// Storage that a sparse tensor looks into instead of memory.
class SparseStorage final : public OpaqueStorage {
 public:
  /// In kSparseCoo `index` has [sparse_dim, nnz], `inner` is undefined and
  /// `values` has [nnz, dense sizes...]. Of the compressed layouts `index` are
  /// the positions where rows (columns) begin, and `inner` the columns (rows).
  struct Parts {
    Layout layout = Layout::kSparseCoo;
    Tensor index, inner, values;
  };

  SparseStorage(Parts parts, size_t nbytes, Device device);
  ~SparseStorage() override;

  Layout layout() const { return parts_.layout; }
  const Parts& parts() const { return parts_; }
  /// In place: other elements under the same shape.
  void set_parts(Parts parts) { parts_ = std::move(parts); }

  /// True if the indices of kSparseCoo are known to be sorted and different.
  bool coalesced() const { return coalesced_.load(std::memory_order_relaxed); }
  void set_coalesced(bool value) {
    coalesced_.store(value, std::memory_order_relaxed);
  }

 private:
  Parts parts_;
  std::atomic<bool> coalesced_{false};
};

/// A sparse tensor of those parts, which are not checked.
Tensor make_sparse(SparseStorage::Parts parts, IntSpan sizes, bool coalesced);

/// Returns what a sparse tensor looks into; null for a strided one.
SparseStorage* sparse_storage(const Tensor& tensor);

}  // namespace hotaru
