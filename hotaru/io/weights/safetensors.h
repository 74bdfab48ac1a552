// safetensors: the length of a header in 8 bytes, a JSON header, tensors'
// bytes.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hotaru/io/weights/weight_file.h"

namespace hotaru::io {

/// True if the bytes begin with a header's length and '{'.
bool is_safetensors(Bytes bytes);
/// True if they begin as JSON and are no safetensors.
bool is_safetensors_index(Bytes bytes);

/// Reads the header. Throws Error, with file, tensor and offset, unless it is
/// at most 100 MB of JSON in which no key stands twice, each tensor has as many
/// bytes as shape and dtype ask for, and the tensors cover all bytes behind the
/// header without gap or overlap. A dtype unknown here is an error of read().
Ref<WeightFile> open_safetensors(Ref<MappedFile> file);

/// Opens "model.safetensors.index.json" and the files it names, which must lie
/// in its folder. Throws Error also for a tensor that its file lacks.
Ref<WeightFile> open_safetensors_index(Ref<MappedFile> file);

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
using TextMap = std::map<std::string, std::string>;
/// Takes a file's bytes, in order.
using ByteSink = std::function<void(std::string_view bytes)>;

/// Writes tensors of any device and any strides, larger items first, then by
/// name; equal tensors give equal bytes. The file appears under its name when
/// it is complete. Throws TypeError for a dtype that the format lacks,
/// ValueError for a name that stands twice or is "__metadata__", and Error when
/// the file cannot be written.
void save_safetensors(const std::string& path, const NamedTensors& tensors,
                      const TextMap& metadata = {});
/// The same to whatever takes bytes.
void save_safetensors(const ByteSink& sink, const NamedTensors& tensors,
                      const TextMap& metadata = {});

}  // namespace hotaru::io
