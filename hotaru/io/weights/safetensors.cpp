#include "hotaru/io/weights/safetensors.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <cstring>

#include "hotaru/core/checks/check.h"
#include "hotaru/io/byte_reader.h"
#include "hotaru/io/json.h"
#include "hotaru/io/weights/safetensors_types.h"

namespace hotaru::io {

namespace {

constexpr uint64_t kLengthSize = 8;
constexpr size_t kMaxSafetensorsDims = 64;

/// Begins as a file does; its text says how, in errors.
class SafetensorsFile : public WeightFile {
 public:
  explicit SafetensorsFile(Ref<MappedFile> file)
      : WeightFile(file->name(), "safetensors"), file_(std::move(file)) {
    ByteReader in(file_->bytes(), path());
    const uint64_t length = in.number<uint64_t>();
    HOTARU_CHECK(length <= kMaxSafetensorsHeader, path(),
                 ": offset 0: a header of ", length,
                 " bytes; the format allows ", kMaxSafetensorsHeader);
    const std::string_view text = in.text(length);
    HOTARU_CHECK(text.starts_with('{'), path(),
                 ": offset 8: the header does not begin with '{'");
    data_offset_ = in.offset();
    data_size_ = in.remaining();
    const JsonDocument header(std::string(text), path(), kLengthSize);
    std::vector<WeightInfo> tensors;
    tensors.reserve(header.root().MemberCount());
    for (const auto& [name, entry] : header.root().GetObject())
      if (text_of(name) == kMetadataKey)
        take_metadata(entry);
      else
        tensors.push_back(describe(std::string(text_of(name)), entry));
    set_tensors(std::move(tensors));
    check_cover();
  }

  Tensor read(const WeightInfo& info) const override {
    HOTARU_CHECK(info.dtype, where(path(), info.name), " is of dtype ",
                 info.type, ", which no tensor can have here");
    return mapped_tensor(file_, info.offset, info.nbytes, *info.dtype,
                         info.shape);
  }

  Value metadata() const override {
    auto out = make_ref<DictObject>();
    for (const auto& [key, text] : metadata_) out->set(key, text);
    return Value(std::move(out));
  }

 private:
  void take_metadata(const Json& metadata) {
    if (metadata.IsNull()) return;
    HOTARU_CHECK(metadata.IsObject(), path(), ": header: '", kMetadataKey,
                 "' is ", type_name(metadata),
                 ", but must be an object of strings");
    for (const auto& [key, text] : metadata.GetObject()) {
      HOTARU_CHECK(text.IsString(), path(), ": header: '", kMetadataKey,
                   "' has ", type_name(text), " for '",
                   text_of(key).substr(0, 200),
                   "', but must have strings only");
      metadata_.emplace_back(text_of(key), text_of(text));
    }
  }

  /// The member of a tensor's entry.
  const Json& member(const std::string& name, const Json& entry,
                     const char* key, rapidjson::Type type) const {
    const Json* found = find_member(entry, key);
    HOTARU_CHECK(found && found->GetType() == type, where(path(), name),
                 ": the header has no ", type_name(Json(type)), " '", key,
                 "' for it");
    return *found;
  }

  uint64_t number(const std::string& name, const char* key,
                  const Json& value) const {
    HOTARU_CHECK(value.IsUint64() && value.GetUint64() >> 63 == 0,
                 where(path(), name), ": '", key,
                 "' holds what is no integer from 0 to 2^63 - 1");
    return value.GetUint64();
  }

  WeightInfo describe(const std::string& name, const Json& entry) const {
    WeightInfo info;
    info.name = name;
    info.type = text_of(member(name, entry, "dtype", rapidjson::kStringType));
    const Json& shape = member(name, entry, "shape", rapidjson::kArrayType);
    HOTARU_CHECK(shape.Size() <= kMaxSafetensorsDims, where(path(), name),
                 " has ", shape.Size(), " dimensions, more than ",
                 kMaxSafetensorsDims);
    for (const Json& size : shape.GetArray())
      info.shape.push_back(int64_t(number(name, "shape", size)));
    const Json& range =
        member(name, entry, "data_offsets", rapidjson::kArrayType);
    HOTARU_CHECK(range.Size() == 2, where(path(), name),
                 ": 'data_offsets' has ", range.Size(),
                 " numbers instead of 2");
    const uint64_t begin = number(name, "data_offsets", range[0]);
    const uint64_t end = number(name, "data_offsets", range[1]);
    HOTARU_CHECK(begin <= end && end <= data_size_, where(path(), name),
                 ": bytes ", begin, " to ", end, " behind the header, offset ",
                 data_offset_, ", where the file has ", data_size_);
    info.offset = data_offset_ + begin;
    info.nbytes = end - begin;
    const auto type = std::find_if(
        kSafetensorsTypes.begin(), kSafetensorsTypes.end(),
        [&](const SafetensorsType& t) { return t.name == info.type; });
    if (type != kSafetensorsTypes.end()) {
      info.dtype = type->dtype;
      check_size(info, type->bits);
    }
    if (info.dtype == DType::kFloat4E2M1FNX2) pair(info);
    return info;
  }

  /// The format counts 4-bit floats, the dtype of tensors pairs of them.
  static void pair(WeightInfo& info) {
    if (info.shape.empty() || info.shape.back() % 2 != 0)
      info.dtype.reset();
    else
      info.shape.back() /= 2;
  }

  void check_size(const WeightInfo& info, int bits_of_element) const {
    uint64_t bits = uint64_t(bits_of_element);
    bool overflow = false, empty = false;
    for (int64_t size : info.shape) {
      empty |= size == 0;
      overflow |= __builtin_mul_overflow(
          bits, uint64_t(std::max<int64_t>(size, 1)), &bits);
    }
    if (empty) bits = 0;
    HOTARU_CHECK(!overflow && bits % 8 == 0 && bits / 8 == info.nbytes,
                 where(path(), info.name), " at offset ", info.offset,
                 ": the shape ", shape_text(info.shape), " of ", info.type,
                 " needs ", overflow ? "more than 2^61" : concat(bits / 8),
                 " bytes, the header gives it ", info.nbytes);
  }

  /// Every byte behind the header belongs to one tensor.
  void check_cover() const {
    uint64_t end = data_offset_;
    for (const WeightInfo& info : tensors()) {
      HOTARU_CHECK(info.offset == end, where(path(), info.name),
                   " begins at offset ", info.offset,
                   info.offset < end ? ", inside of" : ", behind a gap after",
                   " what ends at ", end);
      end = info.offset + info.nbytes;
    }
    HOTARU_CHECK(end == data_offset_ + data_size_, path(), ": offset ", end,
                 ": ", data_offset_ + data_size_ - end,
                 " bytes at the end belong to no tensor");
  }

  Ref<MappedFile> file_;
  uint64_t data_offset_ = 0, data_size_ = 0;
  std::vector<std::pair<std::string, std::string>> metadata_;
};

}  // namespace

bool is_safetensors(Bytes bytes) {
  if (bytes.size() <= kLengthSize || bytes[kLengthSize] != std::byte{'{'})
    return false;
  uint64_t length;
  std::memcpy(&length, bytes.data(), sizeof length);
  return length <= kMaxSafetensorsHeader;
}

Ref<WeightFile> open_safetensors(Ref<MappedFile> file) {
  return make_ref<SafetensorsFile>(std::move(file));
}

}  // namespace hotaru::io
