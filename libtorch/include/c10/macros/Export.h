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

/// Before explicit instantiations of the library's own classes: they are
/// compiled once, in source/*instances.cpp, and not in every program.
#ifndef HOTARU_TORCH_EXTERN
#define HOTARU_TORCH_EXTERN extern
#endif
