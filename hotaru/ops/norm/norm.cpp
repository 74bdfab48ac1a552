#include "hotaru/ops/norm/norm.h"

#include <limits>

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/norm/norm_grad.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

struct Normalised {
  Tensor out, mean, rstd;
};

Tensor dense(const Tensor& t) {
  return t.defined() ? contiguous(t) : t;
}

/// The type that statistics are kept in.
DType statistics_dtype(DType dtype) {
  return dtype == DType::kFloat64 ? dtype : DType::kFloat32;
}

/// The type that the native operators hand statistics out in: that of the
/// first parameter beside 16-bit inputs, else the input's.
template <class... T>
DType shown_dtype(const Tensor& x, const T&... parameters) {
  for (const Tensor* p : {&parameters...})
    if (p->defined()) return p->dtype();
  return x.dtype();
}

/// Parameters may be float beside 16-bit inputs.
void check_parameter_dtype(const Tensor& x, const Tensor& parameter) {
  if (!parameter.defined() || parameter.dtype() == x.dtype()) return;
  const bool mixed =
      x.dtype() == DType::kFloat16 || x.dtype() == DType::kBFloat16;
  HOTARU_CHECK(mixed && parameter.dtype() == DType::kFloat32,
               "mixed dtype (CPU): expect parameter to have scalar type of "
               "Float");
}

Normalised row_norm(const char* node, const Tensor& x, const Tensor& weight,
                    const Tensor& bias, IntSpan statistics_size,
                    const RowNormAttributes& attributes) {
  static const Kernel& norm = kernel("row_norm");
  const DType kept = statistics_dtype(x.dtype());
  const Normalised n{allocate(x.sizes(), x.dtype(), x.device()),
                     allocate(statistics_size, kept, x.device()),
                     allocate(statistics_size, kept, x.device())};
  {
    autograd::NoGrad guard;
    const Tensor input = contiguous(x), w = dense(weight), b = dense(bias);
    enqueue(norm,
            {write(n.out), write(n.mean), write(n.rstd), read(input), read(w),
             read(b)},
            attributes);
  }
  record_row_norm(node, n.out, x, weight, bias, n.mean, n.rstd, attributes);
  return n;
}

/// Throws unless the last dimensions are normalized_shape; gives how many
/// dimensions are in front.
size_t check_shape(const Tensor& input, IntSpan normalized_shape,
                   const Tensor& weight, const Tensor& bias, const char* star) {
  HOTARU_CHECK(!normalized_shape.empty(),
               "Expected normalized_shape to be at least 1-dimensional, i.e., "
               "containing at least one element, but got normalized_shape = ",
               shape_text(normalized_shape));
  const auto check = [&](const Tensor& t, const char* what) {
    HOTARU_CHECK(!t.defined() || same(t.sizes(), normalized_shape), "Expected ",
                 what, " to be of same shape as normalized_shape, but got ",
                 what, " of shape ",
                 shape_text(t.defined() ? t.sizes() : IntSpan{}),
                 " and normalized_shape = ", shape_text(normalized_shape));
  };
  check(weight, "weight");
  check(bias, "bias");
  const size_t n = normalized_shape.size();
  const bool fits = input.sizes().size() >= n &&
                    same(input.sizes().last(n), normalized_shape);
  std::string tail;
  for (int64_t s : normalized_shape) {
    tail += tail.empty() ? star : ", ";
    tail += std::to_string(s);
  }
  HOTARU_CHECK(fits, "Given normalized_shape=", shape_text(normalized_shape),
               ", expected input with shape [*", tail,
               "], but got input of size", shape_text(input.sizes()));
  return input.sizes().size() - n;
}

std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& input,
                                                     IntSpan normalized_shape,
                                                     const Tensor& weight,
                                                     const Tensor& bias,
                                                     double eps) {
  const size_t lead = check_shape(input, normalized_shape, weight, bias, ", ");
  check_floating("LayerNormKernelImpl", input);
  check_parameter_dtype(input, weight);
  check_parameter_dtype(input, bias);
  RowNormAttributes a;
  a.columns = numel_of(normalized_shape);
  a.rows = numel_of(input.sizes().first(lead));
  a.eps = eps;
  Dims size(input.sizes());
  for (size_t d = lead; d < size.size(); ++d) size[d] = 1;
  Normalised n =
      row_norm("NativeLayerNormBackward0", input, weight, bias, size, a);
  const DType shown = shown_dtype(input, weight, bias);
  return {n.out, to(n.mean, shown), to(n.rstd, shown)};
}

