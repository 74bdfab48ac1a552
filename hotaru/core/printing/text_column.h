// The texts of numbers that are printed together, and the width they share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hotaru/core/printing/print_options.h"

namespace hotaru {

/// Numbers as text, in one notation that suits all of them. The rules are
/// those of PyTorch's printing; nothing depends on the locale. Immutable.
class TextColumn {
 public:
  TextColumn() = default;
  /// Floating values. Integers print as "1."; a column that spans more than
  /// three decades, or reaches above 1e8 or below 1e-4, is scientific; any
  /// other has options.precision decimals. Zeros, NaN and infinity have no
  /// say in the notation nor in the width.
  static TextColumn of_floats(std::span<const double> values,
                              const PrintOptions& options);
  static TextColumn of_ints(std::span<const int64_t> values);
  static TextColumn of_unsigned(std::span<const uint64_t> values);
  /// True and False.
  static TextColumn of_bools(std::span<const int64_t> values);

  /// Columns that texts are padded to on the left. Single texts may be longer.
  size_t width() const { return width_; }
  size_t size() const { return ends_.size(); }
  /// The unpadded text of a number.
  std::string_view operator[](size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(chars_).substr(begin, ends_[i] - begin);
  }
  /// Writes the text of a number, padded to the width.
  void append_padded(size_t i, std::string& out) const;

 private:
  template <class T>
  static TextColumn of_whole(std::span<const T> values);
  void add(std::string_view text);
  void widen(size_t width) { width_ = width > width_ ? width : width_; }

  std::string chars_;
  std::vector<size_t> ends_;
  size_t width_ = 1;
};

}  // namespace hotaru
