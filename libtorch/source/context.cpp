// Switches and settings that programs written for libtorch ask for.
#include "ATen/Context.h"

#include "ATen/Functions.h"
#include "torch/csrc/jit/runtime/graph_executor.h"
#include "torch/cuda.h"

namespace at {

Context& globalContext() {
  static Context one;
  return one;
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
