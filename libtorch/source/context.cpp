// Switches and settings that programs written for libtorch ask for.
#include "ATen/Context.h"

#include <algorithm>

#include "ATen/Functions.h"
#include "hotaru/ops/attention/attention_kinds.h"
#include "hotaru/runtime/library_settings.h"
#include "torch/csrc/jit/runtime/graph_executor.h"
#include "torch/cuda.h"

namespace at {

Context& globalContext() {
  static Context one;
  return one;
}
bool Context::allowTF32CuBLAS() const {
  return hotaru::allows_tf32(hotaru::Tf32::kMatmul);
}
void Context::setAllowTF32CuBLAS(bool on) {
  hotaru::set_allows_tf32(hotaru::Tf32::kMatmul, on);
}
bool Context::allowTF32CuDNN() const {
  return hotaru::allows_tf32(hotaru::Tf32::kConv);
}
void Context::setAllowTF32CuDNN(bool on) {
  hotaru::set_allows_tf32(hotaru::Tf32::kConv, on);
}

namespace {

bool uses(hotaru::AttentionKind kind) {
  const std::vector<int> kinds = hotaru::attention_kinds();
  return std::ranges::count(kinds, int(kind)) > 0;
}

/// Order in which kinds are tried at first: products and softmax behind what is
/// fused.
int rank(int kind) {
  return kind == int(hotaru::AttentionKind::kMath)   ? 2
         : kind < int(hotaru::AttentionKind::kCudnn) ? kind - 1
                                                     : kind;
}

void use(hotaru::AttentionKind kind, bool on) {
  if (uses(kind) == on) return;
  std::vector<int> kinds = hotaru::attention_kinds();
  if (on)
    kinds.insert(
        std::ranges::find_if(
            kinds, [&](int other) { return rank(other) > rank(int(kind)); }),
        int(kind));
  else
    std::erase(kinds, int(kind));
  hotaru::set_attention_kinds(kinds);
}

}  // namespace

bool Context::userEnabledFlashSDP() const {
  return uses(hotaru::AttentionKind::kFlash);
}
void Context::setSDPUseFlash(bool on) {
  use(hotaru::AttentionKind::kFlash, on);
}
bool Context::userEnabledMemEfficientSDP() const {
  return uses(hotaru::AttentionKind::kEfficient);
}
void Context::setSDPUseMemEfficient(bool on) {
  use(hotaru::AttentionKind::kEfficient, on);
}
bool Context::userEnabledMathSDP() const {
  return uses(hotaru::AttentionKind::kMath);
}
void Context::setSDPUseMath(bool on) {
  use(hotaru::AttentionKind::kMath, on);
}
bool Context::userEnabledCuDNNSDP() const {
  return uses(hotaru::AttentionKind::kCudnn);
}
void Context::setSDPUseCuDNN(bool on) {
  use(hotaru::AttentionKind::kCudnn, on);
}

bool Context::hasCUDA() {
  return torch::cuda::is_available();
}

Tensor TensorMaker::make_tensor() const {
  if (strides_)
    return deleter_ ? from_blob(data_, sizes_, *strides_, deleter_, options_,
                                device_)
                    : from_blob(data_, sizes_, *strides_, options_);
  return deleter_ ? from_blob(data_, sizes_, deleter_, options_, device_)
                  : from_blob(data_, sizes_, options_);
}

}  // namespace at

namespace torch::jit {
namespace {

std::atomic<bool> profiling{true}, executor{true}, fuser_on{false},
    optimizes{true}, cuda_fuser{false};

}  // namespace

std::atomic<bool>& getProfilingMode() {
  return profiling;
}
std::atomic<bool>& getExecutorMode() {
  return executor;
}
bool tensorExprFuserEnabled() {
  return fuser_on;
}
void setTensorExprFuserEnabled(bool on) {
  fuser_on = on;
}
bool getGraphExecutorOptimize() {
  return optimizes;
}
void setGraphExecutorOptimize(bool on) {
  optimizes = on;
}

namespace fuser::cuda {
bool setEnabled(bool on) {
  return cuda_fuser.exchange(on);
}
bool isEnabled() {
  return cuda_fuser;
}
}  // namespace fuser::cuda

}  // namespace torch::jit
