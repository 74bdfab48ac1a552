#include "hotaru/io/sparse_parts.h"

#include "hotaru/core/checks/check.h"
#include "hotaru/core/sparse/sparse.h"

namespace hotaru::io {

namespace {

/// Whole numbers of a part of one dimension, or of a row of one of two.
class Numbers {
 public:
  explicit Numbers(const Tensor& part, int64_t row = -1)
      : wide_(part.dtype() == DType::kInt64),
        size_(part.sizes()[row < 0 ? 0 : 1]),
        stride_(part.strides()[row < 0 ? 0 : 1]),
        offset_(part.storage_offset() +
                (row < 0 ? 0 : row * part.strides()[0])),
        data_(part.storage()->data()) {}
  int64_t size() const { return size_; }
  int64_t operator[](int64_t i) const {
    const int64_t at = offset_ + i * stride_;
    return wide_ ? static_cast<const int64_t*>(data_)[at]
                 : static_cast<const int32_t*>(data_)[at];
  }

 private:
  bool wide_;
  int64_t size_, stride_, offset_;
  const void* data_;
};

void check_fit(bool fits) {
  HOTARU_CHECK(fits,
               "a sparse tensor's parts do not fit one another and its "
               "sizes");
}

void check_inside(const Numbers& numbers, int64_t size) {
  for (int64_t i = 0; i < numbers.size(); ++i)
    HOTARU_CHECK(numbers[i] >= 0 && numbers[i] < size,
                 "a sparse tensor's index ", numbers[i],
                 " is outside of a dimension of ", size);
}

bool counts(const Tensor& part) {
  return part.device() == Device() &&
         (part.dtype() == DType::kInt64 || part.dtype() == DType::kInt32);
}

void check_coo(const Tensor& index, const Tensor& values, IntSpan sizes) {
  check_fit(counts(index) && index.dim() == 2 && values.dim() > 0);
  const int64_t places = index.sizes()[0];
  check_fit(index.sizes()[1] == values.sizes()[0] &&
            places + values.dim() - 1 == int64_t(sizes.size()));
  for (int64_t i = 1; i < values.dim(); ++i)
    check_fit(values.sizes()[i] == sizes[places + i - 1]);
  for (int64_t i = 0; i < places; ++i)
    check_inside(Numbers(index, i), sizes[i]);
}

void check_csr(const Tensor& rows, const Tensor& columns, const Tensor& values,
               IntSpan sizes) {
  check_fit(sizes.size() == 2 && counts(rows) && counts(columns) &&
            rows.dim() == 1 && columns.dim() == 1 && values.dim() == 1);
  check_fit(rows.sizes()[0] - 1 == sizes[0] &&
            columns.sizes()[0] == values.sizes()[0]);
  const Numbers begins(rows);
  check_fit(begins[0] == 0 && begins[sizes[0]] == columns.sizes()[0]);
  for (int64_t i = 0; i < sizes[0]; ++i) check_fit(begins[i] <= begins[i + 1]);
  check_inside(Numbers(columns), sizes[1]);
}

}  // namespace

Tensor sparse_of_parts(int64_t layout, IntSpan sizes,
                       const std::vector<Tensor>& parts) {
  const bool coo = layout == int64_t(Layout::kSparseCoo);
  HOTARU_CHECK(coo || layout == int64_t(Layout::kSparseCsr),
               "a sparse tensor of layout ", layout, " is not supported");
  check_fit(parts.size() == (coo ? 2 : 3));
  int64_t numel = int64_t(itemsize(parts.back().dtype()));
  for (const int64_t size : sizes)
    HOTARU_CHECK(!__builtin_mul_overflow(numel, size, &numel),
                 "a sparse tensor's sizes are too large");
  SparseStorage::Parts held;
  held.layout = Layout(layout);
  held.index = parts[0];
  held.values = parts.back();
  if (coo) {
    check_coo(held.index, held.values, sizes);
  } else {
    held.inner = parts[1];
    check_csr(held.index, held.inner, held.values, sizes);
  }
  return make_sparse(std::move(held), sizes, false);
}

}  // namespace hotaru::io
