#include "hotaru/io/weights/gguf.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_set>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/io/byte_reader.h"
#include "hotaru/io/utf8.h"
#include "hotaru/io/weights/block_types.h"
#include "hotaru/io/weights/gguf_values.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::io {

namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr std::string_view kAlignmentKey = "general.alignment";
constexpr uint64_t kDefaultAlignment = 32;
constexpr uint32_t kMaxGgufDims = 4;
constexpr uint64_t kMaxEntries = uint64_t{1} << 20;  // of tensors and of keys
constexpr uint64_t kMaxName = 65535;
constexpr uint64_t kMetadataMemory = uint64_t{256} << 20;
// The least that an entry takes: a key's length, a type, a byte; a name's
// length, no dimensions, type and offset.
constexpr uint64_t kLeastKey = 8 + 4 + 1;
constexpr uint64_t kLeastTensor = 8 + 4 + 4 + 8;

/// The version; Error for those that have another layout.
uint32_t version_of(const MappedFile& file) {
  ByteReader in(file.bytes(), file.name());
  in.skip(kMagic.size());
  const auto version = in.number<uint32_t>();
  const uint32_t turned = __builtin_bswap32(version);
  HOTARU_CHECK(turned < 2 || turned > 3, file.name(),
               ": offset 4: a big-endian GGUF file; only little-endian ones "
               "are read");
  HOTARU_CHECK(version == 2 || version == 3, file.name(),
               ": offset 4: version ", version,
               " of GGUF; versions 2 and 3 are read");
  return version;
}

class GgufFile : public WeightFile {
 public:
  explicit GgufFile(Ref<MappedFile> file)
      : WeightFile(file->name(), concat("GGUF ", version_of(*file))),
        file_(std::move(file)) {
    ByteReader in(file_->bytes(), path());
    in.skip(kMagic.size() + sizeof(uint32_t));
    const auto tensors = in.number<uint64_t>();
    const auto keys = in.number<uint64_t>();
    HOTARU_CHECK(keys <= kMaxEntries && tensors <= kMaxEntries, path(),
                 ": offset 8: ", tensors, " tensors and ", keys,
                 " metadata entries; at most ", kMaxEntries,
                 " of each are read");
    HOTARU_CHECK(keys <= in.remaining() / kLeastKey &&
                     tensors <= in.remaining() / kLeastTensor,
                 path(), ": offset 8: the file cannot hold ", tensors,
                 " tensors and ", keys, " metadata entries in its ",
                 file_->size(), " bytes");
    read_keys(in, keys);
    read_tensors(in, tensors);
  }

  Tensor read(const WeightInfo& info) const override {
    const BlockType* type = find_block_type(info.type);
    HOTARU_CHECK(type && info.dtype, where(path(), info.name), " is of type ",
                 info.type, ", which is not read");
    if (!type->unpack)
      return mapped_tensor(file_, info.offset, info.nbytes, *info.dtype,
                           info.shape);
    Tensor out = allocate(info.shape, DType::kFloat32, Device{});
    unpack_blocks(*type, file_->data() + info.offset,
                  int64_t(info.nbytes / type->nbytes),
                  host_data<float>(out, "GGUF"));
    return out;
  }

  Tensor read_blocks(const WeightInfo& info) const override {
    const BlockType* type = find_block_type(info.type);
    if (!type || !type->unpack || info.shape.empty())
      return WeightFile::read_blocks(info);
    Dims shape(info.shape);
    int64_t& row = shape[shape.size() - 1];
    row = row / type->elements * type->nbytes;
    return mapped_tensor(file_, info.offset, info.nbytes, DType::kUInt8, shape);
  }

  Value metadata() const override {
    auto out = make_ref<DictObject>();
    uint64_t memory = kMetadataMemory;
    for (const Key& key : keys_) {
      ByteReader in(file_->bytes().subspan(key.offset), path(), key.offset);
      out->set(std::string(key.name), read_gguf_value(in, key.type, memory));
    }
    return Value(std::move(out));
  }

 private:
  /// A metadata entry; its value lies in the file.
  struct Key {
    std::string_view name;
    GgufType type;
    uint64_t offset;
  };

