// ONNX files from plain structs (onnx_file.h): the reader's counterpart.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hotaru/core/tensor.h"
#include "hotaru/io/onnx/onnx_file.h"

namespace hotaru::io::onnx {

/// A tensor of the model, which the writer copies nowhere.
struct Initializer {
  std::string name;
  Tensor tensor;
};

struct WriteOptions {
  /// Initializers of more than 1 KiB go to a file of the model's name and
  /// ".data" beside it.
  bool external_data = false;
  bool initializers = true;
  /// Declares initializers as inputs, too, as IR version 3 did.
  bool as_inputs = false;
};

/// The format's number of a dtype. Throws NotImplementedError for those that
/// it has not.
int64_t data_type_of(DType dtype);

/// An encoded TensorProto with the elements inside.
std::string tensor_message(const std::string& name, const Tensor& tensor);

/// Bytes that all initializers take.
uint64_t initializer_bytes(const std::vector<Initializer>& initializers);

/// Writes a model whose graph's initializers are these. The files appear
/// complete or not at all. Throws Error naming the file, and ValueError for a
/// model that would pass protobuf's 2 GiB without external data.
void write_model(const std::string& path, const Model& model,
                 const std::vector<Initializer>& initializers,
                 const WriteOptions& options);
/// The same bytes to a sink, all inside.
void write_model(const std::function<void(std::string_view)>& sink,
                 const Model& model,
                 const std::vector<Initializer>& initializers,
                 const WriteOptions& options);

}  // namespace hotaru::io::onnx
