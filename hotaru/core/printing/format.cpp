#include "hotaru/core/printing/format.h"

#include <algorithm>
#include <vector>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/core/printing/text_column.h"
#include "hotaru/core/rare.h"

namespace hotaru {
namespace {

/// Python's len(): code points, not bytes.
int64_t length(std::string_view utf8) {
  return std::count_if(utf8.begin(), utf8.end(),
                       [](char c) { return (c & 0xc0) != 0x80; });
}

/// Tells whether there are elements to print.
bool has_elements(const Tensor& self) {
  return self.device().type != DeviceType::kMeta && self.numel() > 0;
}

bool summarised(const Tensor& self, const PrintOptions& options) {
  return double(self.numel()) > options.threshold;
}

/// True if the middle of a dimension is left out: size > 2 * edgeitems, without
/// overflow.
bool is_cut(int64_t size, bool summarise, const PrintOptions& options) {
  return summarise && options.edgeitems < size / 2 + size % 2;
}

/// Calls f with each element in row-major order, whatever the strides.
template <class T, class F>
void for_each_element(const Tensor& self, const F& f) {
  const IntSpan sizes = self.sizes(), strides = self.strides();
  const size_t ndim = sizes.size();
  const int64_t inner_stride = ndim == 0 ? 0 : strides[ndim - 1];
  const int64_t inner_size = ndim == 0 ? 1 : sizes[ndim - 1];
  Dims index(ndim, 0);
  const T* row = host_data<T>(self, "print");
  for (int64_t left = self.numel(); left > 0; left -= inner_size) {
    for (int64_t i = 0; i < inner_size; ++i) f(row[i * inner_stride]);
    for (size_t d = ndim < 2 ? 0 : ndim - 1; d-- > 0;) {
      row += strides[d];
      if (++index[d] < sizes[d]) break;
      row -= strides[d] * sizes[d];
      index[d] = 0;
    }
  }
}

/// One column, or two for complex numbers.
struct Elements {
  TextColumn real, imag;
  bool is_complex = false;
};

template <class To, class T>
std::vector<To> read_all(const Tensor& self) {
  std::vector<To> values;
  values.reserve(size_t(self.numel()));
  for_each_element<T>(self, [&](T value) { values.push_back(To(value)); });
  return values;
}

/// T: an element, C: a complex number that holds it.
template <class T, class C>
Elements read_complex(const Tensor& shown, const PrintOptions& options) {
  std::vector<double> real, imag;
  real.reserve(size_t(shown.numel()));
  imag.reserve(size_t(shown.numel()));
  for_each_element<T>(shown, [&](C value) {
    real.push_back(value.real());
    imag.push_back(value.imag());
  });
  Elements out;
  out.real = TextColumn::of_floats(real, options);
  out.imag = TextColumn::of_floats(imag, options);
  out.is_complex = true;
  return out;
}

Elements read_rare(const Tensor& shown, const PrintOptions& options) {
  Elements out;
  visit_if_listed(RareTypes{}, shown.dtype(), [&]<class T>() {
    if constexpr (std::is_same_v<T, ComplexHalf>)
      out = read_complex<T, std::complex<float>>(shown, options);
    else if constexpr (std::is_same_v<T, uint64_t>)
      out.real = TextColumn::of_unsigned(read_all<uint64_t, T>(shown));
    else if constexpr (std::is_integral_v<T>)
      out.real = TextColumn::of_ints(read_all<int64_t, T>(shown));
    else
      out.real = TextColumn::of_floats(read_all<double, T>(shown), options);
  });
  return out;
}

/// Bytes stand for elements that nothing reads; of floats they are written as
/// floats, as PyTorch does.
Elements read_stored(const Tensor& shown, const PrintOptions& options) {
  const DType dtype = shown.dtype();
  const Tensor bytes =
      make_tensor(shown.storage(), stored_as(dtype), shown.sizes(),
                  shown.strides(), shown.storage_offset());
  Elements out;
  if (is_floating_point(dtype)) {
    out.real = TextColumn::of_floats(read_all<double, uint8_t>(bytes), options);
  } else if (itemsize(dtype) == 1) {
    out.real = TextColumn::of_ints(read_all<int64_t, uint8_t>(bytes));
  } else {
    std::vector<int64_t> values;
    for_each_element<int16_t>(
        bytes, [&](int16_t value) { values.push_back(uint16_t(value)); });
    out.real = TextColumn::of_ints(values);
  }
  return out;
}

Elements read_elements(const Tensor& shown, const PrintOptions& options) {
  if (is_stored_only(shown.dtype())) return read_stored(shown, options);
  if (is_rare(shown.dtype())) return read_rare(shown, options);
  Elements out;
  visit_dtype(AllTypes{}, shown.dtype(), "print", [&]<class T>() {
    if constexpr (kIsComplex<T>)
      out = read_complex<T, T>(shown, options);
    else if constexpr (kIsFloating<T>)
      out.real = TextColumn::of_floats(read_all<double, T>(shown), options);
    else if constexpr (kIsBool<T>)
      out.real = TextColumn::of_bools(read_all<int64_t, T>(shown));
    else
      out.real = TextColumn::of_ints(read_all<int64_t, T>(shown));
  });
  return out;
}

/// Writes nested brackets around elements that come in row-major order.
class Layout {
 public:
  Layout(const Tensor& self, const Elements& elements,
         const PrintOptions& options, int64_t indent, std::string& out)
      : sizes_(self.sizes()),
        elements_(elements),
        options_(options),
        summarise_(summarised(self, options)),
        indent_(indent),
        out_(out) {}

