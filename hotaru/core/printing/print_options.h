// How tensors are printed: what torch.set_printoptions sets.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hotaru {

struct PrintOptions {
  static constexpr int64_t kMaxPrecision = 1100;

  /// Digits after the decimal point, in [0, kMaxPrecision]; no double has
  /// more than 1074 of them.
  int64_t precision = 4;
  /// Tensors of more elements than this are summarised; may be infinite.
  double threshold = 1000;
  /// Elements kept at each end of a summarised dimension; not negative.
  int64_t edgeitems = 3;
  /// Columns after which lines break.
  int64_t linewidth = 80;
  /// Scientific notation always or never; chosen by the values when absent.
  std::optional<bool> sci_mode;

  /// The profiles "default", "short" and "full"; ValueError for any other.
  static PrintOptions profile(std::string_view name);
  /// ValueError when a field is outside its range.
  void check() const;

  bool operator==(const PrintOptions&) const = default;
};

/// The process-wide options, as a snapshot. Thread-safe.
PrintOptions print_options();
/// Replaces all of them at once; ValueError leaves them as they were.
/// Thread-safe.
void set_print_options(const PrintOptions& options);

}  // namespace hotaru
