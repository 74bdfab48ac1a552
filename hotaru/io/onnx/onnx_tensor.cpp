// The tensors of ONNX files: in the file, or beside it.
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <utility>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/core/shape.h"
#include "hotaru/io/onnx/onnx_file.h"
#include "hotaru/io/proto_reader.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru::io::onnx {

namespace {

struct TypeRow {
  const char* name;
  std::optional<DType> dtype;
};

// TensorProto.DataType's numbers.
constexpr auto kNone = std::nullopt;
constexpr std::array<TypeRow, 27> kTypes = {{
    {"UNDEFINED", kNone},
    {"FLOAT", DType::kFloat32},
    {"UINT8", DType::kUInt8},
    {"INT8", DType::kInt8},
    {"UINT16", DType::kUInt16},
    {"INT16", DType::kInt16},
    {"INT32", DType::kInt32},
    {"INT64", DType::kInt64},
    {"STRING", kNone},
    {"BOOL", DType::kBool},
    {"FLOAT16", DType::kFloat16},
    {"DOUBLE", DType::kFloat64},
    {"UINT32", DType::kUInt32},
    {"UINT64", DType::kUInt64},
    {"COMPLEX64", DType::kComplex64},
    {"COMPLEX128", DType::kComplex128},
    {"BFLOAT16", DType::kBFloat16},
    {"FLOAT8E4M3FN", DType::kFloat8E4M3FN},
    {"FLOAT8E4M3FNUZ", DType::kFloat8E4M3FNUZ},
    {"FLOAT8E5M2", DType::kFloat8E5M2},
    {"FLOAT8E5M2FNUZ", DType::kFloat8E5M2FNUZ},
    {"UINT4", kNone},
    {"INT4", kNone},
    {"FLOAT4E2M1", kNone},
    {"FLOAT8E8M0", kNone},
    {"UINT2", kNone},
    {"INT2", kNone},
}};

// Types that this program has not, and those that hold their values, one
// element a byte (FLOAT8E8M0: in two).
struct SmallRow {
  int64_t data_type;
  DType held;
  unsigned bits;
};

constexpr std::array<SmallRow, 6> kSmall = {{
    {21, DType::kUInt8, 4},
    {22, DType::kInt8, 4},
    {23, DType::kFloat8E4M3FN, 4},
    {24, DType::kBFloat16, 8},
    {25, DType::kUInt8, 2},
    {26, DType::kInt8, 2},
}};

const SmallRow* small_row(int64_t data_type) {
  for (const SmallRow& row : kSmall)
    if (row.data_type == data_type) return &row;
  return nullptr;
}

// FLOAT4E2M1's numbers without sign, as float8_e4m3fn has them.
constexpr std::array<uint8_t, 8> kE2M1 = {0,    0x30, 0x38, 0x3C,
                                          0x40, 0x44, 0x48, 0x4C};

// A power of two, of which bfloat16 has the exponent, too. The least one is
// half of bfloat16's least normal number.
uint16_t power_of_two(uint8_t exponent) {
  if (exponent == 0) return 0x0040;
  if (exponent == 255) return 0x7FC0;
  return uint16_t(uint16_t{exponent} << 7);
}

// The lowest bits of a byte are its first element.
void unpack(const SmallRow& row, const uint8_t* packed, size_t count,
            void* to) {
  auto* bytes = static_cast<uint8_t*>(to);
  const size_t each = 8 / row.bits;
  const unsigned mask = (1u << row.bits) - 1, sign = 1u << (row.bits - 1);
  for (size_t i = 0; i < count; ++i) {
    const unsigned code =
        (unsigned(packed[i / each]) >> (i % each * row.bits)) & mask;
    switch (row.held) {
      case DType::kInt8:
        bytes[i] = uint8_t(int(code ^ sign) - int(sign));
        break;
      case DType::kFloat8E4M3FN:
        bytes[i] = uint8_t(kE2M1[code & 7u] | ((code & 8u) << 4));
        break;
      case DType::kBFloat16:
        static_cast<uint16_t*>(to)[i] = power_of_two(uint8_t(code));
        break;
      default:
        bytes[i] = uint8_t(code);
    }
  }
}

bool known(int64_t data_type) {
  return data_type >= 0 && data_type < int64_t(kTypes.size());
}

// A tensor's message; numbers stand in one of four fields, or raw.
struct Contents {
  Dims dims;
  int64_t data_type = 0;
  std::string name;
  std::optional<std::string_view> raw;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<double> doubles;
  std::map<std::string, std::string> external;
  bool outside = false;
};

Contents read_contents(std::string_view bytes) {
  Contents out;
  std::vector<int64_t> dims;
  ProtoReader message(bytes);
  while (message.next()) {
    switch (message.field()) {
      case 1:
        message.append(dims);
        break;
      case 2:
        out.data_type = message.integer();
        break;
      case 4:
        message.append(out.floats);
        break;
      case 5:
      case 7:
      case 11:
        message.append(out.ints);
        break;
      case 8:
        out.name = message.text();
        break;
      case 9:
        out.raw = message.bytes();
        break;
      case 10:
        message.append(out.doubles);
        break;
      case 13: {
        auto [key, value] = ProtoReader(message.bytes()).text_entry();
        out.external[std::move(key)] = std::move(value);
      } break;
      case 14:
        out.outside = message.integer() == 1;
        break;
      default:
        message.skip();
    }
  }
  out.dims = Dims(dims);
  return out;
}

// Integers hold the bits of 16- and 8-bit floats.
template <class To, class From>
void put(const std::vector<From>& from, void* to) {
  To* out = static_cast<To*>(to);
  for (From value : from) *out++ = static_cast<To>(value);
}

void put_numbers(const Contents& from, DType dtype, void* to) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kComplex64:
      return put<float>(from.floats, to);
    case DType::kFloat64:
    case DType::kComplex128:
      return put<double>(from.doubles, to);
    default:
      break;
  }
  switch (itemsize(dtype)) {
    case 1:
      return put<uint8_t>(from.ints, to);
    case 2:
      return put<uint16_t>(from.ints, to);
    case 4:
      return put<uint32_t>(from.ints, to);
    default:
      return put<uint64_t>(from.ints, to);
  }
}

