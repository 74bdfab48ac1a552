// Variables of a program as they are while the program is written as an ONNX
// graph.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hotaru/core/tensor.h"
#include "hotaru/core/value.h"

namespace hotaru::exchange::onnx_out {

struct Symbol;

/// Two tensors of the meta device that stand for one of the program: at the
/// sizes of the example arguments, and where dynamic dimensions have other
/// sizes. A size that differs between them is not known when the graph is
/// written; all others are constants.
struct Example {
  Tensor first, second;

  const Tensor& at(int world) const { return world ? second : first; }
  int64_t dim() const { return first.dim(); }
  DType dtype() const { return first.dtype(); }
  /// The size, or none if it is dynamic.
  std::optional<int64_t> size(int64_t dim) const;
};

/// A tensor variable. Writes in place give it another value of the graph.
struct Cell {
  /// The value's name in the graph; empty for a constant that nothing needed.
  std::string name;
  Example example;
  /// A tensor that is known, and no parameter.
  Tensor constant = {};
  /// Base of a view: whose memory it is, how it is made of that tensor's value,
  /// and how a new value of it is put in there (null: cannot be).
  std::shared_ptr<Cell> base = nullptr;
  std::function<std::string(const std::string&)> view = nullptr;
  std::function<std::string(const std::string&, const std::string&)> put =
      nullptr;
  /// Counts writes; a view's is that of its base when it was made.
  int version = 0;
  int base_version = 0;
  /// Depth of the subgraph that it was made in.
  int depth = 0;
};

/// A number of the host that depends on inputs: a value without dimensions in
/// the graph, of int64, float64 or bool, and what it is in the two worlds.
struct Number {
  std::string name;
  DType dtype = DType::kInt64;
  Value first, second;

  const Value& at(int world) const { return world ? second : first; }
};

/// A list, shared like Python's. Within loops that change it a list of tensors
/// is a sequence of the graph.
struct List {
  std::vector<Symbol> items;
  std::string sequence = {};
  Example element = {};
  int depth = 0;
};

using Dict = std::vector<std::pair<Value, Symbol>>;

struct Symbol {
  enum class Kind : uint8_t {
    kHost,  // known when the graph is written; modules, too
    kTensor,
    kNumber,
    kList,
    kTuple,
    kDict,
  };
  Kind kind = Kind::kHost;
  Value host = {};
  std::shared_ptr<Cell> cell = nullptr;
  std::shared_ptr<Number> number = nullptr;
  std::shared_ptr<List> list = nullptr;
  std::shared_ptr<std::vector<Symbol>> tuple = nullptr;
  std::shared_ptr<Dict> dict = nullptr;

  Symbol() = default;
  Symbol(Value value) : host(std::move(value)) {}
  static Symbol tensor(std::shared_ptr<Cell> cell);
  static Symbol of_number(std::string name, DType dtype, Value first,
                          Value second);
  static Symbol list_of(std::vector<Symbol> items, int depth);
  static Symbol tuple_of(std::vector<Symbol> items);

  bool is_host() const { return kind == Kind::kHost; }
  bool is_none() const { return is_host() && host.is_none(); }
  bool is_tensor() const { return kind == Kind::kTensor; }
  bool is_number() const { return kind == Kind::kNumber; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_tuple() const { return kind == Kind::kTuple; }
  bool is_sequence() const { return is_list() && !list->sequence.empty(); }
  /// Elements of a list that is no sequence, or of a tuple.
  const std::vector<Symbol>& items() const {
    return is_tuple() ? *tuple : list->items;
  }

  /// The value if all of it is known and holds no tensor, else none.
  std::optional<Value> known() const;
  /// The value in one of the two worlds, tensors on the meta device.
  Value in_world(int world) const;
  /// True if the worlds differ in it.
  bool varies() const;
};

/// Tells whether two known values are the same: numbers, strings, None, and
/// lists and tuples of such.
bool same_value(const Value& a, const Value& b);

/// The dtype of a number's value in the graph: int64, float64 or bool.
DType number_dtype(const Value& value);

/// The tensor's shape and dtype on the meta device.
Tensor meta_of(const Tensor& tensor);

}  // namespace hotaru::exchange::onnx_out
