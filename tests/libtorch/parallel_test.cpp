// at::parallel_for as kernels of programs use it: adaptive max pooling, plane
// by plane, with the loop that ATen's own had (PyTorch 1.3).
#include "ATen/Parallel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "torch/torch.h"

namespace {

int64_t start_index(int64_t out, int64_t n_out, int64_t n_in) {
  return int64_t(std::floor(double(out * n_in) / double(n_out)));
}
int64_t end_index(int64_t out, int64_t n_out, int64_t n_in) {
  return int64_t(std::ceil(double((out + 1) * n_in) / double(n_out)));
}

template <class scalar_t>
void pool_planes(const scalar_t* input, scalar_t* output, int64_t* indices,
                 at::IntArrayRef in, at::IntArrayRef out,
                 at::IntArrayRef stride) {
  at::parallel_for(0, in[0], 0, [&](int64_t start, int64_t end) {
    for (int64_t d = start; d < end; ++d) {
      for (int64_t oh = 0; oh < out[0]; ++oh) {
        for (int64_t ow = 0; ow < out[1]; ++ow) {
          scalar_t largest = -std::numeric_limits<float>::max();
          int64_t at = -1;
          for (int64_t h = start_index(oh, out[0], in[1]);
               h < end_index(oh, out[0], in[1]); ++h) {
            for (int64_t w = start_index(ow, out[1], in[2]);
                 w < end_index(ow, out[1], in[2]); ++w) {
              const scalar_t value =
                  input[d * stride[0] + h * stride[1] + w * stride[2]];
              if (value > largest || std::isnan(value)) {
                largest = value;
                at = h * in[2] + w;
              }
            }
          }
          const int64_t to = (d * out[0] + oh) * out[1] + ow;
          output[to] = largest;
          indices[to] = at;
        }
      }
    }
  });
}

TEST(Parallel, AdaptiveMaxPoolingByPlanes) {
  const int before = at::get_num_threads();
  const at::Tensor x = torch::randn({13, 9, 17}).transpose(1, 2);
  const auto [wanted, places] = torch::adaptive_max_pool2d(x, {4, 3});
  for (const int threads : {1, 2, 4}) {
    at::set_num_threads(threads);
    at::Tensor y = torch::empty({13, 4, 3});
    at::Tensor i = torch::empty({13, 4, 3}, torch::kLong);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "pool_planes", [&] {
      pool_planes(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(),
                  i.data_ptr<int64_t>(), x.sizes(), {4, 3}, x.strides());
    });
    EXPECT_TRUE(torch::equal(y, wanted));
    EXPECT_TRUE(torch::equal(i, places));
  }
  at::set_num_threads(before);
}

}  // namespace
