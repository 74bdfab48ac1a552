// Indices between the brackets of x[...].
#pragma once

#include <optional>
#include <ostream>

#include "ATen/core/Tensor.h"

namespace at::indexing {

enum class EllipsisIndexType : uint8_t { Ellipsis };
using c10::nullopt;
constexpr std::nullopt_t None = std::nullopt;
constexpr EllipsisIndexType Ellipsis = EllipsisIndexType::Ellipsis;

/// Bounds that stand for a Slice's missing end: beyond any dimension.
constexpr int64_t INDEX_MIN = -(int64_t{1} << 62);
constexpr int64_t INDEX_MAX = -(INDEX_MIN + 1);

/// start:stop:step; what is missing is the dimension's own end.
struct Slice final {
  Slice(std::optional<int64_t> start = {}, std::optional<int64_t> stop = {},
        std::optional<int64_t> step = {});

  int64_t start() const { return start_; }
  int64_t stop() const { return stop_; }
  int64_t step() const { return step_; }

 private:
  int64_t start_, stop_, step_;
};
std::ostream& operator<<(std::ostream& out, const Slice& slice);

/// One of them: None, "...", an integer, a bool, a Slice or a tensor.
struct TensorIndex final {
  enum class Kind : uint8_t {
    None,
    Ellipsis,
    Integer,
    Boolean,
    Slice,
    Tensor,
  };

  TensorIndex(std::nullopt_t) {}
  TensorIndex(EllipsisIndexType) : kind_(Kind::Ellipsis) {}
  /// Only "...".
  TensorIndex(const char* text);
  TensorIndex(int64_t integer) : kind_(Kind::Integer), integer_(integer) {}
  TensorIndex(int integer) : TensorIndex(int64_t{integer}) {}
  template <class T, class = std::enable_if_t<std::is_same_v<T, bool>>>
  TensorIndex(T boolean) : kind_(Kind::Boolean), integer_(boolean) {}
  TensorIndex(Slice slice) : kind_(Kind::Slice), slice_(slice) {}
  TensorIndex(Tensor tensor)
      : kind_(Kind::Tensor), tensor_(std::move(tensor)) {}

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::None; }
  bool is_ellipsis() const { return kind_ == Kind::Ellipsis; }
  bool is_integer() const { return kind_ == Kind::Integer; }
  bool is_boolean() const { return kind_ == Kind::Boolean; }
  bool is_slice() const { return kind_ == Kind::Slice; }
  bool is_tensor() const { return kind_ == Kind::Tensor; }
  int64_t integer() const { return integer_; }
  bool boolean() const { return integer_ != 0; }
  const Slice& slice() const { return slice_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  Kind kind_ = Kind::None;
  int64_t integer_ = 0;
  Slice slice_;
  Tensor tensor_;
};
std::ostream& operator<<(std::ostream& out, const TensorIndex& index);
std::ostream& operator<<(std::ostream& out,
                         const std::vector<TensorIndex>& indices);

}  // namespace at::indexing

namespace torch::indexing {
using namespace at::indexing;  // NOLINT: PyTorch's own names
}
