// Every function of NVRTC that hotaru calls and the numbers that it calls them
// with, declared by ourselves: no header of NVIDIA is needed to build. They are
// those of NVRTC 12 and 13; tests compare them with nvrtc.h where it lies. All
// return a status, 0 where it went well.
#pragma once

#include <cstddef>

namespace hotaru::cuda::nvrtc {

using Program = struct ProgramState*;

enum Status : int {
  kSuccess = 0,
  kInvalidInput = 3,
  kInvalidProgram = 4,
  kInvalidOption = 5,
  kCompilation = 6,
  kBuiltinFailure = 7,
  kNotBeforeCompilation = 9,
  kInvalidName = 10
};

// clang-format off
#define HOTARU_NVRTC_ENTRIES(X) \
  X(version, nvrtcVersion, (int* major, int* minor)) \
  X(count_architectures, nvrtcGetNumSupportedArchs, (int* count)) \
  X(architectures, nvrtcGetSupportedArchs, (int* all)) \
  X(create, nvrtcCreateProgram, (::hotaru::cuda::nvrtc::Program* program, const char* text, const char* file, int headers, const char* const* header_texts, const char* const* header_names)) \
  X(destroy, nvrtcDestroyProgram, (::hotaru::cuda::nvrtc::Program* program)) \
  X(add_name, nvrtcAddNameExpression, (::hotaru::cuda::nvrtc::Program program, const char* name)) \
  X(compile, nvrtcCompileProgram, (::hotaru::cuda::nvrtc::Program program, int count, const char* const* options)) \
  X(log_size, nvrtcGetProgramLogSize, (::hotaru::cuda::nvrtc::Program program, size_t* bytes)) \
  X(log, nvrtcGetProgramLog, (::hotaru::cuda::nvrtc::Program program, char* log)) \
  X(lowered_name, nvrtcGetLoweredName, (::hotaru::cuda::nvrtc::Program program, const char* name, const char** lowered)) \
  X(cubin_size, nvrtcGetCUBINSize, (::hotaru::cuda::nvrtc::Program program, size_t* bytes)) \
  X(cubin, nvrtcGetCUBIN, (::hotaru::cuda::nvrtc::Program program, char* code)) \
  X(ptx_size, nvrtcGetPTXSize, (::hotaru::cuda::nvrtc::Program program, size_t* bytes)) \
  X(ptx, nvrtcGetPTX, (::hotaru::cuda::nvrtc::Program program, char* code))
// clang-format on

}  // namespace hotaru::cuda::nvrtc
