// Images of kernels that were compiled from source text: shared objects behind
// a magic word, loaded into this process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hotaru/backend/soft_gpu/kernel_code.h"

namespace hotaru::soft_gpu {

/// The kernels of an object, for ever.
struct Module {
  std::vector<std::string> names;  // as its symbols are
  std::vector<KernelCode> kernels;
};

/// A shared object's bytes as an image, and whether something is one. Of what
/// is none, no more is read than up to its first zero.
std::string image_of_object(std::string_view object);
bool is_module(const void* image);

/// Null if it cannot be loaded.
const Module* load_module(const void* image);
/// Null if it has no kernel whose symbol this is.
const KernelCode* find_kernel(const Module& module, std::string_view name);

}  // namespace hotaru::soft_gpu