Normalised run_batch_norm(const Tensor& input, const Tensor& weight,
                          const Tensor& bias, const Tensor& running_mean,
                          const Tensor& running_var, bool training,
                          double momentum, double eps) {
  static const Kernel& norm = kernel("batch_norm");
  const int64_t channels = input.dim() > 1 ? input.size(1) : 0;
  const auto check = [&](const Tensor& t, const char* what, bool required) {
    HOTARU_CHECK(t.defined() || !required, what,
                 " must be defined in evaluation mode");
    if (!t.defined()) return;
    HOTARU_CHECK(t.numel() == channels, what, " should contain ", channels,
                 " elements not ", t.numel());
    check_parameter_dtype(input, t);
  };
  check_floating("batch_norm", input);
  HOTARU_CHECK_AS(ValueError, running_mean.defined() == running_var.defined(),
                  "running_mean and running_var must either both be None or "
                  "neither be None");
  check(running_mean, "running_mean", !training);
  check(running_var, "running_var", !training);
  check(weight, "weight", false);
  check(bias, "bias", false);
  check_constant("native_batch_norm", "running_mean", running_mean);
  check_constant("native_batch_norm", "running_var", running_var);
  if (input.dim() < 2) {
    if (input.numel() > 0) wrap_dim(1, input.dim());
    const Tensor none = allocate(Dims{0}, input.dtype(), input.device());
    return {clone(input), none, none};
  }
  const DType kept = statistics_dtype(input.dtype());
  const Normalised n{allocate(input.sizes(), input.dtype(), input.device()),
                     allocate(Dims{channels}, kept, input.device()),
                     allocate(Dims{channels}, kept, input.device())};
  const BatchNormAttributes attributes{training, momentum, eps};
  {
    autograd::NoGrad guard;
    const Tensor x = contiguous(input), w = dense(weight), b = dense(bias);
    const Tensor m = dense(running_mean), v = dense(running_var);
    // Only training writes the running statistics.
    const auto running = [training](const Tensor& t) {
      if (training && t.defined()) autograd::tell_write(t);
      return training ? update(t) : read(t);
    };
    enqueue(norm,
            {write(n.out), write(n.mean), write(n.rstd), running(m), running(v),
             read(x), read(w), read(b)},
            attributes);
    const auto written = [&](const Tensor& old, const Tensor& now) {
      if (!training || !old.defined()) return;
      if (now.is_same(old))
        old.bump_version();
      else
        copy_(old, now);
    };
    written(running_mean, m);
    written(running_var, v);
  }
  record_batch_norm(n.out, input, weight, bias, n.mean, n.rstd, attributes);
  return n;
}

std::tuple<Tensor, Tensor, Tensor> native_batch_norm(
    const Tensor& input, const Tensor& weight, const Tensor& bias,
    const Tensor& running_mean, const Tensor& running_var, bool training,
    double momentum, double eps) {
  Normalised n = run_batch_norm(input, weight, bias, running_mean, running_var,
                                training, momentum, eps);
  const DType shown =
      shown_dtype(input, weight, bias, running_mean, running_var);
  if (training) return {n.out, to(n.mean, shown), to(n.rstd, shown)};
  const auto none = [&] { return allocate(Dims{0}, shown, input.device()); };
  return {n.out, none(), none()};
}

/// Form of batch_norm that traced programs hold: with running statistics that
/// are there, or none.
std::tuple<Tensor, Tensor, Tensor> batch_norm_no_stats(
    const Tensor& input, const Tensor& weight, const Tensor& bias,
    bool training, double momentum, double eps) {
  return native_batch_norm(input, weight, bias, {}, {}, training, momentum,
                           eps);
}
std::tuple<Tensor, Tensor, Tensor> batch_norm_no_training(
    const Tensor& input, const Tensor& weight, const Tensor& bias,
    const Tensor& running_mean, const Tensor& running_var, double momentum,
    double eps) {
  return native_batch_norm(input, weight, bias, running_mean, running_var,
                           false, momentum, eps);
}

/// The same with what another library would keep for its gradient: nothing.
template <bool kTraining>
std::tuple<Tensor, Tensor, Tensor, Tensor> batch_norm_reserve(
    const Tensor& input, const Tensor& weight, const Tensor& bias,
    const Tensor& running_mean, const Tensor& running_var, double momentum,
    double eps) {
  auto [out, mean, rstd] = native_batch_norm(
      input, weight, bias, running_mean, running_var, kTraining, momentum, eps);
  return {out, mean, rstd, allocate(Dims{0}, DType::kUInt8, input.device())};
}

RowNormAttributes group_attributes(int64_t n, int64_t c, int64_t space,
                                   int64_t groups, double eps) {
  RowNormAttributes a;
  a.rows = n * groups;
  a.columns = c / groups * space;
  a.period = groups;
  a.step = c / groups;
  a.inner = space;
  a.eps = eps;
  return a;
}

