// PyTorch's marks of exported names. Everything declared here is exported.
#pragma once

#define C10_EXPORT __attribute__((visibility("default")))
#define C10_IMPORT C10_EXPORT
#define C10_HIDDEN __attribute__((visibility("hidden")))
#define C10_API C10_EXPORT
#define C10_API_ENUM
#define C10_CUDA_API C10_EXPORT
#define TORCH_API C10_EXPORT
#define TORCH_PYTHON_API C10_EXPORT
#define TORCH_CUDA_CU_API C10_EXPORT
#define TORCH_CUDA_CPP_API C10_EXPORT
