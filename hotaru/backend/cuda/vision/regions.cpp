#include "hotaru/backend/cuda/vision/regions.h"

#include <algorithm>
#include <bit>

#include "hotaru/backend/common/vision/taps.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/kernel_errors.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

/// The CPU's texts.
[[noreturn]] void raise(const FailureText& text, int64_t code,
                        const int64_t* numbers) {
  const auto number = [&](int i) { return std::bit_cast<double>(numbers[i]); };
  if (RegionError(code) == RegionError::kSamples)
    fail("roi_align: a region of ", number(0), " cells is sampled ", number(1),
         " times a bin, more than ", kMostSamples, ": give sampling_ratio");
  fail(text.op, ": region ", numbers[0], " is of image ", number(1),
       ", but there are ", numbers[2]);
}

}  // namespace

RegionParams region_params(const KernelCall& call, const Tensor& grid,
                           const Tensor& picture, const Tensor& rois) {
  RegionParams p;
  p.grid = device_address(grid);
  p.rois = device_address(rois);
  p.picture = device_address(picture);
  p.channels = Divider(uint32_t(grid.size(1)));
  p.rows = Divider(uint32_t(grid.size(2)));
  p.columns = Divider(uint32_t(grid.size(3)));
  p.images = picture.size(0);
  p.planes = picture.size(1);
  p.height = picture.size(2);
  p.width = picture.size(3);
  p.errors = watch_errors(call, {&raise, 0, call.kernel().name().c_str()});
  return p;
}

void launch_regions(const Functions& functions, const Tensor& grid,
                    RegionParams p) {
  const int64_t regions = grid.size(0), each = grid.numel() / regions;
  HOTARU_CHECK(each < kMostElements,
               "a region's grid of 2^31 elements and more is not implemented "
               "for CUDA yet");
  const int64_t most = std::max<int64_t>(1, most_elements() / each);
  const size_t item = itemsize(grid.dtype());
  for (; p.first < regions; p.first += most) {
    const int64_t numel = std::min(most, regions - p.first) * each;
    p.numel = uint32_t(numel);
    launch(functions.of(grid.dtype()), {blocks_for(numel, kBlock)}, kBlock, p);
    p.grid = static_cast<char*>(p.grid) + size_t(numel) * item;
    if (p.places) p.places += numel;
  }
}

}  // namespace hotaru::cuda