void check_groups(const Tensor& input, int64_t channels, int64_t groups,
                  const Tensor& weight, const Tensor& bias) {
  HOTARU_CHECK(groups > 0, "Expected num groups to be greater than 0, got ",
               groups);
  HOTARU_CHECK(channels % groups == 0,
               "Expected number of channels in input to be divisible by "
               "num_groups, but got input of shape ",
               shape_text(input.sizes()), " and num_groups=", groups);
  const auto check = [&](const Tensor& t, const char* what) {
    HOTARU_CHECK(!t.defined() || (t.dim() == 1 && t.numel() == channels),
                 "Expected ", what,
                 " to be a vector of size equal to the number of channels in "
                 "input, but got ",
                 what, " of shape ",
                 shape_text(t.defined() ? t.sizes() : IntSpan{}),
                 " and input of shape ", shape_text(input.sizes()));
    check_parameter_dtype(input, t);
  };
  check(weight, "weight");
  check(bias, "bias");
  check_floating("GroupNormKernelImpl", input);
}

Normalised run_group_norm(const Tensor& input, const Tensor& weight,
                          const Tensor& bias, int64_t n, int64_t c,
                          int64_t space, int64_t groups, double eps) {
  check_groups(input, c, groups, weight, bias);
  int64_t total;
  HOTARU_CHECK(
      n >= 0 && c >= 0 && space >= 0 && !__builtin_mul_overflow(n, c, &total) &&
          !__builtin_mul_overflow(total, space, &total) &&
          total == input.numel(),
      "Expected ", n, " * ", c, " * ", space,
      " elements in input, but got input of shape ", shape_text(input.sizes()));
  return row_norm("NativeGroupNormBackward0", input, weight, bias,
                  Dims{n, groups}, group_attributes(n, c, space, groups, eps));
}

std::tuple<Tensor, Tensor, Tensor> native_group_norm(
    const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t n,
    int64_t c, int64_t space, int64_t groups, double eps) {
  Normalised out =
      run_group_norm(input, weight, bias, n, c, space, groups, eps);
  record_statistics("NativeGroupNormBackward0", out.mean, out.rstd, input, eps);
  const DType shown = shown_dtype(input, weight, bias);
  return {out.out, to(out.mean, shown), to(out.rstd, shown)};
}

}  // namespace

Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var,
                  bool training, double momentum, double eps) {
  const Normalised n = run_batch_norm(input, weight, bias, running_mean,
                                      running_var, training, momentum, eps);
  return in_format_of(input, n.out);
}

Tensor layer_norm(const Tensor& input, IntSpan normalized_shape,
                  const Tensor& weight, const Tensor& bias, double eps) {
  return std::get<0>(
      native_layer_norm(input, normalized_shape, weight, bias, eps));
}

Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight,
                  const Tensor& bias, double eps) {
  HOTARU_CHECK(input.dim() >= 2,
               "Expected at least 2 dimensions for input tensor but received ",
               input.dim());
  const int64_t n = input.size(0), c = input.size(1);
  const Normalised normed =
      run_group_norm(input, weight, bias, n, c,
                     numel_of(input.sizes().subspan(2)), num_groups, eps);
  return in_format_of(input, normed.out);
}

Tensor instance_norm(const Tensor& input, const Tensor& weight,
                     const Tensor& bias, const Tensor& running_mean,
                     const Tensor& running_var, bool use_input_stats,
                     double momentum, double eps) {
  HOTARU_CHECK(
      use_input_stats || (running_mean.defined() && running_var.defined()),
      "Expected running_mean and running_var to be defined when "
      "use_input_stats is false");
  HOTARU_CHECK(input.dim() >= 2,
               "instance_norm: expected at least 2 dimensions, got input of "
               "size ",
               shape_text(input.sizes()));
  // Every sample's channels become channels of a single sample.
  const int64_t n = input.size(0), c = input.size(1);
  Dims size(input.sizes());
  size[0] = 1;
  size[1] = n * c;
  const auto repeated = [&](const Tensor& t) {
    return t.defined() ? repeat(t, Dims{n}) : t;
  };
  const Tensor mean = repeated(running_mean), var = repeated(running_var);
  const Tensor out =
      batch_norm(contiguous(reshape(input, size)), repeated(weight),
                 repeated(bias), mean, var, use_input_stats, momentum, eps);
  const auto average = [&](const Tensor& running, const Tensor& each) {
    if (!running.defined() || !use_input_stats) return;
    autograd::NoGrad guard;
    copy_(running, hotaru::mean(view(each, Dims{n, c}), Dims{0}));
  };
  average(running_mean, mean);
  average(running_var, var);
  return view(out, input.sizes());
}

