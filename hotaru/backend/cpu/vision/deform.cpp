// Samples at places that the data choose (arXiv:1703.06211, 1811.11168).
#include "hotaru/backend/common/vision/deform.h"

#include <algorithm>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/vision/offset_sample.h"
#include "hotaru/backend/cpu/grain.h"

namespace hotaru::cpu {
namespace {

/// Everything of one image; a sample is (group, tap, position).
template <class T>
struct Samples {
  Samples(const KernelCall& call, const Tensor& image, const Tensor& offsets)
      : channels(image.size(0)),
        height(image.size(1)),
        width(image.size(2)),
        rows(offsets.size(-2)),
        columns(offsets.size(-1)) {
    const auto& a = call.attributes<DeformAttributes>();
    groups = a.groups;
    taps = a.kernel[0] * a.kernel[1];
    all.resize(size_t(groups * each()));
    const T* offset = offsets.data<T>();
    parallel_for(0, groups * taps, row_grain(positions()),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t t = begin; t < end; ++t)
                     place(a, t % taps, offset + t * 2 * positions(),
                           all.data() + t * positions());
                 });
  }

  int64_t positions() const { return rows * columns; }
  int64_t plane() const { return height * width; }
  /// Samples of a channel.
  int64_t each() const { return taps * positions(); }
  /// Index of the first sample of a channel's group.
  int64_t first(int64_t channel) const {
    return channel / (channels / groups) * each();
  }

  int64_t channels, height, width, rows, columns, groups, taps;
  std::vector<OffsetSample<T>> all;

 private:
  void place(const DeformAttributes& a, int64_t tap, const T* offset,
             OffsetSample<T>* out) const {
    for (int64_t i = 0; i < positions(); ++i)
      out[i] =
          sample_at(a, tap, i, columns, offset + i, positions(), height, width);
  }
};

constexpr KernelTypes<FloatTypes> kTypes{0, "deformable_im2col"};

void deform_columns(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  const Tensor& mask = call.tensor(3);
  kTypes.visit(call, [&]<class T>() {
    if (out.numel() == 0) return;
    const Samples<T> s(call, in, call.tensor(2));
    parallel_for(0, s.channels, row_grain(s.each() * 8),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t c = begin; c < end; ++c) {
                     const T* plane = in.data<T>() + c * s.plane();
                     T* to = out.data<T>() + c * s.each();
                     const OffsetSample<T>* from = s.all.data() + s.first(c);
                     const T* factor =
                         mask.defined() ? mask.data<T>() + s.first(c) : nullptr;
                     for (int64_t i = 0; i < s.each(); ++i)
                       to[i] = from[i].value(plane, s.width) *
                               (factor ? factor[i] : 1);
                   }
                 });
  });
}

/// By channels, each of which one thread adds up.
template <class T>
void input_gradient(const Samples<T>& s, const T* grad, const T* mask, T* out) {
  std::fill_n(out, s.channels * s.plane(), T(0));
  parallel_for(0, s.channels, row_grain(s.each() * 8),
               [&](int64_t begin, int64_t end) {
                 for (int64_t c = begin; c < end; ++c) {
                   const OffsetSample<T>* from = s.all.data() + s.first(c);
                   const T* g = grad + c * s.each();
                   const T* factor = mask ? mask + s.first(c) : nullptr;
                   T* plane = out + c * s.plane();
                   for (int64_t i = 0; i < s.each(); ++i) {
                     const T by_value = g[i] * (factor ? factor[i] : 1);
                     from[i].for_corners(s.width, [&](int64_t at, T share) {
                       plane[at] += share * by_value;
                     });
                   }
                 }
               });
}

/// By samples, each the sum over its group's channels.
template <class T>
void place_gradients(const Samples<T>& s, const T* grad, const T* image,
                     const T* mask, T* offsets, T* masks) {
  const int64_t channels = s.channels / s.groups;
  const auto one = [&](int64_t i) {
    const int64_t group = i / s.each(), in = i % s.each();
    T down = 0, right = 0, value = 0;
    for (int64_t c = group * channels; c < (group + 1) * channels; ++c) {
      const T* plane = image + c * s.plane();
      const T g = grad[c * s.each() + in];
      down += g * s.all[size_t(i)].by_row(plane, s.width);
      right += g * s.all[size_t(i)].by_column(plane, s.width);
      if (masks) value += g * s.all[size_t(i)].value(plane, s.width);
    }
    const T factor = mask ? mask[i] : 1;
    const int64_t n = s.positions();
    T* to = offsets + i / n * 2 * n + i % n;
    to[0] = down * factor;
    to[n] = right * factor;
    if (masks) masks[i] = value;
  };
  parallel_for(0, s.groups * s.each(), row_grain(channels * 16),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) one(i);
               });
}

void deform_columns_backward(const KernelCall& call) {
  const Tensor &grad = call.tensor(3), &in = call.tensor(4);
  const Tensor& mask = call.tensor(6);
  kTypes.visit(call, [&]<class T>() {
    const Samples<T> s(call, in, call.tensor(5));
    const T* factor = mask.defined() ? mask.data<T>() : nullptr;
    input_gradient(s, grad.data<T>(), factor, call.tensor(0).data<T>());
    place_gradients(s, grad.data<T>(), in.data<T>(), factor,
                    call.tensor(1).data<T>(),
                    factor ? call.tensor(2).data<T>() : nullptr);
  });
}

HOTARU_KERNEL(kCPU, "deform_columns", deform_columns, check_types<kTypes>);
HOTARU_KERNEL(kCPU, "deform_columns_backward", deform_columns_backward,
              check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cpu
