// Kernels that a program brings as CUDA source text: compiled for the device
// when they are asked for, and launched through the door like all others.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hotaru/runtime/kernel.h"

namespace hotaru {

class Stream;

/// Source that is compiled.
struct KernelSource {
  std::string text;
  /// Name of a __global__ function, or a template with arguments: "f<float>".
  std::string name;
  /// Architecture to compile for in the device's place: "80", "90a"; or empty.
  std::string architecture;
  /// Folders with headers of the program's own. Kernels that include such ones
  /// are compiled each time: nobody knows when a header changed.
  std::vector<std::string> include_folders;
  /// Options of the compiler, e.g. "-use_fast_math".
  std::vector<std::string> options;
  /// Set if the text includes headers of hotaru's kernels, which the library
  /// brings along.
  bool uses_headers = false;
};

/// A compiled one. Lives as long as the process, as graphs and queues may hold
/// it. Thread-safe.
class OwnKernel {
 public:
  virtual ~OwnKernel() = default;
  virtual const std::string& name() const = 0;
  /// Makes it ready on a device, which may compile it once more. Throws Error
  /// with the compiler's log.
  virtual void load(int device) const = 0;
};

/// How often kernels were compiled in this process, and how often their code
/// was found on disk instead.
struct CompileCounts {
  int64_t compiled = 0, found = 0;
};

/// One of a kernel's parameters: the address of a tensor's first element, or
/// bytes that the kernel takes as they are.
struct KernelArgument {
  int64_t operand = -1;
  std::string bytes = {};
};

/// A launch: attributes of its call, whose operands are the tensors.
struct OwnLaunch {
  std::shared_ptr<const OwnKernel> kernel;
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1};
  unsigned shared_bytes = 0;
  std::vector<KernelArgument> arguments;
};

/// Compiles it for a device, unless that was done before.
std::shared_ptr<const OwnKernel> compile_kernel(const KernelSource& source,
                                                int device);

/// Puts a launch on a stream of CUDA, which keeps it in order with whatever
/// else uses its operands, and records it if it captures. Tensors that are
/// written get a new version.
void enqueue_launch(const OwnLaunch& launch, std::span<const Operand> operands,
                    const Stream& stream);

/// A kernel that does what `base` does under another name, which profiles and
/// errors then show. Lives as long as the process.
const Kernel& named_kernel(const Kernel& base, std::string_view name);

}  // namespace hotaru
