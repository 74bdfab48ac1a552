#include "hotaru/io/npy.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/io/new_file.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
// NumPy refuses longer headers too (ast.literal_eval's safety limit).
constexpr size_t kMaxHeader = 10000;
constexpr size_t kMaxDims = 64;
// The array begins at a multiple of this.
constexpr size_t kAlignment = 64;

struct Code {
  std::string_view text;
  DType dtype;
};
constexpr Code kCodes[] = {
    {"|b1", DType::kBool},      {"|u1", DType::kUInt8},
    {"|i1", DType::kInt8},      {"<i2", DType::kInt16},
    {"<i4", DType::kInt32},     {"<i8", DType::kInt64},
    {"<u2", DType::kUInt16},    {"<u4", DType::kUInt32},
    {"<u8", DType::kUInt64},    {"<f2", DType::kFloat16},
    {"<f4", DType::kFloat32},   {"<f8", DType::kFloat64},
    {"<c8", DType::kComplex64}, {"<c16", DType::kComplex128}};

/// The header's dictionary: a Python literal with three known keys.
class Header {
 public:
  Header(std::string_view text, size_t offset, const std::string& path)
      : text_(text), offset_(offset), path_(path) {}

  void parse() {
    expect('{');
    while (!accept('}')) {
      std::string_view key = quoted();
      expect(':');
      if (key == "descr")
        dtype = code(quoted());
      else if (key == "fortran_order")
        fortran_order = boolean();
      else if (key == "shape")
        shape = tuple();
      else
        fail_here("the key '", key, "' is none of descr, fortran_order, shape");
      keys_ |= key[0] == 'd' ? 1 : key[0] == 'f' ? 2 : 4;
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (keys_ != 7) fail_here("descr, fortran_order and shape are needed");
    skip_space();
    if (pos_ != text_.size()) fail_here("text after the dictionary");
  }

  DType dtype = DType::kFloat32;
  bool fortran_order = false;
  bool big_endian = false;
  Dims shape;

 private:
  template <class... Args>
  [[noreturn]] void fail_here(const Args&... args) const {
    fail(path_, ": header, offset ", offset_ + pos_, ": ", args...);
  }

  void skip_space() {
    pos_ = std::min(text_.find_first_not_of(" \n\t", pos_), text_.size());
  }

  bool accept(char c) {
    skip_space();
    if (pos_ == text_.size() || text_[pos_] != c) return false;
    ++pos_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail_here("expected '", c, "'");
  }

  std::string_view quoted() {
    skip_space();
    const char quote = pos_ < text_.size() ? text_[pos_] : 0;
    const size_t end = quote == '\'' || quote == '"'
                           ? text_.find(quote, pos_ + 1)
                           : text_.npos;
    if (end == text_.npos) fail_here("expected a quoted string");
    std::string_view inside = text_.substr(pos_ + 1, end - pos_ - 1);
    pos_ = end + 1;
    return inside;
  }

  DType code(std::string_view text) {
    big_endian = text.starts_with('>');
    // '=' and nothing are this machine's order, '|' has none.
    const bool marked = text.find_first_of("<>=|") == 0;
    const std::string_view kind = text.substr(marked ? 1 : 0);
    for (const Code& known : kCodes)
      if (known.text.substr(1) == kind) return known.dtype;
    fail_here("arrays of '", text, "' can't be read; numbers can, such as ",
              "'<f4'");
  }

  bool boolean() {
    skip_space();
    for (bool value : {false, true}) {
      std::string_view word = value ? "True" : "False";
      if (text_.substr(pos_, word.size()) == word) {
        pos_ += word.size();
        return value;
      }
    }
    fail_here("expected True or False");
  }

  Dims tuple() {
    Dims sizes;
    expect('(');
    while (!accept(')')) {
      skip_space();
      int64_t size = 0;
      const char* begin = text_.data() + pos_;
      auto [end, error] =
          std::from_chars(begin, text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0) fail_here("expected a size");
      pos_ += size_t(end - begin);
      if (sizes.size() == kMaxDims)
        fail_here("more than ", kMaxDims, " dimensions");
      sizes.push_back(size);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }

  std::string_view text_;
  size_t offset_;
  const std::string& path_;
  size_t pos_ = 0;
  int keys_ = 0;
};

/// Bytes of an array. Throws when they, or a stride of an empty array, leave
/// int64.
uint64_t byte_count(const Header& header, const std::string& path) {
  int64_t count = int64_t(itemsize(header.dtype));
  bool overflow = false, empty = false;
  for (int64_t size : header.shape) {
    empty |= size == 0;
    overflow |=
        __builtin_mul_overflow(count, std::max<int64_t>(size, 1), &count);
  }
  HOTARU_CHECK(!overflow, path, ": the shape ", shape_text(header.shape),
               " holds more elements than memory has addresses");
  return empty ? 0 : uint64_t(count);
}

/// Turns each number of the bytes; a complex one is two.
void swap_bytes(std::byte* bytes, size_t count, DType dtype) {
  const size_t size = itemsize(dtype) / (is_complex(dtype) ? 2 : 1);
  for (std::byte* at = bytes; at != bytes + count; at += size)
    std::reverse(at, at + size);
}

Dims fortran_strides(IntSpan sizes) {
  Dims strides(sizes.size(), 1);
  for (size_t i = 1; i < sizes.size(); ++i)
    strides[i] = strides[i - 1] * std::max<int64_t>(sizes[i - 1], 1);
  return strides;
}

std::string header_of(const Tensor& tensor) {
  std::string text = concat("{'descr': '", npy_code(tensor.dtype()),
                            "', 'fortran_order': False, 'shape': (");
  for (int64_t size : tensor.sizes()) text += concat(size, ", ");
  text += "), }";
  // Magic, version and length take ten bytes; the last is a line's end.
  while ((text.size() + 11) % kAlignment) text += ' ';
  return text + '\n';
}

/// Rest of a pipe, up to so many bytes; memory grows with what comes.
std::string read_pipe(std::istream& in, uint64_t most) {
  constexpr uint64_t kPiece = 1 << 20;
  std::string bytes;
  while (in && bytes.size() < most) {
    const size_t had = bytes.size();
    bytes.resize(had + std::min<uint64_t>(kPiece, most - had));
    in.read(bytes.data() + had, std::streamsize(bytes.size() - had));
    bytes.resize(had + size_t(in.gcount()));
  }
  return bytes;
}

}  // namespace

Tensor read_npy(const std::string& path) {
  std::error_code unreadable;
  const bool pipe = std::filesystem::is_fifo(path, unreadable) ||
                    std::filesystem::is_character_file(path, unreadable);
  const uint64_t file_size = pipe
                                 ? std::numeric_limits<uint64_t>::max()
                                 : std::filesystem::file_size(path, unreadable);
  std::ifstream in(path, std::ios::binary);
  HOTARU_CHECK(in && !unreadable, path, ": can't be read: ",
               unreadable ? unreadable.message() : std::strerror(errno));

  std::array<char, 12> start{};
  in.read(start.data(), 8);
  HOTARU_CHECK(in && std::string_view(start.data(), 6) == kMagic, path,
               ": no .npy file: it does not begin with \\x93NUMPY");
  const int version = static_cast<unsigned char>(start[6]);
  HOTARU_CHECK(version >= 1 && version <= 3 && start[7] == 0, path,
               ": offset 6: version ", version, ".", int(start[7]),
               " of the format is unknown; 1.0 to 3.0 are known");
  const size_t length_bytes = version == 1 ? 2 : 4;
  in.read(start.data() + 8, std::streamsize(length_bytes));
  uint32_t length = 0;
  std::memcpy(&length, start.data() + 8, length_bytes);
  const size_t header_offset = 8 + length_bytes;
  HOTARU_CHECK(
      in && length <= kMaxHeader && header_offset + length <= file_size, path,
      ": offset 8: a header of ", length,
      " bytes; the file ends before, or it is beyond ", kMaxHeader);
  std::string text(length, '\0');
  in.read(text.data(), length);

  Header header(text, header_offset, path);
  header.parse();
  const uint64_t wanted = byte_count(header, path);
  const std::string piped = pipe ? read_pipe(in, wanted) : "";
  const uint64_t present =
      pipe ? piped.size() : file_size - header_offset - length;
  // Another array may lie behind it, as numpy.save() into an open file writes.
  HOTARU_CHECK(wanted <= present, path, ": offset ", header_offset + length,
               ": the shape ", shape_text(header.shape), " of ", header.dtype,
               " needs ", wanted, " bytes, the file has ", present);
  Tensor tensor = header.fortran_order
                      ? allocate(header.shape, fortran_strides(header.shape),
                                 header.dtype, Device{})
                      : allocate(header.shape, header.dtype, Device{});
  void* bytes = host_bytes(tensor, "read_npy");
  if (pipe)
    std::copy_n(piped.data(), wanted, static_cast<char*>(bytes));
  else
    in.read(static_cast<char*>(bytes), std::streamsize(wanted));
  HOTARU_CHECK(in || pipe || wanted == 0, path, ": can't be read to its end");
  if (header.big_endian)
    swap_bytes(static_cast<std::byte*>(bytes), wanted, header.dtype);
  return tensor;
}

std::string_view npy_code(DType dtype) {
  for (const Code& known : kCodes)
    if (known.dtype == dtype) return known.text;
  fail<TypeError>("write_npy: NumPy has no ", dtype,
                  "; convert to float32 first");
}

void write_npy(const std::string& path, const Tensor& tensor) {
  const Tensor array = contiguous(to(detach(tensor), Device{}));
  const std::string header = header_of(array);
  NewFile out(path);
  const uint16_t length = uint16_t(header.size());
  out.write(kMagic);
  out.write({"\1\0", 2});  // the format's version
  out.write({reinterpret_cast<const char*>(&length), 2});
  out.write(header);
  out.write({static_cast<const char*>(host_bytes(array, "write_npy")),
             size_t(array.numel()) * itemsize(array.dtype())});
  out.finish();
}

}  // namespace hotaru::io