  void write() { write_from(0); }

 private:
  void write_from(size_t depth) {
    const size_t ndim = sizes_.size();
    if (depth == ndim) return write_element();
    const bool innermost = depth + 1 == ndim;
    const int64_t edge = options_.edgeitems;
    const bool cut = is_cut(sizes_[depth], summarise_, options_);
    const int64_t count = cut ? 2 * edge + 1 : sizes_[depth];
    const int64_t per_line = innermost ? elements_per_line(depth) : 1;
    out_ += '[';
    for (int64_t i = 0; i < count; ++i) {
      if (i > 0 && i % per_line != 0) {
        out_ += ", ";
      } else if (i > 0) {
        out_ += ',';
        // A blank line for each level of brackets that closes and opens.
        out_.append(std::max<size_t>(1, ndim - depth - 1), '\n');
        out_.append(size_t(indent_) + depth + 1, ' ');
      }
      if (!cut || i != edge)
        write_from(depth + 1);
      else
        out_ += innermost && edge > 0 ? " ..." : "...";
    }
    out_ += ']';
  }

  int64_t elements_per_line(size_t depth) const {
    const int64_t separator = 2;
    auto width = int64_t(elements_.real.width()) + separator;
    if (elements_.is_complex) width += int64_t(elements_.imag.width()) + 1;
    const int64_t line = std::max<int64_t>(options_.linewidth, 0);
    return std::max<int64_t>(1, (line - indent_ - int64_t(depth)) / width);
  }

  void write_element() {
    const size_t i = next_++;
    elements_.real.append_padded(i, out_);
    if (!elements_.is_complex) return;
    const std::string_view imag = elements_.imag[i];
    if (imag[0] != '-') out_ += '+';
    out_ += imag;
    out_ += 'j';
  }

  IntSpan sizes_;
  const Elements& elements_;
  const PrintOptions& options_;
  bool summarise_;
  int64_t indent_;
  std::string& out_;
  size_t next_ = 0;
};

/// A shape as Python prints a tuple: (), (2,), (2, 3).
std::string tuple_text(IntSpan sizes) {
  std::string out = "(";
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i > 0) out += ", ";
    out += std::to_string(sizes[i]);
  }
  return out + (sizes.size() == 1 ? ",)" : ")");
}

