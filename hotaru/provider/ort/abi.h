// The few entries of ONNX Runtime's C API that are called here. The API is a
// table of function pointers that only ever grows at its end, so an entry is
// its place in the table and its signature.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hotaru::provider::ort {

struct OrtAllocator;
struct OrtCudaOptions;
struct OrtEnv;
struct OrtMemoryInfo;
struct OrtRunOptions;
struct OrtSession;
struct OrtSessionOptions;
struct OrtStatus;  // null: no error
struct OrtTensorInfo;
struct OrtTensorRtOptions;
struct OrtThreadingOptions;
struct OrtTypeInfo;
struct OrtValue;

inline constexpr int kTypeTensor = 1;  // ONNXType
inline constexpr int kDeviceAllocator = 0, kDefaultMemory = 0;
inline constexpr int kInvalidArgument = 2, kNotImplemented = 9;

// X(index, name, result, arguments). Element types are the numbers of ONNX's
// files; keys and values are texts that end with 0; what `out` gets is the
// caller's to release, where there is a Release.
#define HOTARU_ORT_ENTRIES(X) \
  X(0, CreateStatus, OrtStatus*, (int code, const char* text)) \
  X(1, GetErrorCode, int, (const OrtStatus* status)) \
  X(2, GetErrorMessage, const char*, (const OrtStatus* status)) \
  X(7, CreateSession, OrtStatus*, \
    (const OrtEnv* env, const char* path, const OrtSessionOptions* options, \
     OrtSession** out)) \
  X(8, CreateSessionFromArray, OrtStatus*, \
    (const OrtEnv* env, const void* bytes, size_t size, \
     const OrtSessionOptions* options, OrtSession** out)) \
  /* Outputs that are null on entry are made. */ \
  X(9, Run, OrtStatus*, \
    (OrtSession * session, const OrtRunOptions* options, \
     const char* const* input_names, const OrtValue* const* inputs, \
     size_t input_count, const char* const* output_names, size_t output_count, \
     OrtValue** outputs)) \
  X(10, CreateSessionOptions, OrtStatus*, (OrtSessionOptions * *out)) \
  X(17, DisableMemPattern, OrtStatus*, (OrtSessionOptions * options)) \
  X(19, DisableCpuMemArena, OrtStatus*, (OrtSessionOptions * options)) \
  X(22, SetSessionLogSeverityLevel, OrtStatus*, \
    (OrtSessionOptions * options, int level)) \
  X(23, SetSessionGraphOptimizationLevel, OrtStatus*, \
    (OrtSessionOptions * options, int level)) \
  X(30, SessionGetInputCount, OrtStatus*, \
    (const OrtSession* session, size_t* out)) \
  X(31, SessionGetOutputCount, OrtStatus*, \
    (const OrtSession* session, size_t* out)) \
  X(33, SessionGetInputTypeInfo, OrtStatus*, \
    (const OrtSession* session, size_t index, OrtTypeInfo** out)) \
  X(34, SessionGetOutputTypeInfo, OrtStatus*, \
    (const OrtSession* session, size_t index, OrtTypeInfo** out)) \
  X(36, SessionGetInputName, OrtStatus*, \
    (const OrtSession* session, size_t index, OrtAllocator* allocator, \
     char** out)) \
  X(37, SessionGetOutputName, OrtStatus*, \
    (const OrtSession* session, size_t index, OrtAllocator* allocator, \
     char** out)) \
  X(49, CreateTensorWithDataAsOrtValue, OrtStatus*, \
    (const OrtMemoryInfo* memory, void* data, size_t nbytes, \
     const int64_t* sizes, size_t rank, int element_type, OrtValue** out)) \
  X(51, GetTensorMutableData, OrtStatus*, (OrtValue * value, void** out)) \
  /* Null for what is no tensor; belongs to the type. */ \
  X(55, CastTypeInfoToTensorInfo, OrtStatus*, \
    (const OrtTypeInfo* type, const OrtTensorInfo** out)) \
  X(56, GetOnnxTypeFromTypeInfo, OrtStatus*, \
    (const OrtTypeInfo* type, int* out)) \
  X(60, GetTensorElementType, OrtStatus*, \
    (const OrtTensorInfo* info, int* out)) \
  X(61, GetDimensionsCount, OrtStatus*, \
    (const OrtTensorInfo* info, size_t* out)) \
  X(62, GetDimensions, OrtStatus*, \
    (const OrtTensorInfo* info, int64_t* sizes, size_t rank)) \
  /* The texts belong to the info. */ \
  X(63, GetSymbolicDimensions, OrtStatus*, \
    (const OrtTensorInfo* info, const char** names, size_t rank)) \
  X(65, GetTensorTypeAndShape, OrtStatus*, \
    (const OrtValue* value, OrtTensorInfo** out)) \
  X(67, GetValueType, OrtStatus*, (const OrtValue* value, int* out)) \
  X(69, CreateCpuMemoryInfo, OrtStatus*, \
    (int allocator_type, int memory_type, OrtMemoryInfo** out)) \
  X(76, AllocatorFree, OrtStatus*, (OrtAllocator * allocator, void* data)) \
  X(78, GetAllocatorWithDefaultOptions, OrtStatus*, (OrtAllocator * *out)) \
  X(92, ReleaseEnv, void, (OrtEnv*)) \
  X(93, ReleaseStatus, void, (OrtStatus*)) \
  X(95, ReleaseSession, void, (OrtSession*)) \
  X(96, ReleaseValue, void, (OrtValue*)) \
  X(98, ReleaseTypeInfo, void, (OrtTypeInfo*)) \
  X(99, ReleaseTensorTypeAndShapeInfo, void, (OrtTensorInfo*)) \
  X(100, ReleaseSessionOptions, void, (OrtSessionOptions*)) \
  X(119, CreateEnvWithGlobalThreadPools, OrtStatus*, \
    (int log_level, const char* log_name, const OrtThreadingOptions* options, \
     OrtEnv** out)) \
  X(120, DisablePerSessionThreads, OrtStatus*, (OrtSessionOptions * options)) \
  X(121, CreateThreadingOptions, OrtStatus*, (OrtThreadingOptions * *out)) \
  X(122, ReleaseThreadingOptions, void, (OrtThreadingOptions*)) \
  X(125, GetAvailableProviders, OrtStatus*, (char*** out, int* count)) \
  X(126, ReleaseAvailableProviders, OrtStatus*, (char** names, int count)) \
  X(130, AddSessionConfigEntry, OrtStatus*, \
    (OrtSessionOptions * options, const char* key, const char* value)) \
  X(147, SetGlobalIntraOpNumThreads, OrtStatus*, \
    (OrtThreadingOptions * options, int count)) \
  X(148, SetGlobalInterOpNumThreads, OrtStatus*, \
    (OrtThreadingOptions * options, int count)) \
  X(149, SetGlobalSpinControl, OrtStatus*, \
    (OrtThreadingOptions * options, int may_spin)) \
  X(170, SessionOptionsAppendExecutionProvider_TensorRT_V2, OrtStatus*, \
    (OrtSessionOptions * options, const OrtTensorRtOptions* provider)) \
  X(171, CreateTensorRTProviderOptions, OrtStatus*, \
    (OrtTensorRtOptions * *out)) \
  X(172, UpdateTensorRTProviderOptions, OrtStatus*, \
    (OrtTensorRtOptions * provider, const char* const* keys, \
     const char* const* values, size_t count)) \
  X(174, ReleaseTensorRTProviderOptions, void, (OrtTensorRtOptions*)) \
  X(204, SessionOptionsAppendExecutionProvider_CUDA_V2, OrtStatus*, \
    (OrtSessionOptions * options, const OrtCudaOptions* provider)) \
  X(205, CreateCUDAProviderOptions, OrtStatus*, (OrtCudaOptions * *out)) \
  X(206, UpdateCUDAProviderOptions, OrtStatus*, \
    (OrtCudaOptions * provider, const char* const* keys, \
     const char* const* values, size_t count)) \
  X(208, ReleaseCUDAProviderOptions, void, (OrtCudaOptions*)) \
  X(216, SessionOptionsAppendExecutionProvider, OrtStatus*, \
    (OrtSessionOptions * options, const char* name, const char* const* keys, \
     const char* const* values, size_t count))

/// From the API's version 24 on: false where nothing is said of a shape.
inline constexpr size_t kHasShape = 390;
inline constexpr int kHasShapeSince = 24;
using HasShape = bool (*)(const OrtTensorInfo* info);

/// The version that is asked for: the first with entry 216 whose releases are
/// still in use (1.16, 2023).
inline constexpr uint32_t kApiVersion = 16;

/// Result of the library's one symbol, OrtGetApiBase.
struct ApiBase {
  const void* const* (*get_api)(uint32_t version);
  const char* (*version)();
};

struct Api {
#define X(index, name, result, arguments) result(*name) arguments = nullptr;
  HOTARU_ORT_ENTRIES(X)
#undef X
  /// Null in older libraries.
  HasShape has_shape = nullptr;
};

}  // namespace hotaru::provider::ort
