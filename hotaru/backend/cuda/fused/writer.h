// Elementwise calls as statements of a kernel's text.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "hotaru/backend/common/pointwise/fused.h"
#include "hotaru/core/dtype.h"
#include "hotaru/core/printing/concat.h"

namespace hotaru::cuda::fused {

/// Values that a kernel of several calls reads and writes, in the order of its
/// parameters.
struct FusedValues {
  /// Tensors that lie in memory.
  std::vector<const Tensor*> operands;
  std::vector<bool> read, written;
  /// Objects of formulas that have members, and attributes.
  struct Object {
    const KernelCall* call;
    void (*put)(const KernelCall& call, std::byte* to);
  };
  std::vector<Object> objects;
  /// Numbers on the CPU.
  struct Number {
    const Tensor* tensor;
    DType as;  // the first input's of the call
  };
  std::vector<Number> numbers;
  /// Bytes of the largest element.
  size_t item = 1;
  /// Operands that are views of calls' own.
  std::vector<std::shared_ptr<const Tensor>> views;
  /// Set if a call has to give what a kernel can't write.
  bool impossible = false;

  /// True if the parameters have room for them.
  bool fit() const;
};

/// As C++ in namespace hotaru::cuda writes a dtype; null for those without
/// code.
const char* type_name(DType dtype);

bool is_number(const Tensor& t);

/// Tells whether a call is elementwise and has code here.
bool is_elementwise(const KernelCall& call);
/// The same of batch norm from running values.
bool is_channel_norm(const KernelCall& call);

/// The calls' statements. What they compute has names; memory is read and
/// written by whoever makes the kernel.
class FusedWriter {
 public:
  explicit FusedWriter(const std::unordered_set<const Storage*>& inner)
      : inner_(inner) {}
  virtual ~FusedWriter() = default;

  /// An elementwise call, or one per channel.
  void add(const KernelCall& call);

  const FusedValues& values() const { return values_; }
  FusedValues& values() { return values_; }

 protected:
  /// Begins to read an operand: what its value is called.
  virtual std::string read(size_t operand) = 0;
  /// Says that a value is what an expression computes, rounded to the tensor's
  /// dtype; what it is called.
  virtual std::string define(const Tensor& result,
                             const std::string& expression) = 0;
  /// Says that a value goes to memory.
  virtual void write(size_t operand, const std::string& name) = 0;

  /// The name of an input's value, as arithmetic on `as` takes it.
  std::string input(const Tensor& t, DType as);
  /// From now on a tensor's value has a name; it is written if anybody else
  /// reads it.
  void name(const Tensor& t, const std::string& name);
  /// The number of an object among the parameters.
  size_t object(const FusedValues::Object& object);
  /// The `eps` of a call's attributes, as an expression.
  template <class Attributes>
  std::string eps(const KernelCall& call) {
    const auto put = [](const KernelCall& c, std::byte* to) {
      const double value = c.attributes<Attributes>().eps;
      std::memcpy(to, &value, sizeof(value));
    };
    return concat("formula_at<double>(p, ", object({&call, put}), ")");
  }
  /// A name that none had before.
  std::string fresh(const char* first) {
    return first + std::to_string(count_++);
  }

 private:
  struct Value {
    const Tensor* tensor;
    std::string name;
  };

  size_t operand(const Tensor& t);
  std::string computed(const KernelCall& call);
  std::string channel_norm(const KernelCall& call);

  const std::unordered_set<const Storage*>& inner_;
  FusedValues values_;
  std::vector<Value> named_;
  size_t count_ = 0;
};

}  // namespace hotaru::cuda::fused
