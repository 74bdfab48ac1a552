#include "hotaru/backend/cuda/pointwise/pointwise.h"

namespace hotaru::cuda {
namespace {

HOTARU_ACTIVATIONS(HOTARU_CUDA_POINTWISE)

}  // namespace
}  // namespace hotaru::cuda
