// Our declarations of NVIDIA's libraries against their own headers, where those
// lie: cmake -D HOTARU_HEADERS_OF_cublasLt.h=FOLDER, or beside cuda.h.
#include <gtest/gtest.h>

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
