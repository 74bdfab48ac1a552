#include "hotaru/backend/cpu/linalg/spectra/grouped_rows.h"

#include <algorithm>

#include "hotaru/backend/cpu/matmul/gemm.h"

namespace hotaru::cpu {

GroupedRows::GroupedRows(const std::vector<Part>& parts,
                         const std::vector<int64_t>& kept,
                         const std::vector<int64_t>& deflated)
    : parts_(parts), kept_(kept), deflated_(deflated), places_(kept.size()) {
  int64_t counts[3] = {};
  for (const int64_t i : kept) ++counts[int(parts[size_t(i)])];
  from_second_ = counts[0];
  of_first_ = counts[0] + counts[1];
  int64_t next[3] = {0, from_second_, of_first_};
  for (size_t j = 0; j < kept.size(); ++j)
    places_[j] = next[int(parts[size_t(kept[j])])]++;
}

template <class R>
void GroupedRows::combine(const R* factors, int64_t first, int64_t second,
                          R* block, int64_t ld, R* room) const {
  const int64_t k = int64_t(kept_.size());
  const int64_t rest = int64_t(deflated_.size());
  for (int64_t j = 0; j < rest; ++j)
    std::copy_n(block + deflated_[size_t(j)] * ld, first + second,
                room + j * (first + second));
  R* of_first = room + rest * (first + second);
  R* of_second = of_first + of_first_ * first;
  for (int64_t j = 0; j < k; ++j) {
    const int64_t i = kept_[size_t(j)];
    const R* row = block + i * ld;
    if (parts_[size_t(i)] != Part::kSecond)
      std::copy_n(row, first, of_first + place(j) * first);
    if (parts_[size_t(i)] != Part::kFirst)
      std::copy_n(row + first, second,
                  of_second + (place(j) - from_second_) * second);
  }
  gemm<R>(k, first, of_first_, R(1), {factors, k, 1}, {of_first, first, 1},
          R(0), block, ld);
  gemm<R>(k, second, k - from_second_, R(1), {factors + from_second_, k, 1},
          {of_second, second, 1}, R(0), block + first, ld);
  for (int64_t j = 0; j < rest; ++j)
    std::copy_n(room + j * (first + second), first + second,
                block + (k + j) * ld);
}

template void GroupedRows::combine(const float*, int64_t, int64_t, float*,
                                   int64_t, float*) const;
template void GroupedRows::combine(const double*, int64_t, int64_t, double*,
                                   int64_t, double*) const;

}  // namespace hotaru::cpu
