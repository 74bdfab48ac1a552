// Launching convolution and unfolding; see params/conv.h.
#include "hotaru/backend/common/conv/conv.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/conv/conv_products.h"
#include "hotaru/backend/cuda/create/move.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/libraries/cudnn_conv.h"
#include "hotaru/backend/cuda/params/conv.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

constexpr KernelTypes<NumberTypes> kForwardTypes{0, "slow_conv"};
constexpr KernelTypes<NumberTypes> kDataTypes{0, "slow_conv_transpose"};
constexpr KernelTypes<NumberTypes> kWeightTypes{0, "slow_conv_backward"};
constexpr KernelTypes<NumberTypes> kFoldTypes{0, "col2im"};

const void* address_of(const Tensor& t) {
  return t.defined() && t.numel() > 0 ? device_address(t) : nullptr;
}

/// The first three operands row by row, as own kernels take them: themselves,
/// or copies if their channels come last.
class RowMajor {
 public:
  explicit RowMajor(const KernelCall& call) : call_(call) {
    for (size_t i = 0; i < 3; ++i) {
      const Tensor& t = call.tensor(i);
      if (!t.is_contiguous() && t.numel() > 0) {
        copies_[i].emplace(size_t(t.numel()) * itemsize(t.dtype()));
        if (i > 0) copy(i, false);
      }
    }
  }
  void* at(size_t i) const {
    if (copies_[i]) return copies_[i]->data();
    return const_cast<void*>(address_of(call_.tensor(i)));
  }
  /// Puts the result in its place.
  void finish() const {
    if (copies_[0]) copy(0, true);
  }

 private:
  void copy(size_t i, bool back) const {
    const Tensor& t = call_.tensor(i);
    const auto item = int64_t(itemsize(t.dtype()));
    const Dims rows = contiguous_strides(t.sizes());
    Geometry<2>::Steps steps{};
    for (size_t d = 0; d < size_t(t.dim()); ++d) {
      steps[d] = {rows[d] * item, t.strides()[d] * item};
      if (back) std::swap(steps[d][0], steps[d][1]);
    }
    std::array<char*, 2> address{
        static_cast<char*>(copies_[i]->data()),
        static_cast<char*>(const_cast<void*>(address_of(t)))};
    if (back) std::swap(address[0], address[1]);
    move_elements(Geometry<2>::over(address, t.sizes(), steps), size_t(item));
  }

  const KernelCall& call_;
  std::array<std::optional<Workspace>, 3> copies_;
};

/// A divisor of what has elements; of what has none nothing is divided.
Divider divider(int64_t n) {
  return Divider(uint32_t(std::clamp<int64_t>(n, 1, kMostElements - 1)));
}

void check_size(bool fits) {
  HOTARU_CHECK(fits,
               "convolution of 2^31 elements and more is not implemented for "
               "CUDA yet");
}

void check_padding(int64_t padding, int64_t side) {
  check_size(padding < kMostElements / 4 &&
             side + 2 * padding < kMostElements - 1);
}

/// Spatial sizes that follow `lead` others, the sides of x, y and the kernel.
void set_windows(ConvParams& p, const ConvAttributes& a, IntSpan x, IntSpan y,
                 IntSpan w) {
  const size_t dims = a.stride.size();
  for (size_t d = 0; d < 3; ++d) p.dilation[d] = 1;
  for (size_t d = 0; d < dims; ++d) {
    const size_t to = 3 - dims + d;
    check_padding(a.padding[d], x[d]);
    p.x[to] = divider(x[d]);
    p.y[to] = divider(y[d]);
    p.w[to] = divider(w[d]);
    p.stride[to] = divider(a.stride[d]);
    p.padding[to] = int32_t(a.padding[d]);
    p.dilation[to] =
        int32_t(std::min<int64_t>(a.dilation[d], kMostElements - 1));
  }
}

ConvParams params_of(const KernelCall& call, const RowMajor& rows,
                     const Tensor& x, const Tensor& w, const Tensor& y) {
  const auto& a = call.attributes<ConvAttributes>();
  const Tensor& out = call.tensor(0);
  check_size(x.numel() < kMostElements && y.numel() < kMostElements &&
             w.numel() < kMostElements);
  ConvParams p;
  set_windows(p, a, x.sizes().subspan(2), y.sizes().subspan(2),
              w.sizes().subspan(2));
  p.out = rows.at(0);
  p.a = rows.at(1);
  p.b = rows.at(2);
  p.bias = address_of(call.tensor(3));
  p.numel = uint32_t(out.numel());
  p.batch = uint32_t(x.size(0));
  p.x_channels = uint32_t(x.size(1) / a.groups);
  p.y_channels = uint32_t(y.size(1) / a.groups);
  p.in = divider(p.x_channels);
  p.out_channels = divider(p.y_channels);
  p.groups = divider(a.groups);
  // Nothing is summed up of planes without positions, nor of no samples.
  if (x.numel() == 0) p.x_channels = 0;
  if (y.numel() == 0) p.y_channels = p.batch = 0;
  return p;
}

