#include "hotaru/ops/shape/pad.h"

#include <algorithm>

#include "hotaru/backend/common/shape/pad.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/rare.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/linear_map.h"
#include "hotaru/ops/registry.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

/// A padded size and what is added before and behind, cut to what makes a
/// difference: sums of positions and these cannot overflow.
struct Padded {
  Dims size, before, after;
};

Padded padded(const char* op, const Tensor& self, IntSpan pad) {
  const size_t dims = self.sizes().size();
  HOTARU_CHECK(pad.size() % 2 == 0, "Padding length must be divisible by 2");
  HOTARU_CHECK(pad.size() <= 2 * dims,
               "Padding length should be less than or equal to two times the "
               "input dimension but got padding length ",
               pad.size(), " and input of dimension ", dims);
  Padded out{Dims(self.sizes()), Dims(dims, 0), Dims(dims, 0)};
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const size_t d = dims - 1 - i;
    const int64_t old = out.size[d];
    const bool overflow =
        __builtin_add_overflow(out.size[d], pad[2 * i], &out.size[d]) ||
        __builtin_add_overflow(out.size[d], pad[2 * i + 1], &out.size[d]);
    HOTARU_CHECK(!overflow && out.size[d] >= 0, "The input size ", old,
                 ", plus negative padding ", pad[2 * i], " and ",
                 pad[2 * i + 1], ", resulted in a negative output size, ",
                 "which is invalid. Check dimension ", d, " of your input (",
                 op, ").");
    out.before[d] = std::clamp<int64_t>(pad[2 * i], -old, out.size[d]);
    out.after[d] = out.size[d] - old - out.before[d];
  }
  return out;
}

}  // namespace

Tensor constant_pad_nd(const Tensor& self, IntSpan pad, const Scalar& value) {
  static const Kernel& pad_kernel = kernel("pad");
  const Padded p = padded("constant_pad_nd", self, pad);
  if (self.dim() == 0) return clone(self);
  if (is_wide_unsigned(self.dtype())) {
    const Tensor wide = to(self, carrier(self.dtype()));
    return to(constant_pad_nd(wide, pad, value), self.dtype());
  }
  check_bound(self.dtype(), value);
  const Tensor out = allocate(p.size, self.dtype(), self.device());
  {
    autograd::NoGrad guard;
    const Tensor x = contiguous(self);
    enqueue(pad_kernel, {write(out), read(x)},
            PadAttributes{PadMode::kConstant, p.before, value});
  }
  if (!autograd::needs_grad(self)) return out;
  Dims opposite;
  for (size_t d = p.size.size(); d-- > 0;)
    for (const int64_t n : {p.before[d], p.after[d]}) opposite.push_back(-n);
  autograd::record("ConstantPadNdBackward0", out, {self}, {},
                   [opposite](autograd::Backward&, const Tensor& g) -> Tensors {
                     return {constant_pad_nd(g, opposite, 0)};
                   });
  return out;
}

namespace {

void check_reflect(const Tensor& self, IntSpan pad) {
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t dim = self.dim() - 1 - int64_t(i);
    const int64_t size = self.size(dim);
    HOTARU_CHECK(pad[2 * i] < size && pad[2 * i + 1] < size, "Argument #",
                 4 + 2 * i,
                 ": Padding size should be less than the corresponding input "
                 "dimension, but got: padding (",
                 pad[2 * i], ", ", pad[2 * i + 1], ") at dimension ", dim,
                 " of input ", shape_text(self.sizes()));
  }
}

/// Amounts beside what is left of each dimension when it was cropped.
void check_circular(const Tensor& self, IntSpan pad) {
  for (size_t i = 0; i < pad.size(); i += 2) {
    const int64_t size = self.size(self.dim() - 1 - int64_t(i / 2));
    const int64_t least = -2 * size - 1;  // no sum of such overflows
    const int64_t before = std::max(pad[i], least);
    const int64_t after = std::max(pad[i + 1], least);
    const int64_t crop =
        std::min<int64_t>(0, before) + std::min<int64_t>(0, after);
    HOTARU_CHECK(std::max(before, after) <= size + std::max(crop, -size),
                 "Padding value causes wrapping around more than once.");
    HOTARU_CHECK(before + after >= -size,
                 "Negative padding value is resulting in an empty dimension");
  }
}

