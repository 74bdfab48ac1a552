// Every function of cuDNN's graph interface that hotaru calls and the numbers
// that it calls them with, declared by ourselves: no header of NVIDIA is needed
// to build. They are those of cuDNN 9; tests compare them with cudnn.h where it
// lies. All return a status, 0 where it went well.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hotaru/backend/cuda/driver_types.h"

namespace hotaru::cuda::dnn {

using Handle = struct Context*;
using Descriptor = void*;

enum DescriptorType : int {
  kConvolution = 1,
  kEngine = 2,
  kEngineConfig = 3,
  kHeuristics = 4,
  kPlan = 5,
  kForward = 10,
  kBackwardFilter = 11,
  kBackwardData = 12,
  kGraph = 15,
  kPack = 16,
  kTensor = 17,
};
/// Types of attributes' values.
enum ValueType : int {
  kHandleValue = 0,
  kDataTypeValue = 1,
  kInt64Value = 3,
  kFloatValue = 4,
  kDoubleValue = 5,
  kPointerValue = 6,
  kConvModeValue = 7,
  kHeurModeValue = 8,
  kNoteValue = 11,
  kDescriptorValue = 15,
};
enum DataType : int { kFloat = 0, kDouble = 1, kHalf = 2, kBFloat16 = 9 };
enum Attribute : int {
  kConvType = 100,
  kConvMode = 101,
  kConvDilations = 102,
  kConvStrides = 103,
  kConvPostPaddings = 104,
  kConvPrePaddings = 105,
  kConvDims = 106,
  kHeurMode = 200,
  kHeurGraph = 201,
  kHeurResults = 202,
  kConfigEngine = 300,
  kPlanHandle = 400,
  kPlanConfig = 401,
  kPlanWorkspace = 402,
  // alpha, beta, convolution, w, x, y; of backward data alpha, beta,
  // convolution, w, dx, dy; of backward filter alpha, beta, convolution, dw, x,
  // dy.
  kForwardFirst = 700,
  kBackwardDataFirst = 706,
  kBackwardFilterFirst = 712,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorAlignment = 900,
  kTensorType = 901,
  kTensorSizes = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineNotes = 1303,
};
/// Correlation is what PyTorch calls convolution.
enum ConvMode : int { kCorrelation = 1 };
enum HeurMode : int { kModeFallback = 2, kModeA = 3 };
enum Note : int { kTensorCore = 0, kDownConverts = 1, kNondeterministic = 4 };
inline constexpr int kMostNotes = 10;
inline constexpr int kSuccess = 0;

// clang-format off
#define HOTARU_CUDNN_ENTRIES(X) \
  X(create, cudnnCreate, (::hotaru::cuda::dnn::Handle* handle)) \
  X(set_stream, cudnnSetStream, (::hotaru::cuda::dnn::Handle handle, ::hotaru::cuda::CUstream stream)) \
  X(make, cudnnBackendCreateDescriptor, (int type, ::hotaru::cuda::dnn::Descriptor* descriptor)) \
  X(destroy, cudnnBackendDestroyDescriptor, (::hotaru::cuda::dnn::Descriptor descriptor)) \
  X(finalize, cudnnBackendFinalize, (::hotaru::cuda::dnn::Descriptor descriptor)) \
  X(set, cudnnBackendSetAttribute, (::hotaru::cuda::dnn::Descriptor descriptor, int attribute, int type, int64_t count, const void* values)) \
  X(get, cudnnBackendGetAttribute, (::hotaru::cuda::dnn::Descriptor descriptor, int attribute, int type, int64_t wanted, int64_t* count, void* values)) \
  X(execute, cudnnBackendExecute, (::hotaru::cuda::dnn::Handle handle, ::hotaru::cuda::dnn::Descriptor plan, ::hotaru::cuda::dnn::Descriptor pack))
// clang-format on

}  // namespace hotaru::cuda::dnn
