#include "hotaru/backend/cuda/pointwise/pointwise.h"

namespace hotaru::cuda {
namespace {

HOTARU_MATH(HOTARU_CUDA_POINTWISE)

}  // namespace
}  // namespace hotaru::cuda
