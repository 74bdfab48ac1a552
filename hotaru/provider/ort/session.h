// A model that ONNX Runtime compiled.
#pragma once

#include <array>
#include <atomic>

#include "hotaru/provider/executable.h"
#include "hotaru/provider/ort/environment.h"

namespace hotaru::provider::ort {

/// Handle that keeps a library's session alive; outputs that it made hold it.
struct SessionHandle final : RefCounted {
  explicit SessionHandle(int threads) : environment(threads) {}
  ~SessionHandle() override;

  const Library& library = ort::library();
  Environment environment;
  OrtSession* session = nullptr;
};

/// Inputs and outputs as the session declares them. Throws NotImplementedError
/// naming one that is no tensor of a dtype that is here.
std::vector<Port> input_ports(const SessionHandle& handle,
                              const std::string& name);
std::vector<Port> output_ports(const SessionHandle& handle,
                               const std::string& name);

class Session final : public Executable {
 public:
  Session(Ref<SessionHandle> handle, std::string name, std::vector<Port> inputs,
          std::vector<Port> outputs);
  ~Session() override;

 protected:
  void run(Operands inputs, Operands outputs) const override;
  std::vector<Tensor> run_fresh(Operands inputs) const override;
  std::unique_ptr<PreparedCall> prepare(Operands inputs,
                                        Operands outputs) const override;

 private:
  class Bound;
  class Prepared;
  class Turn;

  const Ref<SessionHandle> handle_;
  std::vector<const char*> input_names_, output_names_;
  /// Bindings of calls that ended; as many as usually run at a time.
  mutable std::array<std::atomic<Bound*>, 4> spares_{};
};

}  // namespace hotaru::provider::ort
