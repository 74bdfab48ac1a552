// Switches of PyTorch's executors. They are kept and change nothing: hotaru
// has one way to run a function.
#pragma once

#include <atomic>

namespace torch::jit {

std::atomic<bool>& getProfilingMode();
std::atomic<bool>& getExecutorMode();
bool tensorExprFuserEnabled();
void setTensorExprFuserEnabled(bool on);
bool getGraphExecutorOptimize();
void setGraphExecutorOptimize(bool on);

namespace fuser::cuda {
/// The value before.
bool setEnabled(bool on);
bool isEnabled();
}  // namespace fuser::cuda

}  // namespace torch::jit
