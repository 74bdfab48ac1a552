#include "hotaru/core/printing/text_column.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace hotaru {
namespace {

enum class Notation { kInteger, kFixed, kScientific };

bool has_say(double value) {
  return std::isfinite(value) && value != 0;
}

Notation choose_notation(std::span<const double> values,
                         const std::optional<bool>& sci_mode) {
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0;
  bool integral = true;
  for (const double value : values) {
    if (!has_say(value)) continue;
    smallest = std::min(smallest, std::abs(value));
    largest = std::max(largest, std::abs(value));
    integral = integral && value == std::ceil(value);
  }
  // Without a say even a wish for scientific notation is not heard.
  if (largest == 0) return Notation::kInteger;
  const bool scientific = sci_mode.value_or(largest / smallest > 1e3 ||
                                            largest > 1e8 || smallest < 1e-4);
  if (scientific) return Notation::kScientific;
  return integral ? Notation::kInteger : Notation::kFixed;
}

/// Writes numbers into a buffer that holds the longest of them: a double has
/// up to 309 digits before the point.
class FloatWriter {
 public:
  FloatWriter(Notation notation, int64_t precision)
      : notation_(notation), precision_(int(precision)) {}

  /// Valid until the next call.
  std::string_view write(double value) {
    // The sign of NaN is not shown, to_chars would.
    if (std::isnan(value)) return "nan";
    const bool scientific = notation_ == Notation::kScientific;
    const bool integer = notation_ == Notation::kInteger;
    char* end =
        std::to_chars(buffer_.data(), buffer_.data() + buffer_.size(), value,
                      scientific ? std::chars_format::scientific
                                 : std::chars_format::fixed,
                      integer ? 0 : precision_)
            .ptr;
    if (integer && std::isfinite(value)) *end++ = '.';
    return {buffer_.data(), end};
  }

 private:
  Notation notation_;
  int precision_;
  std::array<char, 320 + PrintOptions::kMaxPrecision> buffer_;
};

}  // namespace

TextColumn TextColumn::of_floats(std::span<const double> values,
                                 const PrintOptions& options) {
  options.check();
  FloatWriter writer(choose_notation(values, options.sci_mode),
                     options.precision);
  TextColumn column;
  column.ends_.reserve(values.size());
  for (const double value : values) {
    const std::string_view text = writer.write(value);
    column.add(text);
    if (has_say(value)) column.widen(text.size());
  }
  return column;
}

template <class T>
TextColumn TextColumn::of_whole(std::span<const T> values) {
  TextColumn column;
  column.ends_.reserve(values.size());
  std::array<char, 20> buffer;
  for (const T value : values) {
    char* begin = buffer.data();
    const auto end = std::to_chars(begin, begin + buffer.size(), value).ptr;
    column.add({begin, end});
    column.widen(size_t(end - begin));
  }
  return column;
}

TextColumn TextColumn::of_ints(std::span<const int64_t> values) {
  return of_whole(values);
}

TextColumn TextColumn::of_unsigned(std::span<const uint64_t> values) {
  return of_whole(values);
}

TextColumn TextColumn::of_bools(std::span<const int64_t> values) {
  TextColumn column;
  column.ends_.reserve(values.size());
  for (const int64_t value : values) {
    const std::string_view text = value ? "True" : "False";
    column.add(text);
    column.widen(text.size());
  }
  return column;
}

void TextColumn::append_padded(size_t i, std::string& out) const {
  const std::string_view text = (*this)[i];
  if (text.size() < width_) out.append(width_ - text.size(), ' ');
  out += text;
}

void TextColumn::add(std::string_view text) {
  chars_ += text;
  ends_.push_back(chars_.size());
}

}  // namespace hotaru
