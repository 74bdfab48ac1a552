// Settings of the process, and parts of PyTorch's that programs ask for.
#pragma once

#include <string>
#include <vector>

#include "ATen/core/Generator.h"
#include "c10/core/Device.h"

namespace at {

/// Engines of quantized operators. Here is none.
enum class QEngine : uint8_t {
  NoQEngine = 0,
  FBGEMM = 1,
  QNNPACK = 2,
  ONEDNN = 3,
  X86 = 4,
};

/// The one of a process. Setters of libraries that are not used here (cuDNN's
/// choice of algorithms, oneDNN) keep what they are told and change nothing.
class Context {
 public:
  const std::vector<QEngine>& supportedQEngines() const {
    static const std::vector<QEngine> none{QEngine::NoQEngine};
    return none;
  }
  QEngine qEngine() const { return QEngine::NoQEngine; }
  void setQEngine(QEngine engine) {
    TORCH_CHECK(engine == QEngine::NoQEngine,
                "quantized engine is not supported");
  }

  bool userEnabledCuDNN() const { return cudnn_; }
  void setUserEnabledCuDNN(bool on) { cudnn_ = on; }
  bool benchmarkCuDNN() const { return benchmark_; }
  void setBenchmarkCuDNN(bool on) { benchmark_ = on; }
  bool deterministicCuDNN() const { return deterministic_; }
  void setDeterministicCuDNN(bool on) { deterministic_ = on; }
  bool userEnabledMkldnn() const { return mkldnn_; }
  void setUserEnabledMkldnn(bool on) { mkldnn_ = on; }

  static bool hasOpenMP() { return false; }
  static bool hasMKL() { return false; }
  /// Factorisations are hotaru's own.
  static bool hasLAPACK() { return true; }
  static bool hasMKLDNN() { return false; }
  static bool hasMAGMA() { return false; }
  static bool hasCUDA();
  static bool hasCUDART() { return hasCUDA(); }
  static bool hasCuSOLVER() { return hasCUDA(); }
  static bool hasCuDNN() { return hasCUDA(); }
  /// Throw: libraries of a GPU are loaded when something needs them.
  static long versionCuDNN() { no_version("cuDNN"); }
  static long versionCUDART() { no_version("CUDART"); }
  static bool hasIPU() { return false; }
  static bool hasXLA() { return false; }
  static bool hasLazy() { return false; }
  static bool hasMPS() { return false; }
  static bool hasXPU() { return false; }
  static bool hasHIP() { return false; }

 private:
  [[noreturn]] static void no_version(const char* library) {
    throw c10::NotImplementedError(std::string("Cannot query the version of ") +
                                   library);
  }

  bool cudnn_ = true, benchmark_ = false, deterministic_ = false,
       mkldnn_ = true;
};
Context& globalContext();

}  // namespace at
