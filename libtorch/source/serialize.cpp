#include "torch/serialize.h"

#include "hotaru/io/torch_file.h"

namespace torch::serialize {

OutputArchive& operator<<(OutputArchive& archive, const Tensor& tensor) {
  archive.write("0", tensor);
  return archive;
}
InputArchive& operator>>(InputArchive& archive, Tensor& tensor) {
  archive.read("0", tensor);
  return archive;
}

OutputArchive& operator<<(OutputArchive& archive,
                          const std::vector<Tensor>& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i)
    archive.write(std::to_string(i), tensors[i]);
  return archive;
}
InputArchive& operator>>(InputArchive& archive, std::vector<Tensor>& tensors) {
  for (size_t i = 0;; ++i) {
    Tensor tensor;
    if (!archive.try_read(std::to_string(i), tensor)) return archive;
    tensors.push_back(std::move(tensor));
  }
}

}  // namespace torch::serialize

namespace torch {

std::vector<char> pickle_save(const c10::IValue& value) {
  const std::string bytes = hotaru::io::save_torch_bytes(value.hotaru_value());
  return {bytes.begin(), bytes.end()};
}
c10::IValue pickle_load(const std::vector<char>& bytes) {
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  return c10::IValue(hotaru::io::load_torch_bytes(
      std::vector<std::byte>(data, data + bytes.size()),
      "pickle_load's bytes"));
}

}  // namespace torch
