// A method of a module, or a model of another engine, as the commands call it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command_line.h"
#include "hotaru/core/device.h"
#include "hotaru/core/value.h"
#include "hotaru/script/program/module.h"
#include "inputs.h"

namespace hotaru::cli {

inline constexpr const char* kHotaru = "hotaru";

/// The options that `run` and `bench` share: MODEL, --method, --input,
/// --shape, --device, --engine, --threads, --json. The object must outlive the
/// program.
struct ModelOptions {
  std::string path;
  std::string method = "forward";
  std::string device = "cpu";
  std::string engine = kHotaru;
  int threads = 0;  // 0: leave as it is
  bool json = false;
  Inputs inputs;

  void add_to(const Verb& verb);
};

/// A loaded module, ready to be called with the same arguments again and
/// again, without gradients.
class Model {
 public:
  /// Loads the program and reads the inputs, both to the device. Throws when
  /// that fails, when the method or the engine does not exist, or (naming its
  /// parameters) when the number of inputs does not fit.
  explicit Model(const ModelOptions& options);
  /// The same of a module that is in evaluation mode already: `path`, `device`
  /// and `engine` of the options count for nothing, it runs on the CPU.
  Model(const script::Module& module, const ModelOptions& options);
  ~Model();

  Value call();
  Device device() const;
  /// Waits for the device.
  void synchronize() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hotaru::cli