Tensor rms_norm(const Tensor& input, IntSpan normalized_shape,
                const Tensor& weight, Optional<double> eps) {
  check_shape(input, normalized_shape, weight, {}, "");
  check_inexact("rms_norm", input);
  const DType wide =
      input.is_complex() ? input.dtype() : statistics_dtype(input.dtype());
  double least = to_real(wide) == DType::kFloat64
                     ? std::numeric_limits<double>::epsilon()
                     : std::numeric_limits<float>::epsilon();
  const Tensor x = to(input, wide);
  Dims dims;
  for (int64_t i = 1; i <= int64_t(normalized_shape.size()); ++i)
    dims.push_back(-i);
  const Tensor scale = rsqrt(mean(x * x, dims, true) + eps.value_or(least));
  if (weight.defined() && weight.dtype() != input.dtype())
    return to(x * scale * weight, input.dtype());
  const Tensor out = to(x * scale, input.dtype());
  return weight.defined() ? out * weight : out;
}

namespace {

// The registered forms, with flags of back ends that don't exist here.
Tensor batch_norm_flag(const Tensor& input, const Tensor& weight,
                       const Tensor& bias, const Tensor& running_mean,
                       const Tensor& running_var, bool training,
                       double momentum, double eps, bool) {
  return batch_norm(input, weight, bias, running_mean, running_var, training,
                    momentum, eps);
}
Tensor layer_norm_flag(const Tensor& input, IntSpan normalized_shape,
                       const Tensor& weight, const Tensor& bias, double eps,
                       bool) {
  return layer_norm(input, normalized_shape, weight, bias, eps);
}
Tensor group_norm_flag(const Tensor& input, int64_t num_groups,
                       const Tensor& weight, const Tensor& bias, double eps,
                       bool) {
  return group_norm(input, num_groups, weight, bias, eps);
}
Tensor instance_norm_flag(const Tensor& input, const Tensor& weight,
                          const Tensor& bias, const Tensor& running_mean,
                          const Tensor& running_var, bool use_input_stats,
                          double momentum, double eps, bool) {
  return instance_norm(input, weight, bias, running_mean, running_var,
                       use_input_stats, momentum, eps);
}

}  // namespace

HOTARU_OP(
    "batch_norm(Tensor input, Tensor? weight, Tensor? bias, "
    "Tensor? running_mean, Tensor? running_var, bool training, "
    "float momentum, float eps, bool cudnn_enabled) -> Tensor",
    batch_norm_flag);
HOTARU_OP(
    "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, "
    "Tensor? running_mean, Tensor? running_var, bool training, "
    "float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    native_batch_norm);
HOTARU_OP(
    "_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, "
    "Tensor(a!) running_mean, Tensor(b!) running_var, bool training, "
    "float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    native_batch_norm);
HOTARU_OP(
    "_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, "
    "Tensor? bias, bool training, float momentum, float eps) -> "
    "(Tensor, Tensor, Tensor)",
    batch_norm_no_stats);
HOTARU_OP(
    "_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, "
    "Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, "
    "float eps) -> (Tensor, Tensor, Tensor)",
    batch_norm_no_training);
HOTARU_OP(
    "_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, "
    "Tensor(a!) running_mean, Tensor(b!) running_var, float momentum, "
    "float eps) -> (Tensor, Tensor, Tensor, Tensor)",
    batch_norm_reserve<true>);
HOTARU_OP(
    "_batch_norm_no_update(Tensor input, Tensor? weight, Tensor? bias, "
    "Tensor? running_mean, Tensor? running_var, float momentum, float eps) -> "
    "(Tensor, Tensor, Tensor, Tensor)",
    batch_norm_reserve<false>);
HOTARU_OP(
    "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, "
    "Tensor? bias=None, float eps=1e-05, bool cudnn_enable=True) -> Tensor",
    layer_norm_flag);
HOTARU_OP(
    "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, "
    "Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
    native_layer_norm);
HOTARU_OP(
    "group_norm(Tensor input, int num_groups, Tensor? weight=None, "
    "Tensor? bias=None, float eps=1e-05, bool cudnn_enabled=True) -> Tensor",
    group_norm_flag);
HOTARU_OP(
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, "
    "int C, int HxW, int group, float eps) -> (Tensor, Tensor, Tensor)",
    native_group_norm);
HOTARU_OP(
    "instance_norm(Tensor input, Tensor? weight, Tensor? bias, "
    "Tensor? running_mean, Tensor? running_var, bool use_input_stats, "
    "float momentum, float eps, bool cudnn_enabled) -> Tensor",
    instance_norm_flag);
HOTARU_OP(
    "rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, "
    "float? eps=None) -> Tensor",
    rms_norm);

}  // namespace hotaru
