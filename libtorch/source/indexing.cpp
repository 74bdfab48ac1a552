// x[...] in C++: views for integers, slices, None and "...", advanced indexing
// for what is left.
#include <algorithm>

#include "ATen/Functions.h"
#include "ATen/TensorIndexing.h"
#include "ATen/core/boxed.h"
#include "hotaru/ops/index/index.h"

namespace at::indexing {
namespace {

/// Rest of an index after its basic part has been applied: a view, and the
/// tensors that index some of its dimensions.
class Indexer {
 public:
  Indexer(const Tensor& self, ArrayRef<TensorIndex> indices)
      : view_(self), given_(self.dim()) {
    TORCH_CHECK_INDEX(
        self.dim() > 0 || !indices.front().is_integer(),
        "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
        "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number");
    int64_t used = 0;
    for (const TensorIndex& index : indices) used += consumed(index);
    TORCH_CHECK_INDEX(used <= self.dim(),
                      "too many indices for tensor of dimension ", self.dim());
    for (const TensorIndex& index : indices) step(index, self.dim() - used);
  }

  const Tensor& view() const { return view_; }
  bool advanced() const { return !tensors_.empty(); }
  c10::List<optional<Tensor>> tensors() const {
    return c10::List<optional<Tensor>>(tensors_);
  }

 private:
  static bool is_mask(const Tensor& t) {
    return t.scalar_type() == kBool || t.scalar_type() == kByte;
  }
  /// Dimensions an index stands for.
  static int64_t consumed(const TensorIndex& index) {
    if (index.is_tensor())
      return is_mask(index.tensor()) ? index.tensor().dim() : 1;
    return index.is_integer() || index.is_slice();
  }

  void step(const TensorIndex& index, int64_t left_over) {
    using Kind = TensorIndex::Kind;
    switch (index.kind()) {
      case Kind::None:
        view_ = view_.unsqueeze(dim_++);
        break;
      case Kind::Ellipsis:
        if (!std::exchange(had_ellipsis_, true)) dim_ += left_over;
        break;
      case Kind::Integer:
        select(index.integer());
        break;
      case Kind::Boolean:
        put_flag(index.boolean());
        break;
      case Kind::Slice:
        put_slice(index.slice());
        break;
      case Kind::Tensor:
        put_tensor(index.tensor());
        break;
    }
  }

  void select(int64_t index) {
    const int64_t size = view_.size(dim_);
    // Counted in the tensor as it was given.
    TORCH_CHECK_INDEX(-size <= index && index < size, "index ", index,
                      " is out of bounds for dimension ",
                      dim_ + given_ - view_.dim(), " with size ", size);
    view_ = view_.select(dim_, index);
  }

  void put_slice(const Slice& s) {
    TORCH_CHECK_INDEX(view_.dim() > 0,
                      "slice() cannot be applied to a 0-dim tensor.");
    TORCH_CHECK_VALUE(s.step() > 0, "step must be greater than zero");
    const bool whole = s.start() == 0 && s.stop() >= view_.size(dim_);
    if (!whole || s.step() != 1)
      view_ = view_.slice(dim_, s.start(), std::min(s.stop(), view_.size(dim_)),
                          s.step());
    ++dim_;
  }

  /// A bool adds a dimension that it keeps or empties.
  void put_flag(bool keep) {
    view_ = view_.unsqueeze(dim_);
    put(at::zeros({int64_t(keep)}, TensorOptions(kLong).device(view_.device())),
        1);
  }

  void put_tensor(const Tensor& index) {
    if (index.dim() == 0 && c10::isIntegralType(index.scalar_type(), true)) {
      if (is_mask(index)) return put_flag(index.item().toBool());
      return select(index.item().toLong());
    }
    put(index, is_mask(index) ? index.dim() : 1);
  }

  /// A mask indexes as many dimensions as it has, the others one.
  void put(const Tensor& index, int64_t dimensions) {
    for (; covered_ < dim_; ++covered_) tensors_.emplace_back();
    tensors_.emplace_back(index);
    dim_ += dimensions;
    covered_ = dim_;
  }

