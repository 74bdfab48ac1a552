// The kernels in the library, as nvcc compiled them.
#pragma once

#include <cstddef>
#include <span>

namespace hotaru::cuda {

/// A fatbin for cuLibraryLoadData: the kernels of one file, device/*/<name>.cu.
struct Image {
  const char* name;
  const void* data;
  size_t bytes;
};

/// None if the library was built without nvcc (cmake/cuda.cmake).
std::span<const Image> images();

}  // namespace hotaru::cuda
