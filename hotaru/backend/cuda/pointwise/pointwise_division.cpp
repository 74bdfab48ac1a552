#include "hotaru/backend/cuda/pointwise/pointwise.h"

namespace hotaru::cuda {
namespace {

HOTARU_QUOTIENTS(HOTARU_CUDA_POINTWISE)
HOTARU_DIVISION(HOTARU_CUDA_POINTWISE)

}  // namespace
}  // namespace hotaru::cuda
