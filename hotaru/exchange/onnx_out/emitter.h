// The ONNX graph in the making.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "hotaru/core/scalar.h"
#include "hotaru/core/tensor.h"
#include "hotaru/io/onnx/onnx_file.h"
#include "hotaru/io/onnx/onnx_writer.h"

namespace hotaru::exchange::onnx_out {

using Attribute = io::onnx::Attribute;
using Names = std::vector<std::string>;
using Ints = std::vector<int64_t>;

/// Attributes of a node.
Attribute attr(std::string name, int64_t value);
Attribute attr(std::string name, int value);
Attribute attr(std::string name, double value);
Attribute attr(std::string name, const char* value);
Attribute attr(std::string name, std::string value);
Attribute attr(std::string name, Ints values);
Attribute attr(std::string name, std::vector<float> values);
Attribute attr(std::string name, std::vector<std::string> values);
Attribute attr(std::string name, std::shared_ptr<io::onnx::Graph> graph);

/// Name of an operator, in ONNX's own set or another domain's.
struct OpName {
  std::string name, domain = {};
};

/// Adds nodes to the graph that is being written, or to one within it, and
/// keeps constants and initializers. Names are unique over all graphs, so
/// inner graphs can read the values of those around them.
class Emitter {
 public:
  explicit Emitter(int64_t opset) : opset_(opset) { graphs_.push_back(&top_); }
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

  int64_t opset() const { return opset_; }
  /// 0 in the outermost graph.
  int depth() const { return int(graphs_.size()) - 1; }

  /// A name that no value has yet, made of this one.
  std::string fresh(const std::string& name);
  /// Takes exactly this name. Throws ValueError if it is taken.
  void reserve(const std::string& name);

  /// A node with one output, or several; its outputs' names.
  std::string add(const char* op, Names inputs,
                  std::vector<Attribute> attributes = {});
  Names add_many(const char* op, Names inputs, size_t outputs,
                 std::vector<Attribute> attributes = {});
  Names add_many(const OpName& op, Names inputs, size_t outputs,
                 std::vector<Attribute> attributes);
  /// A node whose outputs have these names, which are fresh() ones.
  void add_node(const char* op, Names inputs, Names outputs,
                std::vector<Attribute> attributes);
  /// Sets what new values are called, for readers of the graph.
  void set_hint(std::string hint) { hint_ = std::move(hint); }

  /// An attribute that is a tensor.
  Attribute tensor_attr(std::string name, const Tensor& tensor);
  /// Other domains that nodes are of.
  const std::set<std::string>& domains() const { return domains_; }

  /// A known tensor; equal small ones share a value.
  std::string constant(const Tensor& tensor);
  std::string scalar(const Scalar& value, DType dtype);
  std::string ints(const Ints& values);
  /// A tensor that the file keeps under this name.
  std::string initializer(const std::string& name, const Tensor& tensor);

  io::onnx::Graph& graph() { return *graphs_.back(); }
  /// Nodes go to an inner graph from now on, until end().
  std::shared_ptr<io::onnx::Graph> begin(const std::string& name);
  void begin(io::onnx::Graph& graph) { graphs_.push_back(&graph); }
  void end() { graphs_.pop_back(); }
  /// Drops all nodes of the current graph from the nth on.
  void truncate(size_t nodes) { graph().nodes.resize(nodes); }

  /// The whole graph without what no output needs, and its initializers.
  io::onnx::Graph finish(std::vector<io::onnx::ValueInfo> inputs,
                         std::vector<io::onnx::ValueInfo> outputs);
  std::vector<io::onnx::Initializer> initializers() const;
  /// Bytes of constants, held while the graph is in use.
  std::shared_ptr<std::deque<std::string>> bytes() const { return bytes_; }

 private:
  const int64_t opset_;
  io::onnx::Graph top_;
  std::vector<io::onnx::Graph*> graphs_;
  std::vector<io::onnx::Node> constants_;
  std::map<std::string, std::string> by_message_;
  std::map<const TensorImpl*, std::string> by_tensor_;
  std::vector<io::onnx::Initializer> initializers_;
  std::shared_ptr<std::deque<std::string>> bytes_ =
      std::make_shared<std::deque<std::string>>();
  std::set<std::string> names_;
  std::map<std::string, int> counts_;
  std::set<std::string> used_;
  std::string hint_;
  std::set<std::string> domains_;
};

}  // namespace hotaru::exchange::onnx_out
