// One call of an operator, as the function that writes it sees it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hotaru/exchange/onnx_out/emitter.h"
#include "hotaru/exchange/onnx_out/symbol.h"
#include "hotaru/ops/registry.h"

namespace hotaru::exchange::onnx_out {

class Exporter;

/// Arguments by the names of the operator's schema, "self" and "dim", or by
/// position. What is asked for as a value of the host must be known: the
/// methods throw NotImplementedError naming argument and operator otherwise.
class Lowering {
 public:
  Lowering(Exporter& exporter, const Operator& op, std::vector<Symbol> inputs);

  Emitter& emitter() const;
  Exporter& exporter() const { return exporter_; }
  int64_t opset() const { return emitter().opset(); }
  std::string_view name() const { return op_.name(); }
  const Schema& schema() const { return op_.schema(); }

  bool has(const char* argument) const;
  /// True if there is such an argument and it is not None.
  bool given(const char* argument) const;
  const Symbol& at(int i) const { return inputs_[size_t(i)]; }
  const Symbol& at(const char* argument) const;
  size_t size() const { return inputs_.size(); }

  int64_t integer(const char* argument) const;
  double real(const char* argument) const;
  bool flag(const char* argument) const;
  std::string text(const char* argument) const;
  Ints integers(const char* argument) const;
  std::vector<double> reals(const char* argument) const;
  /// The same, `n` times if it is one number.
  Ints integers(const char* argument, size_t n) const;
  Scalar scalar(const char* argument) const;
  bool is_known(const char* argument) const;

  /// An argument's value in the graph, cast to the dtype. Numbers become
  /// tensors without dimensions.
  std::string tensor(const Symbol& symbol, DType dtype) const;
  std::string tensor(const char* argument, DType dtype) const;
  std::string tensor(int i, DType dtype) const;
  /// As it is.
  std::string tensor(const char* argument) const;
  std::string tensor(int i) const;
  std::string tensor(const Symbol& symbol) const;
  /// Tensors of a list.
  Names tensors(const char* argument, DType dtype) const;
  /// An int[] (or int) as a tensor of one dimension.
  std::string shape(const char* argument) const;
  std::string shape(const std::vector<Symbol>& items) const;
  /// An int as a tensor of one dimension with one element.
  std::string one(const Symbol& number) const;

  const Example& example(const char* argument) const;
  const Example& example(int i) const;
  int64_t rank(int i = 0) const { return example(i).dim(); }
  DType dtype(int i = 0) const { return example(i).dtype(); }
  /// Example of a result that is a tensor.
  const Example& out(size_t i = 0) const;
  /// An example of a result that is a number.
  const Value& value() const { return value_; }
  void set_value(Value value) { value_ = std::move(value); }
  size_t outs() const { return outs_.size(); }
  void set_outs(std::vector<Example> outs) { outs_ = std::move(outs); }

  std::string op(const char* op, Names inputs,
                 std::vector<Attribute> attributes = {}) const;
  Names many(const char* op, Names inputs, size_t outputs,
             std::vector<Attribute> attributes = {}) const;
  std::string ints(const Ints& values) const { return emitter().ints(values); }
  std::string number(const Scalar& value, DType dtype) const {
    return emitter().scalar(value, dtype);
  }
  std::string cast(const std::string& value, DType from, DType to) const;
  std::string reshape(const std::string& value, const Ints& sizes) const;
  std::string unsqueeze(const std::string& value, const Ints& dims) const;
  std::string squeeze(const std::string& value, const Ints& dims) const;
  std::string transpose(const std::string& value, const Ints& order) const;
  std::string shape_of(const std::string& value) const;
  /// Sizes [begin, end) of a value's shape.
  std::string sizes_of(const std::string& value, int64_t begin,
                       int64_t end) const;
  /// A reduction whose axes are an input from the opset on, an attribute
  /// before.
  std::string reduce(const char* op, const std::string& value, const Ints& axes,
                     bool keep, int64_t since = 18) const;
  std::string slice(const std::string& value, int64_t dim, int64_t begin,
                    int64_t end) const;
  /// The call with a dimension of one element for tensors without dimensions:
  /// PyTorch's operators take dimension 0 of these, too.
  Lowering lined() const;
  /// A dimension, counted from the beginning.
  int64_t wrap(int64_t dim, int64_t rank) const;

  /// Sets what the call gives. Names get the results' examples.
  void result(std::string name) { names_ = {std::move(name)}; }
  void results(Names names) { names_ = std::move(names); }
  void result(Symbol symbol) { symbols_ = {std::move(symbol)}; }
  const Names& names() const { return names_; }
  std::vector<Symbol>& symbols() { return symbols_; }

  [[noreturn]] void refuse(const std::string& why) const;

 private:
  size_t index(const char* argument) const;
  Value known(const char* argument) const;

  Exporter& exporter_;
  const Operator& op_;
  std::vector<Symbol> inputs_;
  std::vector<Example> outs_;
  Value value_;
  Names names_;
  std::vector<Symbol> symbols_;
};

}  // namespace hotaru::exchange::onnx_out
