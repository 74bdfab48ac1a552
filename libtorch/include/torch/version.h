// The release of PyTorch whose C++ API this is.
#pragma once

#define TORCH_VERSION_MAJOR 2
#define TORCH_VERSION_MINOR 13
#define TORCH_VERSION_PATCH 0
#define TORCH_VERSION "2.13.0"
/// Told from libtorch by.
#define TORCH_HOTARU 1
