#include "hotaru/backend/cuda/pointwise/pointwise.h"

namespace hotaru::cuda {
namespace {

HOTARU_ARITHMETIC(HOTARU_CUDA_POINTWISE_ROWS)

}  // namespace
}  // namespace hotaru::cuda
