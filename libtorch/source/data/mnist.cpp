#include "torch/data/datasets/mnist.h"

#include <array>
#include <fstream>

namespace torch::data::datasets {
namespace {

constexpr int64_t kSide = 28;

/// The file of a format "idx": big-endian numbers, then bytes.
class IdxFile {
 public:
  IdxFile(const std::string& root, const std::string& name)
      : path_(root + (root.ends_with('/') ? "" : "/") + name),
        in_(path_, std::ios::binary) {
    TORCH_CHECK(in_, "Error opening images file at ", path_);
  }

  uint32_t number(const char* what) {
    std::array<unsigned char, 4> bytes;
    read(reinterpret_cast<char*>(bytes.data()), bytes.size(), what);
    uint32_t out = 0;
    for (const unsigned char byte : bytes) out = out << 8 | byte;
    return out;
  }
  void expect(const char* what, uint32_t value) {
    const uint32_t found = number(what);
    TORCH_CHECK(found == value, path_, ": ", what, " is ", found, ", not ",
                value);
  }
  /// A tensor of bytes.
  Tensor bytes(at::IntArrayRef sizes) {
    const auto begin = in_.tellg();
    in_.seekg(0, std::ios::end);
    const auto left = int64_t(in_.tellg() - begin);
    int64_t wanted = 1;
    for (const int64_t n : sizes) wanted *= n;
    TORCH_CHECK(left >= wanted, path_, ": ", wanted,
                " bytes of elements are announced, and ", left, " are there");
    in_.seekg(begin);
    const Tensor out = torch::empty(sizes, kByte);
    read(static_cast<char*>(out.mutable_data_ptr()), size_t(wanted),
         "elements");
    return out;
  }

 private:
  void read(char* to, size_t n, const char* what) {
    in_.read(to, std::streamsize(n));
    TORCH_CHECK(in_, path_, ": the file ends within its ", what);
  }

  std::string path_;
  std::ifstream in_;
};

int64_t count_of(MNIST::Mode mode) {
  return mode == MNIST::Mode::kTrain ? 60000 : 10000;
}
std::string name_of(MNIST::Mode mode, const char* rest) {
  return std::string(mode == MNIST::Mode::kTrain ? "train-" : "t10k-") + rest;
}

Tensor read_images(const std::string& root, MNIST::Mode mode) {
  IdxFile file(root, name_of(mode, "images-idx3-ubyte"));
  file.expect("magic number", 2051);
  file.expect("number of pictures", uint32_t(count_of(mode)));
  file.expect("height", kSide);
  file.expect("width", kSide);
  return file.bytes({count_of(mode), 1, kSide, kSide}).to(kFloat32).div_(255);
}
Tensor read_targets(const std::string& root, MNIST::Mode mode) {
  IdxFile file(root, name_of(mode, "labels-idx1-ubyte"));
  file.expect("magic number", 2049);
  file.expect("number of labels", uint32_t(count_of(mode)));
  return file.bytes({count_of(mode)}).to(kInt64);
}

}  // namespace

MNIST::MNIST(const std::string& root, Mode mode)
    : mode_(mode),
      images_(read_images(root, mode)),
      targets_(read_targets(root, mode)) {}

Example<> MNIST::get(size_t index) {
  return {images_[int64_t(index)], targets_[int64_t(index)]};
}
std::optional<size_t> MNIST::size() const {
  return size_t(images_.size(0));
}

}  // namespace torch::data::datasets
