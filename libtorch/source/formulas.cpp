#include "source/formulas.h"

#include <cmath>
#include <numbers>

#include "hotaru/core/checks/check.h"

namespace hotaru::libtorch {

void absent(const char* name) {
  fail<NotImplementedError>(
      name, ": PyTorch declares it, hotaru has no kernel of it");
}

std::vector<at::Tensor> fresh(const std::vector<at::Tensor>& list) {
  return each(list, [](Arg t) { return t.clone(); });
}

at::Tensor picked(const at::Tensor& grad, const at::Tensor& self,
                  const at::Tensor& indices, int64_t n) {
  return derived(grad, self, [&](Arg x) {
    return x.flatten(-n).gather(-1, indices.flatten(-n)).view_as(indices);
  });
}

namespace {

/// 0, 1, ... of a window that ends where `periodic` says, or nothing for one
/// of fewer elements than two.
struct Window {
  Window(int64_t n, bool periodic, at::TensorOptions options, const char* name)
      : made(n + (periodic && n > 1)), wanted(n) {
    if (!options.has_dtype())
      options = options.dtype(c10::get_default_dtype_as_scalartype());
    const auto dtype = c10::typeMetaToScalarType(options.dtype());
    HOTARU_CHECK(
        options.layout() == at::kStrided, name,
        " is not implemented for sparse types, got: ", options.layout());
    HOTARU_CHECK(at::isFloatingType(dtype), name,
                 " expects floating point dtypes, got: ", dtype);
    HOTARU_CHECK(n >= 0, name,
                 " requires non-negative window_length, got "
                 "window_length=",
                 n);
    plain = options.requires_grad(false);
    if (n > 1) steps = at::arange(made, plain);
  }
  bool is_short() const { return wanted < 2; }
  /// Window of zero or one element.
  at::Tensor ones() const { return at::ones({wanted}, plain); }
  at::Tensor cut(const at::Tensor& all) const {
    return made > wanted ? all.narrow(0, 0, wanted) : all;
  }
  double last() const { return double(made - 1); }

