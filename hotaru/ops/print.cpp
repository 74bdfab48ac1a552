#include "hotaru/ops/print.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iomanip>
#include <vector>

#include "hotaru/core/printing/concat.h"
#include "hotaru/core/sparse/sparse.h"
#include "hotaru/ops/host_value.h"

namespace hotaru {
namespace {

/// Numbers of one piece of text: what they are divided by, how wide they are.
struct Column {
  double scale = 1;
  int width = 0;
};

/// A stream with its format put back at the end.
class KeepFormat {
 public:
  explicit KeepFormat(std::ostream& out) : out_(out), saved_(nullptr) {
    saved_.copyfmt(out);
  }
  ~KeepFormat() { out_.copyfmt(saved_); }
  KeepFormat(const KeepFormat&) = delete;
  KeepFormat& operator=(const KeepFormat&) = delete;

 private:
  std::ostream& out_;
  std::ios saved_;
};

/// Digits before the decimal point, as log10 counts them.
int magnitude(double value) {
  return value == 0 ? 1 : int(std::floor(std::log10(value))) + 1;
}

/// Sets the stream's format to what suits all the values.
Column choose_format(std::ostream& out, const double* values, int64_t n) {
  bool integers = true, any = false;
  double smallest = 0, largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (!std::isfinite(values[i])) continue;
    integers = integers && values[i] == std::ceil(values[i]);
    const double v = std::abs(values[i]);
    smallest = any ? std::min(smallest, v) : v;
    largest = any ? std::max(largest, v) : v;
    any = true;
  }
  const int low = any ? magnitude(smallest) : 1;
  const int high = any ? magnitude(largest) : 1;
  constexpr int kScientific = 11;
  if (integers) {
    if (high <= 9) {
      out << std::defaultfloat;
      return {1, high + 1};
    }
    out << std::scientific << std::setprecision(4);
    return {1, kScientific};
  }
  if (high - low > 4) {
    out << std::scientific << std::setprecision(4);
    const bool long_exponent = std::abs(high) > 99 || std::abs(low) > 99;
    return {1, kScientific + long_exponent};
  }
  out << std::fixed << std::setprecision(4);
  if (high > 5 || high < 0) return {std::pow(10, high - 1), 7};
  return {1, high == 0 ? 7 : high + 6};
}

/// The shortest text that reads back as the number, without an exponent where
/// it has up to 16 digits.
std::string number_text(double value) {
  std::array<char, 64> text;
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto end = std::to_chars(
      text.data(), text.data() + text.size(), value,
      plain ? std::chars_format::fixed : std::chars_format::scientific);
  return std::string(text.data(), end.ptr);
}

void print_scale(std::ostream& out, double scale) {
  out << number_text(scale) << " *" << '\n';
}

void print_vector(std::ostream& out, const double* values, int64_t n) {
  const KeepFormat keep(out);
  const Column column = choose_format(out, values, n);
  if (column.scale != 1) print_scale(out, column.scale);
  for (int64_t i = 0; i < n; ++i)
    out << std::setw(column.width) << values[i] / column.scale << '\n';
}

void print_matrix(std::ostream& out, const double* values, int64_t rows,
                  int64_t columns, int64_t linesize, int64_t indent) {
  const KeepFormat keep(out);
  const std::string space(size_t(indent), ' ');
  const Column column = choose_format(out, values, rows * columns);
  const int64_t fit =
      std::max<int64_t>(1, (linesize - indent) / (column.width + 1));
  for (int64_t first = 0; first < columns; first += fit) {
    const int64_t last = std::min(first + fit, columns) - 1;
    if (fit < columns) {
      if (first) out << '\n';
      out << "Columns " << first + 1 << " to " << last + 1 << space;
    }
    if (column.scale != 1) {
      print_scale(out, column.scale);
      out << space;
    }
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t c = first; c <= last; ++c) {
        out << std::setw(column.width)
            << values[row * columns + c] / column.scale
            << (c == last ? '\n' : ' ');
      }
      if (row + 1 < rows) out << (column.scale != 1 ? " " : "") << space;
    }
  }
}

/// Matrices one after the other; of the dimensions before, the first changes
/// fastest.
void print_slices(std::ostream& out, const double* data, IntSpan sizes,
                  int64_t linesize) {
  const size_t outer = sizes.size() - 2;
  const int64_t rows = sizes[outer], columns = sizes[outer + 1];
  const int64_t matrices = numel_of(sizes) / (rows * columns);
  const Dims strides = contiguous_strides(sizes);
  Dims at(outer, 0);
  for (int64_t i = 0; i < matrices; ++i) {
    if (i) out << '\n';
    out << '(';
    int64_t offset = 0;
    for (size_t d = 0; d < outer; ++d) {
      out << at[d] + 1 << ',';
      offset += at[d] * strides[d];
    }
    out << ".,.) = " << '\n';
    print_matrix(out, data + offset, rows, columns, linesize, 1);
    for (size_t d = 0; d < outer && ++at[d] == sizes[d]; ++d) at[d] = 0;
  }
}

}  // namespace

std::string type_text(const Tensor& t) {
  if (!t.defined()) return "UndefinedType";
  std::string device = t.device().str();
  device.resize(std::min(device.size(), device.find(':')));
  for (char& c : device) c = char(std::toupper(c));
  return concat(sparse_storage(t) ? "Sparse" : "", device,
                scalar_type_name(t.dtype()), "Type");
}

void print_columns(std::ostream& out, const Tensor& t, int64_t linesize) {
  if (!t.defined()) {
    out << "[ Tensor (undefined) ]";
    return;
  }
  if (const auto* sparse = sparse_storage(t)) {
    out << "[ " << type_text(t) << "{}\nindices:\n";
    print_columns(out, sparse->parts().index);
    out << "\nvalues:\n";
    print_columns(out, sparse->parts().values);
    out << "\nsize:\n" << shape_text(t.sizes()) << "\n]";
    return;
  }
  const std::vector<double> values = host_numbers(t, "printing");
  const double* data = values.data();
  if (t.dim() == 0) {
    out << number_text(*data) << '\n';
  } else if (values.empty()) {
    // Only what is below.
  } else if (t.dim() == 1) {
    print_vector(out, data, t.numel());
  } else if (t.dim() == 2) {
    print_matrix(out, data, t.size(0), t.size(1), linesize, 0);
  } else {
    print_slices(out, data, t.sizes(), linesize);
  }
  std::string sizes;
  for (int64_t size : t.sizes())
    sizes += concat(sizes.empty() ? "" : ",", size);
  out << "[ " << type_text(t) << '{' << sizes << "} ]";
}

}  // namespace hotaru