// Modes that repeat the input, on the last N = pad.size() / 2 dimensions.
Tensor repeat_pad(const char* node, PadMode mode, const Tensor& self,
                  IntSpan pad) {
  static const Kernel& forward = kernel("pad");
  static const Kernel& transposed = kernel("pad_transposed");
  const int64_t n = int64_t(pad.size() / 2);
  bool valid = self.dim() == n + 1 || self.dim() == n + 2;
  const bool circular = mode == PadMode::kCircular;
  for (int64_t d = self.dim() == n + 2; valid && d < self.dim(); ++d)
    valid = circular || self.size(d) > 0;
  HOTARU_CHECK(valid, "Expected ", n + 1, "D or ", n + 2,
               "D (batch mode) tensor with possibly 0 batch size and other "
               "non-zero dimensions for input, but got: ",
               shape_text(self.sizes()));
  if (mode == PadMode::kReflect) check_reflect(self, pad);
  if (self.dtype() == DType::kBool && !circular)
    refuse_dtype(
        concat(mode == PadMode::kReflect ? "reflection" : "replication", "_pad",
               n, "d")
            .c_str(),
        self.dtype());
  const Padded p = padded("pad", self, pad);
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const size_t d = size_t(self.dim()) - 1 - i;
    HOTARU_CHECK(circular || p.size[d] > 0, "input (", "WHD"[i], ": ",
                 self.sizes()[d], ") is too small. Calculated output ",
                 "WHD"[i], ": ", p.size[d]);
  }
  return in_format_of(
      self, apply_linear(
                {node, node, &forward, &transposed, mode != PadMode::kCircular},
                self, p.size, PadAttributes{mode, p.before, 0}));
}

constexpr const char* kReflectNodes[] = {"ReflectionPad1DBackward0",
                                         "ReflectionPad2DBackward0",
                                         "ReflectionPad3DBackward0"};
constexpr const char* kReplicateNodes[] = {"ReplicationPad1DBackward0",
                                           "ReplicationPad2DBackward0",
                                           "ReplicationPad3DBackward0"};

template <PadMode Mode, int N>
Tensor pad_nd(const Tensor& self, IntSpan padding) {
  HOTARU_CHECK(padding.size() == 2 * N, "padding size is expected to be ",
               2 * N, ", but got: ", padding.size());
  const auto& nodes =
      Mode == PadMode::kReflect ? kReflectNodes : kReplicateNodes;
  return repeat_pad(nodes[N - 1], Mode, self, padding);
}

}  // namespace

Tensor pad(const Tensor& self, IntSpan pad, const std::string& mode,
           const Optional<double>& value) {
  if (mode == "constant")
    return in_format_of(self, constant_pad_nd(self, pad, value.value_or(0)));
  const bool reflect = mode == "reflect", replicate = mode == "replicate";
  HOTARU_CHECK_AS(NotImplementedError,
                  reflect || replicate || mode == "circular",
                  "Unrecognised padding mode ", mode);
  HOTARU_CHECK(!value || *value == 0, "Padding mode \"", mode,
               "\" doesn't take in value argument");
  const int64_t n = int64_t(pad.size() / 2);
  HOTARU_CHECK(pad.size() % 2 == 0, "Padding length must be divisible by 2");
  HOTARU_CHECK_AS(
      NotImplementedError,
      n >= 1 && n <= 3 && (self.dim() == n + 1 || self.dim() == n + 2),
      "Padding size ", pad.size(), " is not supported for ", self.dim(),
      "D input tensor.\nSupported combinations for non-constant padding:\n"
      "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
      "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
      "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)");
  if (autocast::active() && (reflect || replicate))
    return autocast::by_name(
        concat(reflect ? "reflection" : "replication", "_pad", n, "d"), "",
        {self, Value::int_list(pad)});
  if (reflect)
    return repeat_pad(kReflectNodes[n - 1], PadMode::kReflect, self, pad);
  if (replicate)
    return repeat_pad(kReplicateNodes[n - 1], PadMode::kReplicate, self, pad);
  check_circular(self, pad);
  // Parts that are cropped are not there to be repeated.
  Dims crop(pad), grow(pad);
  for (int64_t& c : crop) c = std::min<int64_t>(c, 0);
  for (int64_t& g : grow) g = std::max<int64_t>(g, 0);
  const bool crops = !same(pad, grow);
  return repeat_pad("CopySlices", PadMode::kCircular,
                    crops ? constant_pad_nd(self, crop) : self, grow);
}

HOTARU_OP(
    "constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor",
    +[](const Tensor& self, IntSpan pad, const Scalar& value) {
      return in_format_of(self, constant_pad_nd(self, pad, value));
    });
HOTARU_OP(
    "pad(Tensor self, int[] pad, str mode=\"constant\", float? value=None) "
    "-> Tensor",
    pad);
HOTARU_OP("reflection_pad1d(Tensor self, int[2] padding) -> Tensor",
          pad_nd<PadMode::kReflect, 1>);
HOTARU_OP("reflection_pad2d(Tensor self, int[4] padding) -> Tensor",
          pad_nd<PadMode::kReflect, 2>);
HOTARU_OP("reflection_pad3d(Tensor self, int[6] padding) -> Tensor",
          pad_nd<PadMode::kReflect, 3>);
HOTARU_OP("replication_pad1d(Tensor self, int[2] padding) -> Tensor",
          pad_nd<PadMode::kReplicate, 1>);
HOTARU_OP("replication_pad2d(Tensor self, int[4] padding) -> Tensor",
          pad_nd<PadMode::kReplicate, 2>);
HOTARU_OP("replication_pad3d(Tensor self, int[6] padding) -> Tensor",
          pad_nd<PadMode::kReplicate, 3>);

}  // namespace hotaru
