#include "convert_weights.h"

#include "hotaru/core/checks/check.h"
#include "hotaru/exchange/load_program.h"
#include "hotaru/io/torch_file.h"
#include "hotaru/io/weights/safetensors.h"
#include "hotaru/io/weights/weight_file.h"

namespace hotaru::cli {
namespace {

struct Weights {
  io::NamedTensors tensors;
  io::TextMap metadata;
};

/// The dict of tensors in what torch.save wrote.
Weights of_torch_file(const std::string& path, const std::string& key) {
  Value value = io::load_torch_file(path);
  if (!key.empty()) {
    const Value* inner =
        value.is_dict() ? value.as_dict().find(Value(key)) : nullptr;
    HOTARU_CHECK_AS(ValueError, inner, path, ": there is no entry '", key, "'");
    value = Value(*inner);
  }
  HOTARU_CHECK(value.is_dict(), path, ": this holds a ", value.type_name(),
               ", not a dict of tensors");
  Weights out;
  for (const auto& [name, item] : value.as_dict().items) {
    HOTARU_CHECK(name.is_string(), path, ": a key is a ", name.type_name(),
                 ", where names of tensors should stand");
    const bool tensor = item.is_tensor() && item.as_tensor().defined();
    HOTARU_CHECK(tensor, path, ": the entry '", name.as_string(), "' is a ",
                 item.type_name(),
                 ", no tensor; --key names the entry that holds the tensors");
    out.tensors.emplace_back(name.as_string(), item.as_tensor());
  }
  return out;
}

Weights of_weight_file(const std::string& path) {
  const Ref<io::WeightFile> file = io::open_weights(path);
  Weights out;
  for (const io::WeightInfo& info : file->tensors())
    out.tensors.emplace_back(info.name, file->read(info));
  const Value metadata = file->metadata();
  for (const auto& [key, value] : metadata.as_dict().items) {
    std::string text;
    if (value.is_string()) text = value.as_string();
    if (value.is_int()) text = std::to_string(value.as_int());
    if (value.is_double()) text = concat(value.as_double());
    if (value.is_bool()) text = value.as_bool() ? "true" : "false";
    if (!text.empty()) out.metadata.emplace(key.as_string(), text);
  }
  return out;
}

/// Tells whether a path's suffix is that of a format which nothing here writes.
bool names_foreign(const std::string& path) {
  for (const char* suffix :
       {".gguf", ".json", ".npy", ".npz", ".h5", ".tflite", ".pb", ".txt"})
    if (path.ends_with(suffix)) return true;
  return false;
}

void write(const Weights& weights, const std::string& to) {
  if (to.ends_with(".safetensors"))
    return io::save_safetensors(to, weights.tensors, weights.metadata);
  HOTARU_CHECK_AS(NotImplementedError, !names_foreign(to), to,
                  ": hotaru writes tensors as .safetensors, or as a state dict "
                  "of torch.save (.pt, .pth, .bin)");
  auto dict = make_ref<DictObject>();
  for (const auto& [name, tensor] : weights.tensors)
    dict->set(Value(name), Value(tensor));
  io::save_torch_file(to, Value(dict));
}

}  // namespace

bool names_weights(const std::string& path) {
  return path.ends_with(".safetensors") || path.ends_with(".gguf");
}

void convert_weights(const std::string& from, const std::string& to,
                     const std::string& key) {
  const bool torch_file = exchange::format_of(io::MappedFile::open(from)) ==
                          exchange::Format::kTorchFile;
  HOTARU_CHECK_AS(ValueError, key.empty() || torch_file, "--key ", key, ": ",
                  from, " has tensors and no entries");
  write(torch_file ? of_torch_file(from, key) : of_weight_file(from), to);
}

void write_program_weights(const std::string& from, const std::string& to) {
  const script::Module module = exchange::load_program(from);
  Weights weights;
  for (const auto& [name, tensor] : module.named_parameters())
    weights.tensors.emplace_back(name, tensor);
  for (const auto& [name, tensor] : module.named_buffers())
    weights.tensors.emplace_back(name, tensor);
  write(weights, to);
}

}  // namespace hotaru::cli