size_t number_count(const Contents& from, DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return from.floats.size();
    case DType::kComplex64:
      return from.floats.size() / 2;
    case DType::kFloat64:
      return from.doubles.size();
    case DType::kComplex128:
      return from.doubles.size() / 2;
    default:
      return from.ints.size();
  }
}

size_t parse_size(const std::map<std::string, std::string>& entries,
                  const std::string& key, size_t otherwise,
                  const std::string& tensor) {
  auto found = entries.find(key);
  if (found == entries.end()) return otherwise;
  const std::string& text = found->second;
  size_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  HOTARU_CHECK(error == std::errc() && end == text.data() + text.size(),
               "tensor '", tensor, "': '", text.substr(0, 40),
               "' is no number for '", key, "'");
  return value;
}

// The path of a file beside the model, which must lie in its folder whatever
// links there are.
std::filesystem::path inside_folder(const std::string& model,
                                    const std::string& location,
                                    const std::string& tensor) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path folder =
      fs::weakly_canonical(fs::absolute(fs::path(model)).parent_path(), error);
  fs::path given(location);
  fs::path path = fs::weakly_canonical(folder / given, error);
  fs::path relative = path.lexically_relative(folder);
  bool inside = !error && given.is_relative() && !relative.empty() &&
                *relative.begin() != ".." && relative != ".";
  HOTARU_CHECK(inside, "tensor '", tensor, "' lies in '",
               location.substr(0, 200),
               "', which is not within the model's folder");
  return path;
}

}  // namespace

std::optional<DType> dtype_of(int64_t data_type) {
  return known(data_type) ? kTypes[size_t(data_type)].dtype : std::nullopt;
}

bool is_small(int64_t data_type) {
  return small_row(data_type) != nullptr;
}

std::optional<DType> held_dtype(int64_t data_type) {
  const SmallRow* small = small_row(data_type);
  return small ? small->held : dtype_of(data_type);
}

std::string data_type_name(int64_t data_type) {
  return known(data_type) ? kTypes[size_t(data_type)].name
                          : concat("type ", data_type);
}

