// Writing at indices where what is there counts, too. See params/index/gather.h
// for how they are launched.
#include "hotaru/backend/cuda/device/atomic.h"
#include "hotaru/backend/cuda/device/index/indexed.h"
#include "hotaru/backend/cuda/params/create.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

template <class T, class Operation>
__device__ void scatter(const IndexedParams& p) {
  for_indexed(p, [](const char* part, char* whole) {
    if (whole) Operation::template at<T>(whole, load<T>(part));
  });
}

/// Adds kParts numbers of type T, each by itself: a complex one has two.
template <class T, uint32_t kParts>
__device__ void add_parts(char* to, const char* from) {
  HOTARU_UNROLL
  for (uint32_t i = 0; i < kParts; ++i)
    AtomicAdd::at<T>(to + i * sizeof(T), load<T>(from + i * sizeof(T)));
}

template <class R>
__device__ void scatter_add_complex(const IndexedParams& p) {
  for_indexed(p, [](const char* part, char* whole) {
    if (whole) add_parts<R, 2>(whole, part);
  });
}

/// Elements of the output may share memory.
template <class T, uint32_t kParts>
__device__ void add_strided(const StridedCopyParams& p) {
  const uint32_t first = blockIdx.x * kStridedItems + threadIdx.x;
  for_elements<kStridedEach>(
      p.index, first, p.copy.numel, [&](uint32_t, const int64_t* at) {
        add_parts<T, kParts>(static_cast<char*>(p.copy.out) + at[0],
                             static_cast<const char*>(p.copy.in) + at[1]);
      });
}

}  // namespace

#define HOTARU_SCATTER(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(ScatterAdd_##suffix, IndexedParams, \
                     scatter<T, AtomicAdd>) \
  HOTARU_CUDA_KERNEL(ScatterMultiply_##suffix, IndexedParams, \
                     scatter<T, Atomic<Times>>) \
  HOTARU_CUDA_KERNEL(ScatterMax_##suffix, IndexedParams, \
                     scatter<T, Atomic<Larger>>) \
  HOTARU_CUDA_KERNEL(ScatterMin_##suffix, IndexedParams, \
                     scatter<T, Atomic<Smaller>>)
HOTARU_DEVICE_TYPES_RealAndBoolTypes(HOTARU_SCATTER, )
    HOTARU_CUDA_KERNEL(ScatterAdd_c64, IndexedParams,
                       scatter_add_complex<float>)
        HOTARU_CUDA_KERNEL(ScatterAdd_c128, IndexedParams,
                           scatter_add_complex<double>)
#define HOTARU_SCATTER_COMPLEX(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(ScatterMultiply_##suffix, IndexedParams, \
                     scatter<T, Atomic<Times>>)
            HOTARU_DEVICE_TYPES_ComplexTypes(HOTARU_SCATTER_COMPLEX, )

#define HOTARU_ADD_STRIDED(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(AddStrided_##suffix, StridedCopyParams, add_strided<T, 1>)
                HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_ADD_STRIDED, )
                    HOTARU_CUDA_KERNEL(AddStrided_c64, StridedCopyParams,
                                       add_strided<float, 2>)
                        HOTARU_CUDA_KERNEL(AddStrided_c128, StridedCopyParams,
                                           add_strided<double, 2>)

}  // namespace hotaru::cuda
