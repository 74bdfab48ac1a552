// A value of an ONNX graph while its program is written.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "hotaru/core/tensor.h"
#include "hotaru/core/value.h"
#include "hotaru/exchange/module_tree.h"
#include "hotaru/script/types/type.h"

namespace hotaru::exchange::onnx {

/// Kind of a value in the program. Shapes and what is computed from them stay
/// numbers of the host, so that nothing waits for a tensor and graphs can be
/// captured: an int64 tensor without dimensions is an int there, one of one
/// dimension a List[int].
enum class Kind : uint8_t {
  kNone,  // an optional input that is not given
  kTensor,
  kBool,
  kInt,
  kInts,
  kTensors,       // a sequence
  kMaybeTensor,   // an optional
  kMaybeTensors,  // an optional sequence
  kMissing,       // of an operator that is not here
};

/// "List[int]".
const char* type_text(Kind kind);
/// Kind of what a function returns; kMissing for other types.
Kind kind_of(script::TypePtr type);
/// Kind that both can be: kTensor for a host's number and a tensor.
Kind joined(Kind a, Kind b);

/// A tensor that the file has. It becomes part of the module when the program
/// reads it as a tensor.
struct Constant {
  Tensor tensor;
  std::string name;
  ModuleTree::Role role = ModuleTree::Role::kBuffer;
  std::string expression = {};
};

struct Operand {
  Kind kind = Kind::kNone;
  std::string text = {};
  std::shared_ptr<Constant> constant = nullptr;
  /// Set for kInts known to have one small element, which Tuple[int] takes.
  bool one = false;
  /// Dtype of the tensor that kInt or kInts stands for: numbers that went
  /// through a Cast, and truths as 0 and 1.
  DType dtype = DType::kInt64;
  /// The format's number of the small type whose values the tensor holds
  /// (io::onnx::is_small), or 0.
  int64_t small = 0;
  /// Set for a kTensor of the CPU that was made of numbers of the host alone:
  /// a function named __known gave it (texts/known.py).
  bool known = false;

  /// Numbers of the host of another dtype than int64.
  bool is_other() const { return !constant && dtype != DType::kInt64; }
  /// Kind that a constant may be on the host, else kTensor; that of other
  /// numbers than int64 is kTensor, too.
  Kind host_kind() const;
};

/// The program's variable for the device that tensors are made on of numbers of
/// the host, and the keyword by which functions ask for it.
inline constexpr std::string_view kDevice = "on_device";

/// Cost at least of taking a constant of another dtype as int64.
constexpr int kOtherDtype = 5;

/// Cost of giving the operand where a type is expected: 0 as it is, 2 to make a
/// tensor of numbers, 10 to wait for a tensor's numbers; none where that cannot
/// be.
std::optional<int> cost(const Operand& operand, script::TypePtr type);

/// True for a constant of that dtype that looks like a shape, or a part of one.
bool is_short(const Operand& operand, DType dtype);

/// The numbers of a constant as a value of that type; none if they don't fit.
std::optional<Value> constant_value(const Tensor& tensor, script::TypePtr type);

/// True for what a function named __known takes as a tensor: such a tensor,
/// numbers of the host, and short constants that nobody trains.
bool is_knowable(const Operand& operand);
/// True if it changes from call to call: no constant.
bool is_live(const Operand& operand);
/// A knowable operand, or none, as a tensor of the CPU that is made of numbers.
std::string known_argument(const Operand& operand);

/// The operand where a type is expected that cost() allows. Adds constants to
/// the module.
std::string argument(const Operand& operand, script::TypePtr type,
                     ModuleTree& tree);
/// The same for a kind.
std::string argument(const Operand& operand, Kind kind, ModuleTree& tree);

}  // namespace hotaru::exchange::onnx