std::string type_text(const ValueInfo& value) {
  const auto dtype = dtype_of(value.elem_type);
  std::string text =
      dtype ? dtype_name(*dtype) : data_type_name(value.elem_type);
  using Kind = ValueInfo::Kind;
  if (value.kind == Kind::kSequence) return concat("sequence of ", text);
  if (value.kind != Kind::kTensor) return value.elem_type ? text : "?";
  if (!value.dims) return text;
  text += "[";
  for (const auto& dim : *value.dims) {
    if (text.back() != '[') text += ", ";
    if (dim.size >= 0)
      text += std::to_string(dim.size);
    else
      text += dim.name.empty() ? "?" : dim.name;
  }
  return text + "]";
}

Tensor OnnxFile::at(const Ref<MappedFile>& file, size_t offset, size_t nbytes,
                    DType dtype, const Dims& sizes) {
  std::byte* data = file->data() + offset;
  if (reinterpret_cast<uintptr_t>(data) % itemsize(dtype) != 0) {
    Tensor out = empty(sizes, dtype);
    std::memcpy(host_bytes(out, "onnx"), data, nbytes);
    return out;
  }
  return make_tensor(make_ref<Storage>(data, nbytes, Device(), file, false),
                     dtype, sizes, contiguous_strides(sizes), 0);
}

Tensor OnnxFile::external(const std::map<std::string, std::string>& entries,
                          DType dtype, const Dims& sizes,
                          const std::string& name) {
  auto location = entries.find("location");
  HOTARU_CHECK(location != entries.end(), "tensor '", name,
               "' has external data without a location");
  std::string path =
      inside_folder(file_->name(), location->second, name).string();
  Ref<MappedFile>& file = beside_[path];
  if (!file) file = MappedFile::open(path);
  size_t nbytes = storage_bytes(sizes, itemsize(dtype));
  size_t offset = parse_size(entries, "offset", 0, name);
  size_t length = parse_size(entries, "length", nbytes, name);
  HOTARU_CHECK(length == nbytes && offset <= file->size() &&
                   nbytes <= file->size() - offset,
               "tensor '", name, "' of ", nbytes, " bytes does not fit ",
               length, " bytes at ", offset, " of '", location->second,
               "', which has ", file->size());
  return at(file, offset, nbytes, dtype, sizes);
}

Tensor OnnxFile::read_sparse(std::string_view message) {
  TensorProto values, indices;
  std::vector<int64_t> dims;
  ProtoReader reader(message);
  while (reader.next()) {
    switch (reader.field()) {
      case 1:
        values.message = reader.bytes();
        break;
      case 2:
        indices.message = reader.bytes();
        break;
      case 3:
        reader.append(dims);
        break;
      default:
        reader.skip();
    }
  }
  Tensor value = read_message(values), index = read_message(indices);
  Dims sizes(dims);
  int64_t total = numel_of(sizes);
  storage_bytes(sizes, itemsize(value.dtype()));
  bool flat = index.dim() == 1;
  HOTARU_CHECK(index.dtype() == DType::kInt64 && value.dim() == 1 &&
                   index.dim() <= 2 && index.dim() > 0 &&
                   index.size(0) == value.size(0) &&
                   (flat || index.size(1) == int64_t(sizes.size())),
               "a sparse tensor's values and indices don't fit together");
  Tensor out = zeros(sizes, value.dtype());
  const size_t width = itemsize(value.dtype());
  const auto* places = static_cast<const int64_t*>(host_bytes(index, "onnx"));
  for (int64_t i = 0; i < value.size(0); ++i) {
    int64_t place = flat ? places[i] : 0;
    bool inside = true;
    for (size_t d = 0; !flat && d < sizes.size(); ++d) {
      int64_t at = places[i * int64_t(sizes.size()) + int64_t(d)];
      inside = inside && at >= 0 && at < sizes[d];
      place = inside ? place * sizes[d] + at : 0;
    }
    HOTARU_CHECK(inside && place >= 0 && place < total, "index ", i,
                 " of a sparse tensor is outside of it");
    std::memcpy(static_cast<std::byte*>(host_bytes(out, "onnx")) +
                    size_t(place) * width,
                static_cast<const std::byte*>(host_bytes(value, "onnx")) +
                    size_t(i) * width,
                width);
  }
  return out;
}