  void read_keys(ByteReader& in, uint64_t count) {
    keys_.reserve(count);
    std::unordered_set<std::string_view> names;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t at = in.offset();
      Key key{gguf_text(in, kMaxName), gguf_type(in), 0};
      if (!is_utf8(key.name)) in.fail_at(at, "a metadata key is no UTF-8");
      if (!names.insert(key.name).second)
        in.fail_at(at, "the metadata key '", key.name.substr(0, 200),
                   "' stands in the file twice");
      key.offset = in.offset();
      if (key.name == kAlignmentKey) {
        if (key.type == GgufType::kUInt32) alignment_ = in.number<uint32_t>();
        if (key.type != GgufType::kUInt32 || !std::has_single_bit(alignment_))
          in.fail_at(key.offset, "'", kAlignmentKey,
                     "' must be a uint32 and a power of two");
      } else {
        skip_gguf_value(in, key.type);
      }
      keys_.push_back(key);
    }
  }

  void read_tensors(ByteReader& in, uint64_t count) {
    std::vector<WeightInfo> tensors;
    tensors.reserve(count);
    for (uint64_t i = 0; i < count; ++i) tensors.push_back(read_entry(in));
    // The first aligned byte behind the table.
    const uint64_t data = (in.offset() + alignment_ - 1) & ~(alignment_ - 1);
    for (WeightInfo& info : tensors) place(info, data);
    set_tensors(std::move(tensors));
    check_overlaps();
  }

  /// A tensor's line of the table; its offset still counts from the data.
  WeightInfo read_entry(ByteReader& in) const {
    const uint64_t at = in.offset();
    WeightInfo info;
    info.name = gguf_text(in, kMaxName);
    if (!is_utf8(info.name)) in.fail_at(at, "a tensor's name is no UTF-8");
    const auto dims = in.number<uint32_t>();
    HOTARU_CHECK(dims <= kMaxGgufDims, where(path(), info.name), " at offset ",
                 at, " has ", dims, " dimensions, more than ", kMaxGgufDims);
    for (uint32_t i = 0; i < dims; ++i) {
      const auto size = in.number<uint64_t>();
      HOTARU_CHECK(size >> 63 == 0, where(path(), info.name), " at offset ", at,
                   ": the size ", size, " is no size");
      info.shape.insert(info.shape.begin(), int64_t(size));
    }
    const auto number = in.number<uint32_t>();
    info.offset = in.number<uint64_t>();
    const BlockType* type = find_block_type(number);
    info.type = type ? std::string(type->name) : concat("number ", number);
    if (!type) return info;
    info.dtype = type->unpack ? DType::kFloat32 : type->dtype;
    info.nbytes = byte_count(info, *type, at);
    return info;
  }

  uint64_t byte_count(const WeightInfo& info, const BlockType& type,
                      uint64_t at) const {
    const int64_t row = info.shape.empty() ? 1 : info.shape.back();
    HOTARU_CHECK(row % type.elements == 0, where(path(), info.name),
                 " at offset ", at, ": rows of ", row,
                 " elements are no whole blocks of ", type.name,
                 ", which have ", type.elements);
    // Also as floats it must have an address for each byte.
    int64_t elements = 4, bytes = 0;
    bool overflow = false, empty = false;
    for (int64_t size : info.shape) {
      empty |= size == 0;
      overflow |= __builtin_mul_overflow(elements, std::max<int64_t>(size, 1),
                                         &elements);
    }
    overflow |= __builtin_mul_overflow(elements / 4 / type.elements,
                                       int64_t{type.nbytes}, &bytes);
    HOTARU_CHECK(!overflow, where(path(), info.name), " at offset ", at,
                 ": the shape ", shape_text(info.shape),
                 " holds more elements than memory has addresses");
    return empty ? 0 : uint64_t(bytes);
  }

  /// Turns the offset into one from the file's beginning.
  void place(WeightInfo& info, uint64_t data) const {
    const uint64_t size = file_->size();
    const uint64_t present = data <= size ? size - data : 0;
    HOTARU_CHECK(info.offset % alignment_ == 0, where(path(), info.name),
                 ": offset ", info.offset, " of the data is no multiple of ",
                 alignment_);
    HOTARU_CHECK(info.offset <= present && info.nbytes <= present - info.offset,
                 where(path(), info.name), ": ", info.nbytes,
                 " bytes at offset ", info.offset,
                 " of the data, which begins at ", data, " and has ", present);
    info.offset += data;
  }

  void check_overlaps() const {
    uint64_t end = 0;
    for (const WeightInfo& info : tensors()) {
      if (info.nbytes == 0) continue;
      HOTARU_CHECK(info.offset >= end, where(path(), info.name),
                   " begins at offset ", info.offset,
                   ", inside of what ends at ", end);
      end = info.offset + info.nbytes;
    }
  }

  Ref<MappedFile> file_;
  std::vector<Key> keys_;
  uint64_t alignment_ = kDefaultAlignment;
};

}  // namespace

bool is_gguf(Bytes bytes) {
  return bytes.size() >= kMagic.size() &&
         std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

Ref<WeightFile> open_gguf(Ref<MappedFile> file) {
  return make_ref<GgufFile>(std::move(file));
}

}  // namespace hotaru::io