/// Where it is made of matrix products, and worth it.
bool by_products(ConvKind kind, const KernelCall& call, const Tensor& x,
                 const Tensor& w, const Tensor& y) {
  if (!is_floating_point(x.dtype()) || x.numel() == 0 || w.numel() == 0 ||
      y.numel() == 0)
    return false;
  check_size(x.numel() < kMostElements && y.numel() < kMostElements &&
             w.numel() < kMostElements);
  const auto& a = call.attributes<ConvAttributes>();
  for (size_t d = 0; d < a.stride.size(); ++d)
    check_padding(a.padding[d], x.size(int64_t(d) + 2));
  return convolve_by_products(kind, x, w, y, call.tensor(3), a);
}

/// Adds what the library leaves out: a bias for each channel.
void add_bias(const Tensor& out, const Tensor& bias) {
  if (!bias.defined()) return;
  static constinit const Functions functions("AddChannels");
  ChannelBiasParams p;
  p.out = device_address(out);
  p.bias = address_of(bias);
  p.numel = uint32_t(out.numel());
  p.space = divider(out.is_contiguous() ? numel_of(out.sizes().subspan(2)) : 1);
  p.channels = divider(out.size(1));
  launch(functions.of(out.dtype()), {blocks_for(p.numel, kBlock)}, kBlock, p);
}

void conv_forward(const KernelCall& call) {
  static constinit const Functions functions("ConvForward");
  check_types<kForwardTypes>(call);
  const Tensor &y = call.tensor(0), &x = call.tensor(1), &w = call.tensor(2);
  const Function& f = functions.of(y.dtype());
  if (y.numel() == 0) return;
  check_size(y.numel() < kMostElements);
  if (convolve_by_cudnn(ConvKind::kForward, x, w, y,
                        call.attributes<ConvAttributes>()))
    return add_bias(y, call.tensor(3));
  if (by_products(ConvKind::kForward, call, x, w, y)) return;
  const RowMajor rows(call);
  const ConvParams p = params_of(call, rows, x, w, y);
  launch(f, {blocks_for(p.numel, kBlock)}, kBlock, p);
  rows.finish();
}

void conv_data(const KernelCall& call) {
  static constinit const Functions functions("ConvData");
  check_types<kDataTypes>(call);
  const Tensor &x = call.tensor(0), &y = call.tensor(1), &w = call.tensor(2);
  const Function& f = functions.of(x.dtype());
  if (x.numel() == 0) return;
  check_size(x.numel() < kMostElements);
  if (convolve_by_cudnn(ConvKind::kData, x, w, y,
                        call.attributes<ConvAttributes>()))
    return add_bias(x, call.tensor(3));
  if (by_products(ConvKind::kData, call, x, w, y)) return;
  const RowMajor rows(call);
  const ConvParams p = params_of(call, rows, x, w, y);
  launch(f, {blocks_for(p.numel, kBlock)}, kBlock, p);
  rows.finish();
}

void conv_weight(const KernelCall& call) {
  static constinit const Functions functions("ConvWeight");
  check_types<kWeightTypes>(call);
  const Tensor &w = call.tensor(0), &y = call.tensor(1), &x = call.tensor(2);
  const Function& f = functions.of(w.dtype());
  if (w.numel() == 0) return;
  if (convolve_by_cudnn(ConvKind::kWeight, x, w, y,
                        call.attributes<ConvAttributes>()))
    return;
  if (by_products(ConvKind::kWeight, call, x, w, y)) return;
  const RowMajor rows(call);
  ConvParams p = params_of(call, rows, x, w, y);
  if (x.numel() == 0) p.batch = 0;
  plan_conv_weight(p);
  launch(f, {conv_weight_blocks(p)}, kBlock, p);
  rows.finish();
}

ConvParams unfold_params(const KernelCall& call, const Tensor& x,
                         const Tensor& columns) {
  const auto& a = call.attributes<UnfoldAttributes>();
  const Tensor& out = call.tensor(0);
  check_size(x.numel() < kMostElements && columns.numel() < kMostElements);
  ConvParams p;
  set_windows(p, a.window, x.sizes().subspan(2), a.output, a.kernel);
  p.out = device_address(out);
  p.a = address_of(call.tensor(1));
  p.numel = uint32_t(out.numel());
  return p;
}

void im2col(const KernelCall& call) {
  const Tensor &columns = call.tensor(0), &x = call.tensor(1);
  if (columns.numel() == 0) return;
  static constinit const Functions functions("Im2col");
  const ConvParams p = unfold_params(call, x, columns);
  launch(functions.of_size(itemsize(x.dtype())), {blocks_for(p.numel, kBlock)},
         kBlock, p);
}

void col2im(const KernelCall& call) {
  static constinit const Functions functions("Col2im");
  check_types<kFoldTypes>(call);
  const Tensor &x = call.tensor(0), &columns = call.tensor(1);
  const Function& f = functions.of(x.dtype());
  if (x.numel() == 0) return;
  const ConvParams p = unfold_params(call, x, columns);
  launch(f, {blocks_for(p.numel, kBlock)}, kBlock, p);
}

HOTARU_KERNEL(kCUDA, "conv_forward", conv_forward);
HOTARU_KERNEL(kCUDA, "conv_data", conv_data);
HOTARU_KERNEL(kCUDA, "conv_weight", conv_weight);
HOTARU_KERNEL(kCUDA, "im2col", im2col);
HOTARU_KERNEL(kCUDA, "col2im", col2im);

}  // namespace
}  // namespace hotaru::cuda
