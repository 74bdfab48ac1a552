// CUDA source text to machine code, by NVRTC. Needs no device.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hotaru/runtime/own/own_kernel.h"

namespace hotaru::cuda::jit {

/// Code that the driver loads, and what the kernel is called in it.
struct Image {
  std::string code;
  std::string symbol;
};

/// The whole of what NVRTC is told, which decides what comes out.
struct CompilerInput {
  std::string text, name;
  std::vector<std::string> options;  // the architecture's among them
  std::string version;               // of the compiler
  bool to_ptx = false;               // the driver makes the machine code
  bool uses_headers = false;         // see KernelSource

  /// One text for all of it; different for different ones.
  std::string key() const;
};

/// How a source is compiled for an architecture ("90") unless it names one
/// itself: to its machine code, or, where NVRTC does not know it, to PTX of
/// the newest before it.
CompilerInput input_of(const KernelSource& source, std::string_view device);

/// Throws Error "Kernel compilation failed:" with the compiler's log, in which
/// lines are the text's; where the name is missing, with those that there are.
Image compile(const CompilerInput& input);

/// Names of the functions that a text declares __global__, as they stand there:
/// without those that macros make.
std::vector<std::string> global_functions(std::string_view text);

}  // namespace hotaru::cuda::jit
