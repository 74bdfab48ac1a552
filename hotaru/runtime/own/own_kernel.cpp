#include "hotaru/runtime/own/own_kernel.h"

#include <algorithm>
#include <map>

#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/accelerator.h"
#include "hotaru/runtime/own/launch_function.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {
namespace {

/// Passes of graphs know kernels by their names, so nobody else may have one.
bool is_taken(std::string_view name) {
  const auto known = DeviceTable::instance().kernels();
  return std::any_of(known.begin(), known.end(),
                     [&](const Kernel* k) { return k->name() == name; });
}

void enqueue_named(const Kernel& base, std::string_view name,
                   std::span<const Operand> operands, const Stream& stream,
                   const auto& attributes) {
  for (const Operand& operand : operands)
    if (operand.tensor && operand.tensor->defined() && operand.writes())
      operand.tensor->bump_version();
  stream.enqueue({named_kernel(base, name), operands, attributes});
}

}  // namespace

const Kernel& named_kernel(const Kernel& base, std::string_view name) {
  using Key = std::pair<const Kernel*, std::string>;
  static auto* const mutex = new Mutex;
  static auto* const made = new std::map<Key, std::unique_ptr<Kernel>>;
  const std::lock_guard lock(*mutex);
  std::unique_ptr<Kernel>& own = (*made)[{&base, std::string(name)}];
  if (!own) {
    own = std::make_unique<Kernel>(is_taken(name) ? concat("own::", name)
                                                  : std::string(name));
    for (size_t i = 0; i < kDeviceTypes; ++i)
      if (base.has(DeviceType(i)))
        own->set(DeviceType(i), base.on(DeviceType(i)));
  }
  return *own;
}

std::shared_ptr<const OwnKernel> compile_kernel(const KernelSource& source,
                                                int device) {
  return accelerator().compile_kernel(source, device);
}

void enqueue_launch(const OwnLaunch& launch, std::span<const Operand> operands,
                    const Stream& stream) {
  static const Kernel& base = kernel("cuda_kernel");
  enqueue_named(base, launch.kernel->name(), operands, stream, launch);
}

void cuda::launch(std::string_view name, std::span<const Operand> operands,
                  LaunchFunction function) {
  HOTARU_CHECK(!operands.empty() && operands.front().tensor &&
                   operands.front().tensor->defined() &&
                   operands.front().tensor->device().is_cuda(),
               name, ": the first operand must be a tensor on a CUDA device");
  static const Kernel& base = kernel("cuda_function");
  accelerator();  // brings what the function is called by
  enqueue_named(base, name, operands,
                current_stream(operands.front().tensor->device()), function);
}

}  // namespace hotaru
