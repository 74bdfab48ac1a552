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

/// How cuBLAS may sum products of 16 bits. Sums are of 32 bits here.
enum class CuBLASReductionOption : uint8_t {
  AllowReducedPrecisionWithSplitK,
  DisallowReducedPrecisionAllowSplitK,
  DisallowReducedPrecisionDisallowSplitK,
};

/// The one of a process. Setters of libraries that are not used here (cuDNN's
/// choice of algorithms, oneDNN, sums of 16 bits) keep what they are told and
/// change nothing.
class Context {
 public:
  /// The one that operators draw from unless they are given another.
  Generator defaultGenerator(c10::Device device) const;

  /// True if NVIDIA's libraries may round factors to 10 bits.
  bool allowTF32CuBLAS() const;
  void setAllowTF32CuBLAS(bool on);
  bool allowTF32CuDNN() const;
  void setAllowTF32CuDNN(bool on);

  /// Ways of computing attention.
  bool userEnabledFlashSDP() const;
  void setSDPUseFlash(bool on);
  bool userEnabledMemEfficientSDP() const;
  void setSDPUseMemEfficient(bool on);
  bool userEnabledMathSDP() const;
  void setSDPUseMath(bool on);
  bool userEnabledCuDNNSDP() const;
  void setSDPUseCuDNN(bool on);

  CuBLASReductionOption allowFP16ReductionCuBLAS() const { return fp16_; }
  void setAllowFP16ReductionCuBLAS(bool on, bool split_k = true) {
    fp16_ = reduction(on, split_k);
  }
  CuBLASReductionOption allowBF16ReductionCuBLAS() const { return bf16_; }
  void setAllowBF16ReductionCuBLAS(bool on, bool split_k = true) {
    bf16_ = reduction(on, split_k);
  }

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

  static CuBLASReductionOption reduction(bool on, bool split_k) {
    TORCH_CHECK(!on || split_k,
                "reduced precision reductions need split K to be allowed");
    if (on) return CuBLASReductionOption::AllowReducedPrecisionWithSplitK;
    return split_k
               ? CuBLASReductionOption::DisallowReducedPrecisionAllowSplitK
               : CuBLASReductionOption::DisallowReducedPrecisionDisallowSplitK;
  }

  CuBLASReductionOption fp16_ =
      CuBLASReductionOption::AllowReducedPrecisionWithSplitK;
  CuBLASReductionOption bf16_ =
      CuBLASReductionOption::AllowReducedPrecisionWithSplitK;
  bool cudnn_ = true, benchmark_ = false, deterministic_ = false,
       mkldnn_ = true;
};
Context& globalContext();

}  // namespace at
