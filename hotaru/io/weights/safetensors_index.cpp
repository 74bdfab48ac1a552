// A model in several files: an index of JSON says which tensor is in which.
#include <rapidjson/document.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "hotaru/core/checks/check.h"
#include "hotaru/io/json.h"
#include "hotaru/io/weights/safetensors.h"
#include "hotaru/io/weights/safetensors_types.h"

namespace hotaru::io {

namespace {

// Where an index names its "weight_map": it is the first or second key.
constexpr size_t kBeginning = size_t{64} << 10;

std::string_view beginning(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()),
          std::min(bytes.size(), kBeginning)};
}

/// The name of a file that lies beside the index.
bool is_plain(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
}

class ShardedFile : public WeightFile {
 public:
  explicit ShardedFile(const Ref<MappedFile>& file)
      : WeightFile(file->name(), "safetensors index") {
    HOTARU_CHECK(file->size() <= kMaxSafetensorsHeader, path(),
                 ": an index of ", file->size(), " bytes; at most ",
                 kMaxSafetensorsHeader, " are read");
    const JsonDocument index(
        {reinterpret_cast<const char*>(file->data()), file->size()}, path());
    const Json* map = find_member(index.root(), "weight_map");
    HOTARU_CHECK(map && map->IsObject(), path(),
                 ": no index of safetensors: no object 'weight_map'");
    take_metadata(index.root());
    std::vector<WeightInfo> tensors;
    tensors.reserve(map->MemberCount());
    for (const auto& [key, part] : map->GetObject()) {
      const std::string name(text_of(key));
      const std::string beside(part.IsString() ? text_of(part) : "");
      HOTARU_CHECK(is_plain(beside), where(path(), name), " is said to be in ",
                   part.IsString() ? concat("'", beside.substr(0, 200), "'")
                                   : concat("a ", type_name(part)),
                   ", which is no file's name; files lie in the index's own "
                   "folder");
      const uint32_t number = open_part(beside);
      const WeightInfo* info = files_[number]->find(name);
      HOTARU_CHECK(info, where(path(), name), " is not in ",
                   files_[number]->path(), ", as the index says");
      tensors.push_back(*info);
      tensors.back().part = number;
    }
    set_tensors(std::move(tensors));
  }

  Tensor read(const WeightInfo& info) const override {
    return files_.at(info.part)->tensor(info.name);
  }

  Value metadata() const override {
    auto out = make_ref<DictObject>();
    for (const auto& [key, value] : metadata_) out->set(key, value);
    return Value(std::move(out));
  }

  std::vector<std::string> parts() const override {
    std::vector<std::string> paths;
    for (const Ref<WeightFile>& file : files_) paths.push_back(file->path());
    return paths;
  }

 private:
  uint32_t open_part(const std::string& name) {
    const auto [place, added] =
        numbers_.try_emplace(name, uint32_t(files_.size()));
    if (added) {
      const auto beside = std::filesystem::path(path()).parent_path() / name;
      files_.push_back(open_safetensors(MappedFile::open(beside.string())));
    }
    return place->second;
  }

  void take_metadata(const Json& index) {
    const Json* found = find_member(index, "metadata");
    if (!found || !found->IsObject()) return;
    for (const auto& [key, value] : found->GetObject()) {
      const std::string_view name = text_of(key);
      if (value.IsString())
        metadata_.emplace_back(name, std::string(text_of(value)));
      else if (value.IsBool())
        metadata_.emplace_back(name, value.GetBool());
      else if (value.IsInt64())
        metadata_.emplace_back(name, value.GetInt64());
      else if (value.IsNumber())
        metadata_.emplace_back(name, value.GetDouble());
    }
  }

  std::vector<Ref<WeightFile>> files_;
  std::map<std::string, uint32_t> numbers_;
  std::vector<std::pair<std::string, Value>> metadata_;
};

}  // namespace

bool is_safetensors_index(Bytes bytes) {
  const std::string_view text = beginning(bytes);
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text[first] == '{' && !is_safetensors(bytes) &&
         text.find("\"weight_map\"") != text.npos;
}

Ref<WeightFile> open_safetensors_index(Ref<MappedFile> file) {
  return make_ref<ShardedFile>(file);
}

}  // namespace hotaru::io
