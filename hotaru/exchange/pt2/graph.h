// A graph of an exported program: nodes, and what their arguments are.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hotaru/core/dtype.h"

namespace hotaru::exchange::pt2 {

struct Graph;

/// An operator's argument or result, or an input or output of a graph.
struct Argument {
  enum class Kind : uint8_t {
    kNone,
    kTensor,  // text: the value's name
    kSymInt,  // text: the name; without one, `integer`, `real` or `flag`
    kSymFloat,
    kSymBool,
    kInt,
    kFloat,
    kBool,
    kComplex,  // real, imaginary
    kString,   // text
    kDType,    // integer: as TorchScript counts them, like the next two
    kMemoryFormat,
    kLayout,
    kDevice,    // text: "cuda:1"
    kList,      // items, of `element`
    kGraph,     // text: its name
    kOperator,  // text
    kObject,    // text: the name of a TorchScript object
    kNamed,     // items and their names
  };
  Kind kind = Kind::kNone;
  std::string text = {};
  int64_t integer = 0;
  double real = 0;
  double imaginary = 0;
  bool flag = false;
  /// TorchScript's type of the items: "Optional[Tensor]".
  std::string element = {};
  std::vector<Argument> items = {};
  std::vector<std::string> names = {};
  std::shared_ptr<Graph> graph = {};
};

struct NamedArgument {
  std::string name;
  Argument value;
};

struct Node {
  std::string target;  // "torch.ops.aten.add.Tensor"
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
  /// Set if the one result of a higher-order operator is no tuple.
  bool single_result = true;
  /// The module that the call stood in: "layers.0".
  std::string module = {};
};

/// A size: a number, an input's symbol, or an expression of symbols.
struct Size {
  enum class Kind : uint8_t { kNumber, kSymbol, kExpression };
  Kind kind = Kind::kNumber;
  int64_t number = 0;
  std::string text = {};
};

struct TensorMeta {
  std::optional<DType> dtype;
  std::vector<Size> sizes;
  std::vector<Size> strides;
  Size offset;
  bool requires_grad = false;
  std::string device;
};

struct Graph {
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;
  std::vector<Node> nodes;
  std::map<std::string, TensorMeta> tensors;
  std::map<std::string, Size> sizes;
  bool single_result = false;
};

}  // namespace hotaru::exchange::pt2
