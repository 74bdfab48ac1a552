// ONNX files: protobuf messages as plain structs. Format: onnx.proto of
// https://github.com/onnx/onnx, IR versions 1 to 14.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hotaru/core/dtype.h"
#include "hotaru/core/tensor.h"
#include "hotaru/io/mapped_file.h"

namespace hotaru::io::onnx {

/// A tensor that has not been read yet.
struct TensorProto {
  std::string name;
  std::string_view message;
  bool sparse = false;
};

/// Description of a tensor, without its numbers.
struct TensorInfo {
  int64_t data_type = 0;  // the format's number
  std::vector<int64_t> dims;
};

/// Declaration of a value. dims is absent where nothing is said, a dimension is
/// a number, or a name ("batch"), or "" if unknown.
struct ValueInfo {
  enum class Kind : uint8_t { kUnknown, kTensor, kSequence, kOptional, kOther };
  struct Dim {
    int64_t size = -1;
    std::string name;
  };
  std::string name;
  Kind kind = Kind::kUnknown;
  bool of_sequence = false;  // an optional sequence
  int elem_type = 0;         // the format's number
  std::optional<std::vector<Dim>> dims;
};

struct Graph;

struct Attribute {
  /// The format's numbers.
  enum class Type : int {
    kNone,
    kFloat,
    kInt,
    kString,
    kTensor,
    kGraph,
    kFloats,
    kInts,
    kStrings,
    kTensors,
    kGraphs,
    kSparse,
    kSparses,
    kType,
  };
  std::string name;
  Type type = Type::kNone;
  float f = 0;
  int64_t i = 0;
  std::string s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  ValueInfo declared;                          // of kType
  std::vector<TensorProto> tensors;            // one for kTensor
  std::vector<std::shared_ptr<Graph>> graphs;  // one for kGraph
  std::string reference;  // in functions: the attribute of the call it is
};

struct Node {
  std::string name, op, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<Attribute> attributes;
  /// PyTorch's exporter: ": Net/layers.0: Layer/relu: aten.relu.default", the
  /// modules from the outermost on and the operator that it was.
  std::string scope;

  const Attribute* find(std::string_view attribute) const;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<TensorProto> initializers;
  std::vector<ValueInfo> inputs, outputs, values;
};

struct Function {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs, attributes;
  std::vector<Attribute> defaults;
  std::vector<Node> nodes;
  std::map<std::string, int64_t> opsets;
};

struct Model {
  int64_t ir_version = 0;
  std::string producer, producer_version, doc;
  std::map<std::string, int64_t> opsets;  // by domain; ai.onnx is ""
  std::map<std::string, std::string> metadata;
  Graph graph;
  std::vector<Function> functions;
};

/// A file and what it refers to. Tensors lie in the mapped file, or in those
/// that hold external data, where they are aligned to their elements there;
/// else they are copies. Files beside the model are opened within its folder
/// only, links included.
class OnnxFile {
 public:
  /// Throws Error naming file and offset or message for what is no ONNX
  /// model.
  explicit OnnxFile(Ref<MappedFile> file);

  const Model& model() const { return model_; }
  const std::string& name() const { return file_->name(); }
  size_t size() const { return file_->size(); }

  /// Small types give a tensor of held_dtype(), an element each. Throws Error
  /// naming the tensor for types without counterpart here (strings), sizes that
  /// don't fit the data, and external data that is not there.
  Tensor read(const TensorProto& tensor);
  /// Throws Error naming file and tensor for a damaged message.
  TensorInfo info(const TensorProto& tensor) const;

 private:
  Tensor read_message(const TensorProto& tensor);
  Tensor read_sparse(std::string_view message);
  Tensor read_small(const TensorProto& tensor);
  Tensor external(const std::map<std::string, std::string>& entries,
                  DType dtype, const Dims& sizes, const std::string& name);
  Tensor at(const Ref<MappedFile>& file, size_t offset, size_t nbytes,
            DType dtype, const Dims& sizes);

  Ref<MappedFile> file_;
  std::map<std::string, Ref<MappedFile>> beside_;
  Model model_;
};

/// The dtype of the format's number, or none: strings, 4-bit numbers.
std::optional<DType> dtype_of(int64_t data_type);
/// True for a type whose values a tensor of another type holds: of 4 and 2
/// bits, and FLOAT8E8M0.
bool is_small(int64_t data_type);
/// The dtype of tensors that hold values of that type: dtype_of()'s; for small
/// types int8 or uint8, float8_e4m3fn, bfloat16; none for strings.
std::optional<DType> held_dtype(int64_t data_type);
/// "FLOAT", "STRING".
std::string data_type_name(int64_t data_type);
/// "float32[batch, 3]", "sequence of float32"; "?" where nothing is said.
std::string type_text(const ValueInfo& value);

}  // namespace hotaru::io::onnx
