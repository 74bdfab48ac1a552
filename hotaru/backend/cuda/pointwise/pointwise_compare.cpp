#include "hotaru/backend/cuda/pointwise/pointwise.h"

namespace hotaru::cuda {
namespace {

HOTARU_COMPARISONS(HOTARU_CUDA_POINTWISE)

}  // namespace
}  // namespace hotaru::cuda
