// Tensors to safetensors files, byte by byte as the format's own library has
// them.
#include <algorithm>
#include <unordered_set>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/io/json.h"
#include "hotaru/io/new_file.h"
#include "hotaru/io/weights/safetensors.h"
#include "hotaru/io/weights/safetensors_types.h"
#include "hotaru/ops/create/copy.h"

namespace hotaru::io {

namespace {

constexpr size_t kAlignment = 8;

struct Entry {
  const std::string* name;
  const Tensor* tensor;
  size_t type;  // index in kSafetensorsTypes
};

size_t type_of(const std::string& name, DType dtype) {
  for (size_t i = 0; i < kSafetensorsTypes.size(); ++i)
    if (kSafetensorsTypes[i].dtype == dtype) return i;
  fail<TypeError>("tensor '", name, "' is of dtype ", dtype,
                  ", which safetensors does not have");
}

std::string quoted(const std::string& text) {
  std::string out;
  append_quoted(out, text, "a name or text for a safetensors file");
  return out;
}

std::vector<Entry> in_order(const NamedTensors& tensors) {
  std::vector<Entry> entries;
  entries.reserve(tensors.size());
  std::unordered_set<std::string_view> names;
  for (const auto& [name, tensor] : tensors) {
    HOTARU_CHECK_AS(ValueError, name != kMetadataKey, "'", kMetadataKey,
                    "' cannot be a tensor's name in a safetensors file");
    HOTARU_CHECK_AS(ValueError, names.insert(name).second, "two tensors are '",
                    name, "'; a safetensors file has each name once");
    entries.push_back({&name, &tensor, type_of(name, tensor.dtype())});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.type != b.type ? a.type > b.type : *a.name < *b.name;
  });
  return entries;
}

std::string header_of(const std::vector<Entry>& entries,
                      const TextMap& metadata) {
  std::string text = "{";
  if (!metadata.empty()) {
    text += concat('"', kMetadataKey, "\":{");
    for (const auto& [key, value] : metadata)
      text += quoted(key) + ':' + quoted(value) + ',';
    text.back() = '}';
    text += ',';
  }
  uint64_t begin = 0;
  for (const Entry& entry : entries) {
    const DType dtype = entry.tensor->dtype();
    const uint64_t end =
        begin + uint64_t(entry.tensor->numel()) * itemsize(dtype);
    text += concat(quoted(*entry.name), ":{\"dtype\":\"",
                   kSafetensorsTypes[entry.type].name, "\",\"shape\":[");
    Dims shape(entry.tensor->sizes());
    if (dtype == DType::kFloat4E2M1FNX2) {
      HOTARU_CHECK_AS(ValueError, !shape.empty(), "tensor '", *entry.name,
                      "' of ", dtype, " has no dimension, and safetensors ",
                      "counts both numbers of its element");
      shape.back() *= 2;
    }
    for (int64_t size : shape) text += concat(size, ',');
    if (text.back() == ',') text.pop_back();
    text += concat("],\"data_offsets\":[", begin, ',', end, "]},");
    begin = end;
  }
  if (text.back() == ',') text.pop_back();
  text += '}';
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  HOTARU_CHECK_AS(ValueError, text.size() <= kMaxSafetensorsHeader,
                  "the header of a safetensors file would take ", text.size(),
                  " bytes; the format allows ", kMaxSafetensorsHeader);
  return text;
}

}  // namespace

void save_safetensors(const ByteSink& sink, const NamedTensors& tensors,
                      const TextMap& metadata) {
  const std::vector<Entry> entries = in_order(tensors);
  const std::string header = header_of(entries, metadata);
  const uint64_t length = header.size();
  sink({reinterpret_cast<const char*>(&length), sizeof length});
  sink(header);
  for (const Entry& entry : entries) {
    const Tensor host = contiguous(to(detach(*entry.tensor), Device{}));
    sink({static_cast<const char*>(host_bytes(host, "save_safetensors")),
          size_t(host.numel()) * itemsize(host.dtype())});
  }
}

void save_safetensors(const std::string& path, const NamedTensors& tensors,
                      const TextMap& metadata) {
  NewFile file(path);
  save_safetensors([&](std::string_view bytes) { file.write(bytes); }, tensors,
                   metadata);
  file.finish();
}

}  // namespace hotaru::io
