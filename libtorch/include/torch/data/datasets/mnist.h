// The MNIST database of handwritten digits, from its four files.
#pragma once

#include <string>

#include "torch/data/datasets/base.h"

namespace torch::data::datasets {

/// Pictures of 1 x 28 x 28 in [0, 1] with the digit as int64.
class MNIST : public Dataset<MNIST> {
 public:
  enum class Mode { kTrain, kTest };

  /// Reads train-images-idx3-ubyte and its companions in the folder. Throws
  /// naming the file that is missing or malformed, and what is wrong with it.
  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain);

  Example<> get(size_t index) override;
  std::optional<size_t> size() const override;
  bool is_train() const noexcept { return mode_ == Mode::kTrain; }
  const Tensor& images() const { return images_; }
  const Tensor& targets() const { return targets_; }

 private:
  Mode mode_;
  Tensor images_, targets_;
};

}  // namespace torch::data::datasets
