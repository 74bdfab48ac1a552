// A program that an engine compiled. Running it is one kernel call, so queued
// streams, events, captured graphs, errors and profiles treat it as any other.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hotaru/core/tensor.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::provider {

/// Declaration of an input or output.
struct Port {
  /// A number, a name that stands for one ("batch"), or "" for any.
  struct Dim {
    int64_t size = -1;
    std::string name;
  };
  std::string name;
  DType dtype;
  /// Absent where nothing is said of the shape.
  std::optional<std::vector<Dim>> dims;

  /// "float32[batch, 3]".
  std::string type_text() const;
};

/// Calls may come from any number of threads at once.
class Executable : public RefCounted {
 public:
  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }
  /// The engine with its version, and what it compiled, as errors name them.
  const std::string& engine() const { return engine_; }
  const std::string& name() const { return name_; }

  /// Runs on the current stream of the CPU and returns fresh tensors. Where a
  /// shape of the outputs follows neither from declarations nor from the
  /// inputs' sizes it runs at once, and under capture throws Error naming the
  /// output. Throws TypeError or ValueError naming an input that does not fit,
  /// and Error for inputs that want gradients, as there are none.
  std::vector<Tensor> operator()(std::span<const Tensor> inputs) const;

  /// An output whose shape is only known when it ran, or null.
  const Port* shapeless() const;

 protected:
  Executable(std::string engine, std::string name, std::vector<Port> inputs,
             std::vector<Port> outputs);

  using Operands = std::span<const Tensor* const>;
  /// Reads row-major inputs of the declared dtypes and writes outputs, in
  /// whichever thread. Throws Error, also if an output has another shape.
  virtual void run(Operands inputs, Operands outputs) const = 0;
  /// The same with outputs of its own.
  virtual std::vector<Tensor> run_fresh(Operands inputs) const = 0;
  /// For replays: the same tensors again and again. May give null.
  virtual std::unique_ptr<PreparedCall> prepare(Operands inputs,
                                                Operands outputs) const = 0;

 private:
  struct Kernels;
  /// Where an output's size comes from: a number, or sizes of inputs that have
  /// the same name.
  struct Source {
    int64_t size = -1;
    std::vector<std::pair<size_t, size_t>> places;  // input, dimension
  };
  struct Attributes {
    Ref<const Executable> program;
    std::vector<Tensor>* fresh = nullptr;  // made by the call if not null
  };

  void find_sources();
  void check(std::span<const Tensor> inputs) const;
  /// False if shapes are not known.
  bool make_outputs(std::span<const Tensor> inputs,
                    std::vector<Tensor>* outputs) const;
  std::vector<Tensor> run_now(std::span<const Tensor> inputs) const;

  const std::string engine_, name_;
  const std::vector<Port> inputs_, outputs_;
  std::vector<std::vector<Source>> sources_;  // of each output
  const Port* shapeless_ = nullptr;
  /// Set when results had other shapes than those declared.
  mutable std::atomic<bool> misdeclared_{false};
};

}  // namespace hotaru::provider