  Tensor view_;
  std::vector<optional<Tensor>> tensors_;
  const int64_t given_;  // its dimensions
  int64_t dim_ = 0;
  int64_t covered_ = 0;  // dimensions that tensors_ stands for
  bool had_ellipsis_ = false;
};

/// Fits what is written to a view: it loses leading dimensions of one that it
/// has too many of.
Tensor fitting(const Tensor& values, const Tensor& view) {
  Tensor out = values;
  while (out.dim() > view.dim() && out.size(0) == 1) out = out.squeeze(0);
  return out;
}
/// All of them, where other indices say how many the place has.
Tensor without_leading_ones(const Tensor& values) {
  Tensor out = values;
  while (out.dim() > 0 && out.size(0) == 1) out = out.squeeze(0);
  return out;
}

}  // namespace

Slice::Slice(std::optional<int64_t> start, std::optional<int64_t> stop,
             std::optional<int64_t> step)
    : step_(step.value_or(1)) {
  TORCH_CHECK_VALUE(step_ != 0, "slice step cannot be zero");
  start_ = start.value_or(step_ < 0 ? INDEX_MAX : 0);
  stop_ = stop.value_or(step_ < 0 ? INDEX_MIN : INDEX_MAX);
}

std::ostream& operator<<(std::ostream& out, const Slice& slice) {
  return out << slice.start() << ':' << slice.stop() << ':' << slice.step();
}

TensorIndex::TensorIndex(const char* text) : kind_(Kind::Ellipsis) {
  TORCH_CHECK_VALUE(
      std::string_view(text) == "...",
      "Expected \"...\" to represent an ellipsis index, but got \"", text,
      "\"");
}

std::ostream& operator<<(std::ostream& out, const TensorIndex& index) {
  using Kind = TensorIndex::Kind;
  switch (index.kind()) {
    case Kind::None:
      return out << "None";
    case Kind::Ellipsis:
      return out << "...";
    case Kind::Integer:
      return out << index.integer();
    case Kind::Boolean:
      return out << (index.boolean() ? "true" : "false");
    case Kind::Slice:
      return out << index.slice();
    case Kind::Tensor:
      return out << index.tensor();
  }
  return out;
}

std::ostream& operator<<(std::ostream& out,
                         const std::vector<TensorIndex>& indices) {
  return out << '(' << c10::Join(", ", indices) << ')';
}

}  // namespace at::indexing

namespace at {

using indexing::TensorIndex;

namespace {

void check_not_empty(ArrayRef<TensorIndex> indices, const char* method) {
  TORCH_CHECK(!indices.empty(),
              "Passing an empty index list to Tensor::", method,
              "() is not valid syntax");
}

}  // namespace

Tensor Tensor::index(ArrayRef<TensorIndex> indices) const {
  check_not_empty(indices, "index");
  const indexing::Indexer indexer(*this, indices);
  if (indexer.advanced()) return indexer.view().index(indexer.tensors());
  // Never the tensor itself: whoever indexes gets a view.
  return indexer.view().is_same(*this) ? alias() : indexer.view();
}
Tensor Tensor::index(std::initializer_list<TensorIndex> indices) const {
  return index(ArrayRef<TensorIndex>(indices));
}

Tensor& Tensor::index_put_(ArrayRef<TensorIndex> indices,
                           const Tensor& values) {
  check_not_empty(indices, "index_put_");
  const indexing::Indexer indexer(*this, indices);
  if (indexer.advanced())
    indexer.view().index_put_(
        indexer.tensors(),
        indexing::without_leading_ones(values).to(
            indexer.view().device(), indexer.view().scalar_type()));
  else
    indexer.view().copy_(indexing::fitting(values, indexer.view()));
  return *this;
}
Tensor& Tensor::index_put_(ArrayRef<TensorIndex> indices, const Scalar& value) {
  check_not_empty(indices, "index_put_");
  const indexing::Indexer indexer(*this, indices);
  if (!indexer.advanced()) {
    indexer.view().fill_(value);
    return *this;
  }
  return index_put_(indices, at::scalar_tensor(value, options()));
}
Tensor& Tensor::index_put_(std::initializer_list<TensorIndex> indices,
                           const Tensor& values) {
  return index_put_(ArrayRef<TensorIndex>(indices), values);
}
Tensor& Tensor::index_put_(std::initializer_list<TensorIndex> indices,
                           const Scalar& value) {
  return index_put_(ArrayRef<TensorIndex>(indices), value);
}

}  // namespace at