/// device, size and dtype, each where PyTorch shows it. Without elements to
/// tell them apart every dtype but the default one is shown.
std::vector<std::string> suffixes_of(const Tensor& self,
                                     const PrintOptions& options) {
  std::vector<std::string> out;
  const Device device = self.device();
  const DType dtype = self.dtype(), usual = default_dtype();
  const bool meta = device.type == DeviceType::kMeta;
  const bool empty = self.numel() == 0;
  if (!device.is_cpu()) out.push_back("device='" + device.str() + "'");
  if (meta || (empty ? self.dim() != 1 : options.edgeitems == 0))
    out.push_back("size=" + tuple_text(self.sizes()));
  const bool evident = dtype == to_complex(usual) || dtype == DType::kInt64 ||
                       dtype == DType::kBool;
  if (dtype != usual && (meta || empty || !evident))
    out.push_back(concat("dtype=", dtype));
  return out;
}

void append_suffixes(const std::vector<std::string>& suffixes, int64_t indent,
                     int64_t linewidth, std::string& out) {
  const size_t line_start = out.rfind('\n') + 1;  // 0 when there is one line
  // PyTorch counts two columns more than the first line has.
  int64_t column = length(std::string_view(out).substr(line_start)) + 2;
  for (const std::string& suffix : suffixes) {
    const int64_t size = length(suffix);
    if (column + size + 2 > linewidth) {
      out += ",\n" + std::string(size_t(indent), ' ');
      column = indent + size;
    } else {
      out += ", ";
      column += size + 2;
    }
    out += suffix;
  }
}

/// The elements of a dimension's both ends as one strided view.
Tensor view_of_shown(const Tensor& self, const PrintOptions& options) {
  const bool summarise = summarised(self, options);
  const int64_t edge = options.edgeitems;
  Dims sizes, strides;
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    const int64_t size = self.sizes()[d], stride = self.strides()[d];
    const bool cut = is_cut(size, summarise, options);
    if (cut) {
      sizes.push_back(2);
      strides.push_back((size - edge) * stride);
    }
    sizes.push_back(cut ? edge : size);
    strides.push_back(stride);
  }
  return make_tensor(self.storage(), self.dtype(), sizes, strides,
                     self.storage_offset());
}

}  // namespace

Tensor shown_elements(const Tensor& self, const PrintOptions& options) {
  HOTARU_CHECK(self.defined(), "print: the tensor is undefined");
  options.check();
  return view_of_shown(self, options);
}

std::string format_tensor(const Tensor& self, std::string_view suffix,
                          std::string_view prefix) {
  HOTARU_CHECK(self.defined(), "print: the tensor is undefined");
  const PrintOptions options = print_options();
  const Tensor shown =
      has_elements(self) ? shown_elements(self, options) : self;
  std::vector<std::string> suffixes;
  if (!suffix.empty()) suffixes.emplace_back(suffix);
  return format_tensor(self, shown, options, suffixes, prefix);
}

std::string format_tensor(const Tensor& self, const Tensor& shown,
                          const PrintOptions& options,
                          const std::vector<std::string>& more,
                          std::string_view prefix) {
  HOTARU_CHECK(self.defined() && shown.defined(),
               "print: the tensor is undefined");
  options.check();
  const int64_t indent = length(prefix);
  std::string out(prefix);
  if (!has_elements(self)) {
    out += self.device().type == DeviceType::kMeta ? "..." : "[]";
  } else {
    HOTARU_CHECK(shown.device().is_cpu(),
                 "print: expected the shown elements on cpu, got ",
                 shown.device());
    HOTARU_CHECK(shown.dtype() == self.dtype() &&
                     shown.numel() == view_of_shown(self, options).numel(),
                 "print: the elements given are not the tensor's shown ones");
    const Elements elements = read_elements(shown, options);
    Layout(self, elements, options, indent, out).write();
  }
  std::vector<std::string> suffixes = suffixes_of(self, options);
  suffixes.insert(suffixes.end(), more.begin(), more.end());
  append_suffixes(suffixes, indent, options.linewidth, out);
  return out + ")";
}

}  // namespace hotaru