// Elements of a few bits each, packed; 4-bit ones stand two in an integer of
// the message, too.
Tensor OnnxFile::read_small(const TensorProto& tensor) {
  const Contents contents = read_contents(tensor.message);
  const SmallRow& row = *small_row(contents.data_type);
  const size_t each = 8 / row.bits;
  const size_t count = storage_bytes(contents.dims, 1);
  const size_t nbytes = count / each + (count % each != 0 ? 1 : 0);
  std::vector<uint8_t> numbers;
  Tensor beside;
  const void* data = nullptr;
  size_t found = 0;
  if (contents.outside) {
    beside = external(contents.external, DType::kUInt8, Dims{int64_t(nbytes)},
                      contents.name);
    data = host_bytes(beside, "onnx");
    found = nbytes;
  } else if (contents.raw) {
    data = contents.raw->data();
    found = contents.raw->size();
  } else {
    for (int64_t number : contents.ints) numbers.push_back(uint8_t(number));
    data = numbers.data();
    found = numbers.size();
  }
  HOTARU_CHECK(found == nbytes, "tensor '", contents.name, "' of shape ",
               shape_text(contents.dims), " has ", found,
               " bytes of data, not ", nbytes);
  Tensor out = empty(contents.dims, row.held);
  unpack(row, static_cast<const uint8_t*>(data), count,
         host_bytes(out, "onnx"));
  return out;
}

Tensor OnnxFile::read_message(const TensorProto& tensor) {
  if (tensor.sparse) return read_sparse(tensor.message);
  Contents contents = read_contents(tensor.message);
  std::optional<DType> dtype = held_dtype(contents.data_type);
  HOTARU_CHECK(dtype, "tensor '", contents.name, "' is of type ",
               data_type_name(contents.data_type), ", which hotaru has not");
  for (int64_t size : contents.dims) {
    HOTARU_CHECK(size >= 0, "tensor '", contents.name, "' has shape ",
                 shape_text(contents.dims));
  }
  const Dims& sizes = contents.dims;
  if (is_small(contents.data_type)) return read_small(tensor);
  if (contents.outside)
    return external(contents.external, *dtype, sizes, contents.name);
  size_t nbytes = storage_bytes(sizes, itemsize(*dtype));
  if (contents.raw) {
    HOTARU_CHECK(contents.raw->size() == nbytes, "tensor '", contents.name,
                 "' of shape ", shape_text(sizes), " has ",
                 contents.raw->size(), " bytes of data, not ", nbytes);
    size_t offset =
        size_t(reinterpret_cast<const std::byte*>(contents.raw->data()) -
               file_->data());
    return at(file_, offset, nbytes, *dtype, sizes);
  }
  HOTARU_CHECK(number_count(contents, *dtype) * itemsize(*dtype) == nbytes,
               "tensor '", contents.name, "' of shape ", shape_text(sizes),
               " has ", number_count(contents, *dtype), " values");
  Tensor out = empty(sizes, *dtype);
  put_numbers(contents, *dtype, host_bytes(out, "onnx"));
  return out;
}

TensorInfo OnnxFile::info(const TensorProto& tensor) const {
  try {
    TensorInfo out;
    TensorProto values = tensor;
    std::vector<int64_t> dense;
    ProtoReader reader(tensor.message);
    while (tensor.sparse && reader.next())
      if (reader.field() == 1)
        values.message = reader.bytes();
      else if (reader.field() == 3)
        reader.append(dense);
      else
        reader.skip();
    const Contents contents = read_contents(values.message);
    out.data_type = contents.data_type;
    const Dims& dims = contents.dims;
    out.dims = tensor.sparse ? dense : std::vector(dims.begin(), dims.end());
    return out;
  } catch (const std::exception& e) {  // protozero's, too
    fail(file_->name(), ": tensor '", tensor.name, "': ", e.what());
  }
}

Tensor OnnxFile::read(const TensorProto& tensor) {
  try {
    return read_message(tensor);
  } catch (const std::exception& e) {  // protozero's, too
    fail(file_->name(), ": ", e.what());
  }
}

}  // namespace hotaru::io::onnx
