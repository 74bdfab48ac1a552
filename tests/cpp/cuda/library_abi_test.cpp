// Our declarations of NVIDIA's libraries against their own headers, where those
// lie: cmake -D HOTARU_HEADERS_OF_cublasLt.h=FOLDER, or beside cuda.h.
#include <gtest/gtest.h>

#include <utility>

#include "abi_shapes.h"
#include "hotaru/backend/cuda/libraries/cublaslt_entries.h"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>

namespace hotaru::cuda {
namespace {

TEST(LibraryAbi, CublasLtTakesWhatItIsGiven){
#define HOTARU_COMPARE(name, symbol, params) \
  { \
    int(*ours) params = nullptr; \
    decltype(&::symbol) theirs = nullptr; \
    EXPECT_EQ(shapes(ours), shapes(theirs)) << #symbol; \
  }
    HOTARU_CUBLASLT_ENTRIES(HOTARU_COMPARE)
#undef HOTARU_COMPARE
}

#define HOTARU_SAME(ours, theirs) static_assert(int(lt::ours) == int(theirs))
HOTARU_SAME(kR32F, CUDA_R_32F);
HOTARU_SAME(kR64F, CUDA_R_64F);
HOTARU_SAME(kR16F, CUDA_R_16F);
HOTARU_SAME(kR16BF, CUDA_R_16BF);
HOTARU_SAME(kC32F, CUDA_C_32F);
HOTARU_SAME(kC64F, CUDA_C_64F);
HOTARU_SAME(kCompute32F, CUBLAS_COMPUTE_32F);
HOTARU_SAME(kCompute64F, CUBLAS_COMPUTE_64F);
HOTARU_SAME(kComputeTf32, CUBLAS_COMPUTE_32F_FAST_TF32);
HOTARU_SAME(kPlain, CUBLAS_OP_N);
HOTARU_SAME(kTransposed, CUBLAS_OP_T);
HOTARU_SAME(kTransA, CUBLASLT_MATMUL_DESC_TRANSA);
HOTARU_SAME(kTransB, CUBLASLT_MATMUL_DESC_TRANSB);
HOTARU_SAME(kEpilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
HOTARU_SAME(kBiasPointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
HOTARU_SAME(kBatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
HOTARU_SAME(kBatchStride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
HOTARU_SAME(kMaxWorkspace, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
HOTARU_SAME(kAlignmentA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
HOTARU_SAME(kAlignmentB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
HOTARU_SAME(kAlignmentC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
HOTARU_SAME(kAlignmentD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
HOTARU_SAME(kNothing, CUBLASLT_EPILOGUE_DEFAULT);
HOTARU_SAME(kRelu, CUBLASLT_EPILOGUE_RELU);
HOTARU_SAME(kBias, CUBLASLT_EPILOGUE_BIAS);
HOTARU_SAME(kGelu, CUBLASLT_EPILOGUE_GELU);
#undef HOTARU_SAME
static_assert(int(lt::kRelu | lt::kBias) == int(CUBLASLT_EPILOGUE_RELU_BIAS));
static_assert(sizeof(lt::Algorithm) == sizeof(cublasLtMatmulAlgo_t) &&
              sizeof(lt::Choice) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(lt::Choice, workspace) ==
                  offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize) &&
              offsetof(lt::Choice, status) ==
                  offsetof(cublasLtMatmulHeuristicResult_t, state));

}  // namespace
}  // namespace hotaru::cuda
#else
TEST(LibraryAbi, CublasLtTakesWhatItIsGiven) {
  GTEST_SKIP() << "built without cublasLt.h";
}
#endif

#if __has_include(<cudnn.h>)
#include <cudnn.h>

#include "hotaru/backend/cuda/libraries/cudnn_rnn_entries.h"

namespace hotaru::cuda {
namespace {

TEST(LibraryAbi, CudnnTakesWhatItIsGiven){
#define HOTARU_COMPARE(name, symbol, params) \
  { \
    int(*ours) params = nullptr; \
    decltype(&::symbol) theirs = nullptr; \
    EXPECT_EQ(shapes(ours), shapes(theirs)) << #symbol; \
  }
    HOTARU_CUDNN_ENTRIES(HOTARU_COMPARE)
        HOTARU_CUDNN_RNN_ENTRIES(HOTARU_COMPARE)
#undef HOTARU_COMPARE
}

#define HOTARU_SAME(ours, theirs) static_assert(int(dnn::ours) == int(theirs))
HOTARU_SAME(kConvolution, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
HOTARU_SAME(kEngine, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
HOTARU_SAME(kEngineConfig, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
HOTARU_SAME(kHeuristics, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
HOTARU_SAME(kPlan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
HOTARU_SAME(kForward, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
HOTARU_SAME(kBackwardFilter,
            CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
HOTARU_SAME(kBackwardData,
            CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
HOTARU_SAME(kGraph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
HOTARU_SAME(kPack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
HOTARU_SAME(kTensor, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
HOTARU_SAME(kHandleValue, CUDNN_TYPE_HANDLE);
HOTARU_SAME(kDataTypeValue, CUDNN_TYPE_DATA_TYPE);
HOTARU_SAME(kInt64Value, CUDNN_TYPE_INT64);
HOTARU_SAME(kFloatValue, CUDNN_TYPE_FLOAT);
HOTARU_SAME(kDoubleValue, CUDNN_TYPE_DOUBLE);
HOTARU_SAME(kPointerValue, CUDNN_TYPE_VOID_PTR);
HOTARU_SAME(kConvModeValue, CUDNN_TYPE_CONVOLUTION_MODE);
HOTARU_SAME(kHeurModeValue, CUDNN_TYPE_HEUR_MODE);
HOTARU_SAME(kNoteValue, CUDNN_TYPE_NUMERICAL_NOTE);
HOTARU_SAME(kDescriptorValue, CUDNN_TYPE_BACKEND_DESCRIPTOR);
HOTARU_SAME(kFloat, CUDNN_DATA_FLOAT);
HOTARU_SAME(kDouble, CUDNN_DATA_DOUBLE);
HOTARU_SAME(kHalf, CUDNN_DATA_HALF);
HOTARU_SAME(kBFloat16, CUDNN_DATA_BFLOAT16);
HOTARU_SAME(kConvType, CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
HOTARU_SAME(kConvMode, CUDNN_ATTR_CONVOLUTION_CONV_MODE);
HOTARU_SAME(kConvDilations, CUDNN_ATTR_CONVOLUTION_DILATIONS);
HOTARU_SAME(kConvStrides, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
HOTARU_SAME(kConvPostPaddings, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
HOTARU_SAME(kConvPrePaddings, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
HOTARU_SAME(kConvDims, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
HOTARU_SAME(kHeurMode, CUDNN_ATTR_ENGINEHEUR_MODE);
HOTARU_SAME(kHeurGraph, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
HOTARU_SAME(kHeurResults, CUDNN_ATTR_ENGINEHEUR_RESULTS);
HOTARU_SAME(kConfigEngine, CUDNN_ATTR_ENGINECFG_ENGINE);
HOTARU_SAME(kPlanHandle, CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
HOTARU_SAME(kPlanConfig, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
HOTARU_SAME(kPlanWorkspace, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
HOTARU_SAME(kGraphHandle, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
HOTARU_SAME(kGraphOperations, CUDNN_ATTR_OPERATIONGRAPH_OPS);
HOTARU_SAME(kTensorAlignment, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
HOTARU_SAME(kTensorType, CUDNN_ATTR_TENSOR_DATA_TYPE);
HOTARU_SAME(kTensorSizes, CUDNN_ATTR_TENSOR_DIMENSIONS);
HOTARU_SAME(kTensorStrides, CUDNN_ATTR_TENSOR_STRIDES);
HOTARU_SAME(kTensorId, CUDNN_ATTR_TENSOR_UNIQUE_ID);
HOTARU_SAME(kPackIds, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
HOTARU_SAME(kPackPointers, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
HOTARU_SAME(kPackWorkspace, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
HOTARU_SAME(kEngineNotes, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
HOTARU_SAME(kCorrelation, CUDNN_CROSS_CORRELATION);
HOTARU_SAME(kModeFallback, CUDNN_HEUR_MODE_FALLBACK);
HOTARU_SAME(kModeA, CUDNN_HEUR_MODE_A);
HOTARU_SAME(kTensorCore, CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
HOTARU_SAME(kDownConverts, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
HOTARU_SAME(kNondeterministic, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
HOTARU_SAME(kMostNotes, CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
HOTARU_SAME(kStandard, CUDNN_RNN_ALGO_STANDARD);
HOTARU_SAME(kReluCell, CUDNN_RNN_RELU);
HOTARU_SAME(kTanhCell, CUDNN_RNN_TANH);
HOTARU_SAME(kLstmCell, CUDNN_LSTM);
HOTARU_SAME(kGruCell, CUDNN_GRU);
HOTARU_SAME(kNoBias, CUDNN_RNN_NO_BIAS);
HOTARU_SAME(kDoubleBias, CUDNN_RNN_DOUBLE_BIAS);
HOTARU_SAME(kOneWay, CUDNN_UNIDIRECTIONAL);
HOTARU_SAME(kBothWays, CUDNN_BIDIRECTIONAL);
HOTARU_SAME(kLinearInput, CUDNN_LINEAR_INPUT);
HOTARU_SAME(kStepsUnpacked, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED);
HOTARU_SAME(kStepsPacked, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED);
HOTARU_SAME(kInference, CUDNN_FWD_MODE_INFERENCE);
HOTARU_SAME(kTraining, CUDNN_FWD_MODE_TRAINING);
HOTARU_SAME(kAdd, CUDNN_WGRAD_MODE_ADD);
HOTARU_SAME(kDefaultMath, CUDNN_DEFAULT_MATH);
HOTARU_SAME(kTensorMath, CUDNN_TENSOR_OP_MATH);
HOTARU_SAME(kFmaMath, CUDNN_FMA_MATH);
HOTARU_SAME(kPaddedIo, CUDNN_RNN_PADDED_IO_ENABLED);
HOTARU_SAME(kSuccess, CUDNN_STATUS_SUCCESS);
#undef HOTARU_SAME

/// Operands of an operation in the order of our constants.
#define HOTARU_OPERANDS(first, PREFIX, W, X, Y) \
  static_assert(int(dnn::first) == int(PREFIX##ALPHA) && \
                int(dnn::first) + 1 == int(PREFIX##BETA) && \
                int(dnn::first) + 2 == int(PREFIX##CONV_DESC) && \
                int(dnn::first) + 3 == int(PREFIX##W) && \
                int(dnn::first) + 4 == int(PREFIX##X) && \
                int(dnn::first) + 5 == int(PREFIX##Y))
HOTARU_OPERANDS(kForwardFirst, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_, W, X,
                Y);
HOTARU_OPERANDS(kBackwardDataFirst, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_,
                W, DX, DY);
HOTARU_OPERANDS(kBackwardFilterFirst,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_, DW, X, DY);
#undef HOTARU_OPERANDS

}  // namespace
}  // namespace hotaru::cuda
#else
TEST(LibraryAbi, CudnnTakesWhatItIsGiven) {
  GTEST_SKIP() << "built without cudnn.h";
}
#endif

#if __has_include(<cusolverDn.h>)
#include <cusolverDn.h>

#include "hotaru/backend/cuda/libraries/cusolver_entries.h"

namespace hotaru::cuda {
namespace {

TEST(LibraryAbi, CusolverTakesWhatItIsGiven){
#define HOTARU_COMPARE(name, symbol, params) \
  { \
    int(*ours) params = nullptr; \
    decltype(&::symbol) theirs = nullptr; \
    EXPECT_EQ(shapes(ours), shapes(theirs)) << #symbol; \
  }
    HOTARU_CUSOLVER_ENTRIES(HOTARU_COMPARE)
        HOTARU_CUSOLVER_LATER_ENTRIES(HOTARU_COMPARE)
#undef HOTARU_COMPARE
}

#define HOTARU_SAME(ours, theirs) \
  static_assert(int(solver::ours) == int(theirs))
HOTARU_SAME(kR32F, CUDA_R_32F);
HOTARU_SAME(kR64F, CUDA_R_64F);
HOTARU_SAME(kC32F, CUDA_C_32F);
HOTARU_SAME(kC64F, CUDA_C_64F);
HOTARU_SAME(kUpper, CUBLAS_FILL_MODE_UPPER);
HOTARU_SAME(kNoVectors, CUSOLVER_EIG_MODE_NOVECTOR);
HOTARU_SAME(kVectors, CUSOLVER_EIG_MODE_VECTOR);
HOTARU_SAME(kSuccess, CUSOLVER_STATUS_SUCCESS);
#undef HOTARU_SAME

}  // namespace
}  // namespace hotaru::cuda
#else
TEST(LibraryAbi, CusolverTakesWhatItIsGiven) {
  GTEST_SKIP() << "built without cusolverDn.h";
}
#endif

#if __has_include(<cufftXt.h>)
#include <cufftXt.h>

#include "hotaru/backend/cuda/libraries/cufft_entries.h"

namespace hotaru::cuda {
namespace {

TEST(LibraryAbi, CufftTakesWhatItIsGiven){
#define HOTARU_COMPARE(name, symbol, params) \
  { \
    int(*ours) params = nullptr; \
    decltype(&::symbol) theirs = nullptr; \
    EXPECT_EQ(shapes(ours), shapes(theirs)) << #symbol; \
  }
    HOTARU_CUFFT_ENTRIES(HOTARU_COMPARE)
#undef HOTARU_COMPARE
}

#define HOTARU_SAME(ours, theirs) static_assert(int(cufft::ours) == int(theirs))
HOTARU_SAME(kR32F, CUDA_R_32F);
HOTARU_SAME(kR64F, CUDA_R_64F);
HOTARU_SAME(kC32F, CUDA_C_32F);
HOTARU_SAME(kC64F, CUDA_C_64F);
HOTARU_SAME(kForward, CUFFT_FORWARD);
HOTARU_SAME(kBack, CUFFT_INVERSE);
HOTARU_SAME(kSuccess, CUFFT_SUCCESS);
#undef HOTARU_SAME

}  // namespace
}  // namespace hotaru::cuda
#else
TEST(LibraryAbi, CufftTakesWhatItIsGiven) {
  GTEST_SKIP() << "built without cufftXt.h";
}
#endif

#if __has_include(<nccl.h>)
#include <nccl.h>

#include "hotaru/backend/cuda/libraries/nccl_entries.h"

namespace hotaru::cuda {
namespace {

TEST(LibraryAbi, NcclTakesWhatItIsGiven){
#define HOTARU_COMPARE(name, symbol, params) \
  { \
    int(*ours) params = nullptr; \
    decltype(&::symbol) theirs = nullptr; \
    EXPECT_EQ(shapes(ours), shapes(theirs)) << #symbol; \
  }
    HOTARU_NCCL_ENTRIES(HOTARU_COMPARE)
#undef HOTARU_COMPARE
}

#define HOTARU_SAME(ours, theirs) static_assert(int(nccl::ours) == int(theirs))
HOTARU_SAME(kInt8, ncclInt8);
HOTARU_SAME(kUInt8, ncclUint8);
HOTARU_SAME(kInt32, ncclInt32);
HOTARU_SAME(kUInt32, ncclUint32);
HOTARU_SAME(kInt64, ncclInt64);
HOTARU_SAME(kUInt64, ncclUint64);
HOTARU_SAME(kFloat16, ncclFloat16);
HOTARU_SAME(kFloat32, ncclFloat32);
HOTARU_SAME(kFloat64, ncclFloat64);
HOTARU_SAME(kBFloat16, ncclBfloat16);
HOTARU_SAME(kSum, ncclSum);
HOTARU_SAME(kProd, ncclProd);
HOTARU_SAME(kMax, ncclMax);
HOTARU_SAME(kMin, ncclMin);
HOTARU_SAME(kAvg, ncclAvg);
HOTARU_SAME(kSuccess, ncclSuccess);
HOTARU_SAME(kHostImmediate, ncclScalarHostImmediate);
#undef HOTARU_SAME
static_assert(sizeof(nccl::UniqueId) == sizeof(ncclUniqueId));

}  // namespace
}  // namespace hotaru::cuda
#else
TEST(LibraryAbi, NcclTakesWhatItIsGiven) {
  GTEST_SKIP() << "built without nccl.h";
}
#endif

#if __has_include(<cupti.h>)
#include <cupti.h>

#include "hotaru/backend/cuda/cupti/cupti_entries.h"

namespace hotaru::cuda {
namespace {

TEST(LibraryAbi, CuptiTakesWhatItIsGiven){
#define HOTARU_COMPARE(name, symbol, params) \
  { \
    int(*ours) params = nullptr; \
    decltype(&::symbol) theirs = nullptr; \
    EXPECT_EQ(shapes(ours), shapes(theirs)) << #symbol; \
  }
    HOTARU_CUPTI_ENTRIES(HOTARU_COMPARE)
#undef HOTARU_COMPARE
}

TEST(LibraryAbi, CuptiCallsWhatItIsGiven) {
  EXPECT_EQ(shapes(cupti::RequestBuffer()),
            shapes(CUpti_BuffersCallbackRequestFunc()));
  EXPECT_EQ(shapes(cupti::CompleteBuffer()),
            shapes(CUpti_BuffersCallbackCompleteFunc()));
  EXPECT_EQ(shapes(cupti::Timestamp()), shapes(CUpti_TimestampCallbackFunc()));
}

#define HOTARU_SAME(ours, theirs) static_assert(int(cupti::ours) == int(theirs))
HOTARU_SAME(kSuccess, CUPTI_SUCCESS);
HOTARU_SAME(kInvalidParameter, CUPTI_ERROR_INVALID_PARAMETER);
HOTARU_SAME(kInvalidOperation, CUPTI_ERROR_INVALID_OPERATION);
HOTARU_SAME(kNoMore, CUPTI_ERROR_MAX_LIMIT_REACHED);
HOTARU_SAME(kNotCompatible, CUPTI_ERROR_NOT_COMPATIBLE);
HOTARU_SAME(kQueueEmpty, CUPTI_ERROR_QUEUE_EMPTY);
HOTARU_SAME(kInvalidKind, CUPTI_ERROR_INVALID_KIND);
HOTARU_SAME(kCopy, CUPTI_ACTIVITY_KIND_MEMCPY);
HOTARU_SAME(kFill, CUPTI_ACTIVITY_KIND_MEMSET);
HOTARU_SAME(kDriver, CUPTI_ACTIVITY_KIND_DRIVER);
HOTARU_SAME(kRuntime, CUPTI_ACTIVITY_KIND_RUNTIME);
HOTARU_SAME(kKernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
HOTARU_SAME(kPeerCopy, CUPTI_ACTIVITY_KIND_MEMCPY2);
HOTARU_SAME(kExternal, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
HOTARU_SAME(kOurs, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0);
HOTARU_SAME(kForced, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
HOTARU_SAME(kAlignment, ACTIVITY_RECORD_ALIGNMENT);
#undef HOTARU_SAME
// Version of the header: one whose records are known.
static_assert((CUPTI_API_VERSION >= cupti::kFirst &&
               CUPTI_API_VERSION <= cupti::kLast12) ||
              (CUPTI_API_VERSION >= cupti::kFirst13 &&
               CUPTI_API_VERSION <= cupti::kLast13));

// The records that a library of the header's version writes.
#if CUPTI_API_VERSION >= 130500
using TheirKernel = CUpti_ActivityKernel13;
using TheirCopy = CUpti_ActivityMemcpy7;
using TheirFill = CUpti_ActivityMemset5;
#elif CUPTI_API_VERSION >= 130000
// Between them the newest may be another; fields are where they were.
using TheirKernel = CUpti_ActivityKernel10;
using TheirCopy = CUpti_ActivityMemcpy6;
using TheirFill = CUpti_ActivityMemset4;
#else
using TheirKernel = CUpti_ActivityKernel9;
using TheirCopy = CUpti_ActivityMemcpy5;
using TheirFill = CUpti_ActivityMemset4;
#endif

#define HOTARU_FIELD(Ours, ours, Theirs, theirs) \
  static_assert(offsetof(cupti::Ours, ours) == offsetof(Theirs, theirs) && \
                    sizeof(std::declval<cupti::Ours>().ours) == \
                        sizeof(std::declval<Theirs>().theirs), \
                #Theirs "::" #theirs)
#define HOTARU_FIELDS(Ours, Theirs) \
  HOTARU_FIELD(Ours, kind, Theirs, kind); \
  HOTARU_FIELD(Ours, start, Theirs, start); \
  HOTARU_FIELD(Ours, end, Theirs, end); \
  HOTARU_FIELD(Ours, device, Theirs, deviceId); \
  HOTARU_FIELD(Ours, stream, Theirs, streamId); \
  HOTARU_FIELD(Ours, correlation, Theirs, correlationId); \
  HOTARU_FIELD(Ours, graph_node, Theirs, graphNodeId); \
  HOTARU_FIELD(Ours, graph, Theirs, graphId)
#define HOTARU_COPY_FIELDS(Ours, Theirs) \
  HOTARU_FIELDS(Ours, Theirs); \
  HOTARU_FIELD(Ours, way, Theirs, copyKind); \
  HOTARU_FIELD(Ours, from, Theirs, srcKind); \
  HOTARU_FIELD(Ours, to, Theirs, dstKind); \
  HOTARU_FIELD(Ours, bytes, Theirs, bytes)

HOTARU_FIELDS(KernelRecord, TheirKernel);
HOTARU_FIELD(KernelRecord, registers, TheirKernel, registersPerThread);
HOTARU_FIELD(KernelRecord, grid[0], TheirKernel, gridX);
HOTARU_FIELD(KernelRecord, grid[2], TheirKernel, gridZ);
HOTARU_FIELD(KernelRecord, block[0], TheirKernel, blockX);
HOTARU_FIELD(KernelRecord, block[2], TheirKernel, blockZ);
HOTARU_FIELD(KernelRecord, static_shared, TheirKernel, staticSharedMemory);
HOTARU_FIELD(KernelRecord, dynamic_shared, TheirKernel, dynamicSharedMemory);
HOTARU_FIELD(KernelRecord, name, TheirKernel, name);
HOTARU_COPY_FIELDS(CopyRecord, TheirCopy);
HOTARU_COPY_FIELDS(PeerCopyRecord, CUpti_ActivityMemcpyPtoP4);
HOTARU_FIELDS(FillRecord, TheirFill);
HOTARU_FIELD(FillRecord, bytes, TheirFill, bytes);
HOTARU_FIELD(FillRecord, memory, TheirFill, memoryKind);
HOTARU_FIELD(ExternalRecord, kind, CUpti_ActivityExternalCorrelation, kind);
HOTARU_FIELD(ExternalRecord, counter, CUpti_ActivityExternalCorrelation,
             externalKind);
HOTARU_FIELD(ExternalRecord, number, CUpti_ActivityExternalCorrelation,
             externalId);
HOTARU_FIELD(ExternalRecord, correlation, CUpti_ActivityExternalCorrelation,
             correlationId);
static_assert(sizeof(cupti::KernelRecord) <= sizeof(TheirKernel) &&
              sizeof(cupti::CopyRecord) <= sizeof(TheirCopy) &&
              sizeof(cupti::FillRecord) <= sizeof(TheirFill));
#undef HOTARU_COPY_FIELDS
#undef HOTARU_FIELDS
#undef HOTARU_FIELD

}  // namespace
}  // namespace hotaru::cuda
#else
TEST(LibraryAbi, CuptiTakesWhatItIsGiven) {
  GTEST_SKIP() << "built without cupti.h";
}
#endif

#if __has_include(<nvrtc.h>)
#include <nvrtc.h>

#include "hotaru/backend/cuda/libraries/nvrtc_entries.h"

namespace hotaru::cuda {
namespace {

TEST(LibraryAbi, NvrtcTakesWhatItIsGiven){
#define HOTARU_COMPARE(name, symbol, params) \
  { \
    int(*ours) params = nullptr; \
    decltype(&::symbol) theirs = nullptr; \
    EXPECT_EQ(shapes(ours), shapes(theirs)) << #symbol; \
  }
    HOTARU_NVRTC_ENTRIES(HOTARU_COMPARE)
#undef HOTARU_COMPARE
}

#define HOTARU_SAME(ours, theirs) static_assert(int(nvrtc::ours) == int(theirs))
HOTARU_SAME(kSuccess, NVRTC_SUCCESS);
HOTARU_SAME(kInvalidInput, NVRTC_ERROR_INVALID_INPUT);
HOTARU_SAME(kInvalidProgram, NVRTC_ERROR_INVALID_PROGRAM);
HOTARU_SAME(kInvalidOption, NVRTC_ERROR_INVALID_OPTION);
HOTARU_SAME(kCompilation, NVRTC_ERROR_COMPILATION);
HOTARU_SAME(kBuiltinFailure, NVRTC_ERROR_BUILTIN_OPERATION_FAILURE);
HOTARU_SAME(kNotBeforeCompilation,
            NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
HOTARU_SAME(kInvalidName, NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
#undef HOTARU_SAME

}  // namespace
}  // namespace hotaru::cuda
#else
TEST(LibraryAbi, NvrtcTakesWhatItIsGiven) {
  GTEST_SKIP() << "built without nvrtc.h";
}
#endif
