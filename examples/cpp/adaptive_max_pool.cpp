// Adaptive max pooling written with parallel_for, the way a kernel of one's own
// is: every plane of [D, H, W] is cut into OH x OW windows, of each of which
// the largest element and its place in the plane are kept. NaN is larger than
// all.
//
//   adaptive_max_pool INPUT.npy OH OW PREFIX [THREADS]
//
// writes PREFIX_values.npy and PREFIX_indices.npy, [D, OH, OW], and prints how
// many threads took part.
#include <hotaru/hotaru.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>

namespace {

/// Windows along one side of `in` elements: the o-th of `out` is [begin, end).
/// Neighbours share an element where `out` does not divide `in`.
struct Side {
  int64_t in, out;
  int64_t begin(int64_t o) const { return o * in / out; }
  int64_t end(int64_t o) const { return ((o + 1) * in + out - 1) / out; }
};

struct Place {
  float value;
  int64_t index;
};

/// The largest element of rows [y0, y1) and columns [x0, x1) of a plane.
Place largest(const float* plane, int64_t width, int64_t y0, int64_t y1,
              int64_t x0, int64_t x1) {
  Place found{-std::numeric_limits<float>::infinity(), y0 * width + x0};
  for (int64_t y = y0; y < y1; ++y)
    for (int64_t x = x0; x < x1; ++x) {
      const int64_t index = y * width + x;
      if (plane[index] > found.value || std::isnan(plane[index]))
        found = {plane[index], index};
    }
  return found;
}

void run(const std::string& path, int64_t out_height, int64_t out_width,
         const std::string& prefix) {
  const hotaru::Tensor input = hotaru::contiguous(hotaru::io::read_npy(path));
  HOTARU_CHECK(input.dim() == 3 && input.dtype() == hotaru::DType::kFloat32,
               path, ": must hold float32 [D, H, W]");
  HOTARU_CHECK(out_height > 0 && out_width > 0 && input.numel() > 0,
               "sizes must be positive");
  const int64_t planes = input.size(0);
  const Side rows{input.size(1), out_height};
  const Side columns{input.size(2), out_width};
  const hotaru::Dims size{planes, out_height, out_width};
  const hotaru::Tensor values = hotaru::zeros(size);
  const hotaru::Tensor indices = hotaru::zeros(size, hotaru::DType::kInt64);
  const float* from = input.data<float>();
  float* value = values.data<float>();
  int64_t* place = indices.data<int64_t>();

  // Planes are independent, so threads share them out: each call of the body
  // gets a range of its own. Grain 0 divides however few there are.
  std::atomic<int> chunks{0};
  hotaru::parallel_for(0, planes, 0, [&](int64_t begin, int64_t end) {
    chunks.fetch_add(1, std::memory_order_relaxed);
    for (int64_t d = begin; d < end; ++d)
      for (int64_t y = 0; y < out_height; ++y)
        for (int64_t x = 0; x < out_width; ++x) {
          const Place found = largest(from + d * rows.in * columns.in,
                                      columns.in, rows.begin(y), rows.end(y),
                                      columns.begin(x), columns.end(x));
          const int64_t at = (d * out_height + y) * out_width + x;
          value[at] = found.value;
          place[at] = found.index;
        }
  });
  hotaru::io::write_npy(prefix + "_values.npy", values);
  hotaru::io::write_npy(prefix + "_indices.npy", indices);
  std::printf("%lld planes in %d parts, %d threads\n",
              static_cast<long long>(planes), chunks.load(),
              hotaru::get_num_threads());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) {
    std::fprintf(stderr,
                 "usage: adaptive_max_pool INPUT.npy OH OW PREFIX [THREADS]\n");
    return 2;
  }
  try {
    if (argc == 6) hotaru::set_num_threads(std::stoi(argv[5]));
    run(argv[1], std::stoll(argv[2]), std::stoll(argv[3]), argv[4]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "adaptive_max_pool: %s\n", error.what());
    return 1;
  }
}