  int64_t made, wanted;
  at::TensorOptions plain;
  at::Tensor steps;
};

}  // namespace

at::Tensor bartlett(int64_t n, bool periodic, at::TensorOptions options) {
  const Window window(n, periodic, options, "bartlett_window");
  if (window.is_short()) return window.ones();
  const at::Tensor out = window.steps.mul(2.0 / window.last());
  const int64_t half = (window.made - 1) / 2 + 1;
  out.narrow(0, half, window.made - half).mul_(-1).add_(2);
  return window.cut(out);
}
at::Tensor blackman(int64_t n, bool periodic, at::TensorOptions options) {
  const Window window(n, periodic, options, "blackman_window");
  if (window.is_short()) return window.ones();
  const at::Tensor x = window.steps.mul(std::numbers::pi / window.last());
  return window.cut(x.mul(4).cos().mul(0.08) - x.mul(2).cos().mul(0.5) + 0.42);
}
at::Tensor hamming(int64_t n, bool periodic, double alpha, double beta,
                   at::TensorOptions options, const char* name) {
  const Window window(n, periodic, options, name);
  if (window.is_short()) return window.ones();
  const at::Tensor x = window.steps.mul(2 * std::numbers::pi / window.last());
  return window.cut(x.cos().mul(-beta).add(alpha));
}
at::Tensor kaiser(int64_t n, bool periodic, double beta,
                  at::TensorOptions options) {
  const Window window(n, periodic, options, "kaiser_window");
  if (window.is_short()) return window.ones();
  const at::Tensor x =
      window.steps.to(at::kDouble).mul(2 / window.last()).sub(1);
  const at::Tensor y = at::special_i0((1 - x * x).clamp(0).sqrt().mul(beta)) /
                       at::special_i0(at::scalar_tensor(beta, at::kDouble));
  return window.cut(y.to(window.plain));
}

at::Tensor inclusive_range(const at::Scalar& start, const at::Scalar& end,
                           const at::Scalar& step, at::TensorOptions options) {
  const double from = start.toDouble(), to = end.toDouble(),
               by = step.toDouble();
  HOTARU_CHECK(by != 0, "step must be nonzero");
  HOTARU_CHECK(std::isfinite(from) && std::isfinite(to),
               "unsupported range: ", from, " -> ", to);
  HOTARU_CHECK((by > 0) == (to > from) || to == from,
               "upper bound and lower bound inconsistent with step sign");
  const auto n = int64_t((to - from) / by + 1);
  if (!options.has_dtype())
    options = options.dtype(c10::get_default_dtype_as_scalartype());
  const auto dtype = c10::typeMetaToScalarType(options.dtype());
  const bool whole = at::isIntegralType(dtype, true);
  const auto steps = at::arange(
      n, options.requires_grad(false).dtype(whole ? at::kLong : at::kDouble));
  if (whole) return steps.mul(step.toLong()).add(start.toLong()).to(dtype);
  return steps.mul(by).add(from).to(dtype);
}

bool truth(const at::Tensor& t) {
  HOTARU_CHECK(t.numel() != 0,
               "Boolean value of Tensor with no values is ambiguous");
  HOTARU_CHECK(t.numel() < 2,
               "Boolean value of Tensor with more than one value is "
               "ambiguous");
  return t.ne(0).item<bool>();
}
bool looks_alike(const at::Tensor& a, const at::Tensor& b) {
  return a.is_alias_of(b) && a.storage_offset() == b.storage_offset() &&
         a.sizes().equals(b.sizes()) && a.strides().equals(b.strides());
}
bool castable(at::ScalarType from, at::ScalarType to) {
  // Nothing is lost but precision.
  if (at::isComplexType(from)) return at::isComplexType(to);
  if (at::isFloatingType(from) && at::isIntegralType(to, false)) return false;
  return from == at::kBool || to != at::kBool;
}

at::ScalarType common_dtype(const at::Tensor& a, const at::Tensor& b) {
  // The rule is that of sums; no element is needed.
  const auto none = [](const at::Tensor& t) {
    return t.dim() ? at::empty({0}, t.options()) : t.detach();
  };
  if (a.scalar_type() == at::kBool && b.scalar_type() == at::kBool)
    return at::kBool;
  return at::add(none(a), none(b)).scalar_type();
}
at::ScalarType common_dtype(const at::Tensor& a, const at::Scalar& b) {
  if (a.scalar_type() == at::kBool && b.isBoolean()) return at::kBool;
  const at::Tensor x =
      a.dim() ? at::empty({0}, a.options()) : at::zeros({}, a.options());
  return at::add(x, b).scalar_type();
}

at::Tensor shape_tensor(const at::Tensor& t) {
  at::Tensor out = at::empty({t.dim()}, at::kLong);
  auto* to = out.data_ptr<int64_t>();
  for (const int64_t size : t.sizes()) *to++ = size;
  return out;
}
std::vector<int64_t> int_list(const at::Tensor& t) {
  const at::Tensor whole = t.to(at::kLong).cpu().contiguous();
  const auto* from = whole.const_data_ptr<int64_t>();
  return {from, from + whole.numel()};
}

void fill_diagonal(const at::Tensor& self, const at::Scalar& value, bool wrap) {
  const int64_t n = self.dim();
  HOTARU_CHECK(n >= 2, "dimensions must larger than 1");
  int64_t shortest = self.size(0), step = 0;
  for (int64_t d = 0; d < n; ++d) {
    HOTARU_CHECK(n == 2 || self.size(d) == self.size(0),
                 "all dimensions of input must be of equal length");
    shortest = std::min(shortest, self.size(d));
    step += self.stride(d);
  }
  at::Tensor to = self;
  to.as_strided({shortest}, {step}).fill_(value);
  const int64_t rows = self.size(0), columns = self.size(1);
  if (!wrap || n != 2 || rows <= columns + 1) return;
  const int64_t left = (rows * columns + columns) / (columns + 1) - shortest;
  const int64_t begin = self.stride(0) * (columns + 1);
  to.as_strided({left}, {step}, self.storage_offset() + begin).fill_(value);
}

at::Tensor strided(const at::Tensor& source, int64_t offset,
                   at::IntArrayRef size, at::IntArrayRef stride) {
  if (!stride.empty()) return source.as_strided(size, stride, offset);
  std::vector<int64_t> dense(size.size());
  int64_t step = 1;
  for (size_t i = size.size(); i-- > 0; step *= size[i]) dense[i] = step;
  return source.as_strided(size, dense, offset);
}
std::vector<at::Tensor> unflattened(const at::Tensor& flat,
                                    at::TensorList like) {
  int64_t at = 0;
  return each(like, [&](Arg t) {
    const at::Tensor part = flat.narrow(0, at, t.numel()).view_as(t);
    at += t.numel();
    return part;
  });
}

const char* padding_mode(int64_t mode) {
  static constexpr const char* kNames[] = {"reflect", "replicate", "circular",
                                           "constant"};
  HOTARU_CHECK(mode >= 0 && mode < 4, "Unrecognised padding mode: ", mode);
  return kNames[mode];
}

}  // namespace hotaru::libtorch
