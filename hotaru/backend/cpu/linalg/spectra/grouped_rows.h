// Merging in divide and conquer: vectors of two neighbouring blocks are rows of
// one matrix, and combinations of some of them take their place.
#pragma once

#include <vector>

#include "hotaru/backend/cpu/linalg/matrix.h"

namespace hotaru::cpu {

/// Which columns of its block a row has elements in: the first block's, the
/// second's, or both.
enum class Part { kFirst, kBoth, kSecond };

class GroupedRows {
 public:
  /// `parts` says it of each row. The kept rows are combined, in any order; the
  /// deflated stay as they are.
  GroupedRows(const std::vector<Part>& parts, const std::vector<int64_t>& kept,
              const std::vector<int64_t>& deflated);

  /// Where the factor of kept row j stands in a row of factors: rows of one
  /// part go together, so that zeros need not be multiplied.
  int64_t place(int64_t j) const { return places_[size_t(j)]; }

  /// Makes the first rows of `block` [.., first + second], ld apart, the
  /// products of `factors` [kept, kept] and the kept rows; the deflated follow.
  /// `room` has as many elements as the block.
  template <class R>
  void combine(const R* factors, int64_t first, int64_t second, R* block,
               int64_t ld, R* room) const;

 private:
  const std::vector<Part>& parts_;
  const std::vector<int64_t>&kept_, &deflated_;
  std::vector<int64_t> places_;
  int64_t of_first_ = 0;     // rows with elements in the first block
  int64_t from_second_ = 0;  // and before those with some in the second
};

}  // namespace hotaru::cpu
