// Samples at places that the data choose, and the gradients. See
// params/vision.h for how they are launched; formulas are in
// common/vision/offset_sample.h.
#include "hotaru/backend/common/vision/offset_sample.h"
#include "hotaru/backend/cuda/device/atomic.h"
#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/backend/cuda/params/vision.h"

namespace hotaru::cuda {
namespace {

/// Place that a thread works on: of a group's sample, or of that for a channel.
template <class T>
struct Place {
  const DeformParams& p;
  uint32_t number, position;
  int64_t channel = 0, line;

  __device__ Place(const DeformParams& p, bool of_channel)
      : p(p), number(blockIdx.x * kBlock + threadIdx.x) {
    const uint32_t above = p.positions.divide(number);
    position = number - above * p.positions.divisor;
    line = p.first + above;
    if (!of_channel) return;
    channel = line / p.taps;
    line = channel / p.channels * p.taps + line % p.taps;
  }

  __device__ OffsetSample<T> sample() const {
    const T* offset = static_cast<const T*>(p.offsets) + at(line * 2);
    return sample_at(p.attributes, line % p.taps, position, p.row, offset,
                     p.positions.divisor, p.height, p.width);
  }
  /// In memory of lines.
  __device__ int64_t at(int64_t line) const {
    return line * p.positions.divisor + position;
  }
  __device__ T factor() const {
    return p.mask ? static_cast<const T*>(p.mask)[at(line)] : T(1);
  }
  __device__ T* plane(int64_t c) const {
    return static_cast<T*>(p.input) + c * p.height * p.width;
  }
  /// This launch's element of the columns.
  __device__ T& column() const {
    return static_cast<T*>(p.columns)[p.first * p.positions.divisor + number];
  }
};

template <class T>
__device__ void deform_columns(const DeformParams& p) {
  const Place<T> place(p, true);
  if (place.number >= p.numel) return;
  place.column() = place.sample().value(place.plane(place.channel), p.width) *
                   place.factor();
}

template <class T>
__device__ void deform_input_grad(const DeformParams& p) {
  const Place<T> place(p, true);
  if (place.number >= p.numel) return;
  const T g = place.column() * place.factor();
  T* plane = place.plane(place.channel);
  place.sample().for_corners(p.width, [&](int64_t at, T share) {
    AtomicAdd::at<T>(plane + at, share * g);
  });
}

template <class T>
__device__ void deform_place_grad(const DeformParams& p) {
  const Place<T> place(p, false);
  if (place.number >= p.numel) return;
  const OffsetSample<T> sample = place.sample();
  const int64_t tap = place.line % p.taps;
  const int64_t first = place.line / p.taps * p.channels;
  T down = 0, right = 0, value = 0;
  HOTARU_NO_UNROLL
  for (int64_t c = first; c < first + p.channels; ++c) {
    const T* plane = place.plane(c);
    const T g = static_cast<const T*>(p.columns)[place.at(c * p.taps + tap)];
    down += g * sample.by_row(plane, p.width);
    right += g * sample.by_column(plane, p.width);
    if (p.mask_grad) value += g * sample.value(plane, p.width);
  }
  const T factor = place.factor();
  T* to = static_cast<T*>(p.offsets_grad) + place.at(place.line * 2);
  to[0] = down * factor;
  to[p.positions.divisor] = right * factor;
  if (p.mask_grad) static_cast<T*>(p.mask_grad)[place.at(place.line)] = value;
}

}  // namespace

#define HOTARU_DEFORM(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(DeformColumns_##suffix, DeformParams, deform_columns<T>) \
  HOTARU_CUDA_KERNEL(DeformInputGrad_##suffix, DeformParams, \
                     deform_input_grad<T>) \
  HOTARU_CUDA_KERNEL(DeformPlaceGrad_##suffix, DeformParams, \
                     deform_place_grad<T>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_DEFORM, )

}  // namespace hotaru::cuda
