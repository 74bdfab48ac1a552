#include "hotaru/io/weights/weight_file.h"

#include <algorithm>
#include <tuple>

#include "hotaru/core/checks/check.h"
#include "hotaru/io/weights/gguf.h"
#include "hotaru/io/weights/safetensors.h"

namespace hotaru::io {

const WeightInfo* WeightFile::find(std::string_view name) const {
  auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &tensors_[found->second];
}

const WeightInfo& WeightFile::get(std::string_view name) const {
  const WeightInfo* info = find(name);
  HOTARU_CHECK(info, path_, ": the file has no tensor '", name.substr(0, 200),
               "'; it has ", tensors_.size(), " others");
  return *info;
}

void WeightFile::set_tensors(std::vector<WeightInfo> tensors) {
  tensors_ = std::move(tensors);
  std::sort(tensors_.begin(), tensors_.end(),
            [](const WeightInfo& a, const WeightInfo& b) {
              return std::tie(a.part, a.offset, a.nbytes, a.name) <
                     std::tie(b.part, b.offset, b.nbytes, b.name);
            });
  by_name_.reserve(tensors_.size());
  for (size_t i = 0; i < tensors_.size(); ++i) {
    HOTARU_CHECK(by_name_.emplace(tensors_[i].name, i).second,
                 where(path_, tensors_[i].name), " stands in the file twice");
  }
}

Tensor mapped_tensor(const Ref<MappedFile>& file, uint64_t offset,
                     uint64_t nbytes, DType dtype, IntSpan shape) {
  Ref<MappedFile> owner = file;
  std::byte* data = file->data() + offset;
  if (reinterpret_cast<uintptr_t>(data) % itemsize(dtype) != 0) {
    owner = MappedFile::from_bytes({data, data + nbytes}, file->name());
    data = owner->data();
  }
  auto storage =
      make_ref<Storage>(data, size_t(nbytes), Device(), owner, false);
  return make_tensor(std::move(storage), dtype, shape,
                     contiguous_strides(shape), 0);
}

Tensor WeightFile::read_blocks(const WeightInfo& info) const {
  fail(where(path(), info.name), " is of type ", info.type,
       ", which is none of GGUF's blocks that are read");
}

std::string where(const std::string& path, std::string_view name) {
  return concat(path, ": tensor '", name.substr(0, 200), "'");
}

bool looks_like_weights(Bytes bytes) {
  return is_gguf(bytes) || is_safetensors(bytes) || is_safetensors_index(bytes);
}

Ref<WeightFile> open_weights(Ref<MappedFile> file) {
  if (is_gguf(file->bytes())) return open_gguf(std::move(file));
  if (is_safetensors(file->bytes())) return open_safetensors(std::move(file));
  HOTARU_CHECK(!is_safetensors_index(file->bytes()), file->name(),
               ": an index names files beside it, so it must be opened by its "
               "path");
  fail(file->name(),
       ": no weights: neither GGUF (begins with 'GGUF') nor safetensors "
       "(begins with the length of a JSON header)");
}

Ref<WeightFile> open_weights(const std::string& path) {
  Ref<MappedFile> file = MappedFile::open(path);
  if (!is_safetensors_index(file->bytes())) return open_weights(file);
  return open_safetensors_index(std::move(file));
}

std::vector<std::pair<std::string, Tensor>> load_weights(
    const std::string& path) {
  const Ref<WeightFile> file = open_weights(path);
  std::vector<std::pair<std::string, Tensor>> tensors;
  tensors.reserve(file->tensors().size());
  for (const WeightInfo& info : file->tensors())
    tensors.emplace_back(info.name, file->read(info));
  return tensors;
}

}  // namespace hotaru::io
