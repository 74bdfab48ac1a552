#include "hotaru/ops/random/random.h"

#include <cmath>
#include <limits>
#include <string>

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/random/random.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/cpp_type.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/operands.h"
#include "hotaru/ops/pointwise/complex.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/extremum.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/require.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/ops/sort/sort.h"
#include "hotaru/runtime/generator.h"
#include "hotaru/runtime/streams/enqueue.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

const Kernel& kRandom = kernel("random");
const Kernel& kBernoulli = kernel("bernoulli");
const Kernel& kMultinomial = kernel("multinomial");

}  // namespace

Generator& chosen(Generator* generator, const Tensor& self) {
  // Nothing is drawn on meta, by whichever generator.
  if (!generator || self.device().type == DeviceType::kMeta)
    return default_generator(self.device());
  const DeviceType wanted = self.device().type,
                   given = generator->device().type;
  HOTARU_CHECK(wanted == given, "Expected a '", device_type_name(wanted),
               "' device type for generator but found '",
               device_type_name(given), "'");
  return *generator;
}

namespace {

void check_no_overlap(const Tensor& self) {
  for (int64_t d = 0; d < self.dim(); ++d)
    HOTARU_CHECK(self.sizes()[size_t(d)] < 2 || self.strides()[size_t(d)] != 0,
                 "unsupported operation: more than one element of the "
                 "written-to tensor refers to a single memory location. Please "
                 "clone() the tensor before performing the operation.");
}

/// Records that what was there before has no influence on what is there now.
/// Neither it nor `chances` has another gradient than zeros.
Tensor forget(const char* node, const Tensor& self,
              const Tensor& chances = {}) {
  const bool of_chances = chances.defined() && autograd::needs_grad(chances);
  if (autograd::needs_grad(self) || of_chances)
    autograd::record(
        node, self, {self, of_chances ? chances : Tensor()}, {},
        [sizes = of_chances ? Dims(chances.sizes()) : Dims()](
            autograd::Backward& b, const Tensor& g) -> Tensors {
          return {zeros_like(g),
                  b.needs(1) ? zeros(sizes, TensorOptions(g)) : Tensor()};
        });
  self.bump_version();
  return self;
}

Tensor draw(const char* node, const Tensor& self, Generator* generator,
            const DrawAttributes& attributes) {
  autograd::check_inplace(self);
  check_no_overlap(self);
  if (self.numel() > 0)
    enqueue(kRandom, {write(self), update(chosen(generator, self))},
            attributes);
  return forget(node, self);
}

struct Limits {
  double lowest, largest;  // of all values
  int64_t last_exact;      // largest integer without gaps below it
};
Limits limits_of(DType dtype) {
  if (is_wide_unsigned(dtype)) {
    const uint64_t most = ~uint64_t{0} >> (64 - itemsize(dtype) * 8);
    return {0, double(most), int64_t(std::min(most, ~uint64_t{0} >> 1))};
  }
  Limits out{};
  visit_dtype(RealAndBoolTypes{}, dtype, "random_kernel_cpu", [&]<class T>() {
    using L = std::numeric_limits<T>;
    out.lowest = double(L::lowest());
    out.largest = double(L::max());
    if constexpr (std::is_same_v<T, Half>)
      out.last_exact = int64_t{1} << 11;
    else if constexpr (std::is_same_v<T, BFloat16>)
      out.last_exact = int64_t{1} << 8;
    else if constexpr (kIsFloating<T>)
      out.last_exact = int64_t{1} << L::digits;
    else
      out.last_exact = int64_t(L::max());
  });
  return out;
}

void check_range(const char* what, double value, const Tensor& self,
                 const Limits& limits) {
  HOTARU_CHECK(value >= limits.lowest && value <= limits.largest, what,
               " is out of bounds for ", cpp_type_name(self.dtype()));
}

/// PyTorch's warning of integers that the floats around them leave out.
void warn_of_gaps(const char* what, int64_t value, DType dtype,
                  const Limits& limits) {
  if (!is_floating_point(dtype)) return;
  if (value >= -limits.last_exact && value <= limits.last_exact) return;
  int digits = 0;
  while (limits.last_exact >> (digits + 1)) ++digits;
  const std::string last = std::to_string(digits);
  warn(std::string(what) + " is out of bounds [-(2^" + last + "), 2^" + last +
       "]. Due to precision limitations " + std::string(cpp_type_name(dtype)) +
       " can support discrete uniform distribution only within this range. "
       "This warning will become an error in version 1.7 release, please fix "
       "the code in advance");
}

void check_probability(const char* op, double p) {
  HOTARU_CHECK(p >= 0 && p <= 1, op,
               " expects p to be in [0, 1], but got p=", p);
}

}  // namespace

Tensor uniform_(const Tensor& self, double from, double to,
                Generator* generator) {
  if (self.dtype() == DType::kComplex32) {
    uniform_(view_as_real(make_alias(self)), from, to, generator);
    return self;
  }
  HOTARU_CHECK_AS(NotImplementedError, is_differentiable(self.dtype()),
                  "\"check_uniform_bounds\" not implemented for '",
                  scalar_type_name(self.dtype()), "'");
  const Limits limits = limits_of(to_real(self.dtype()));
  check_range("from", from, self, limits);
  check_range("to", to, self, limits);
  HOTARU_CHECK(from <= to,
               "uniform_ expects to return a [from, to) range, but found from=",
               from, " > to=", to);
  HOTARU_CHECK(to - from <= limits.largest,
               "uniform_ expects to-from <= std::numeric_limits<",
               cpp_type_name(self.dtype()), ">::max(), but found to=", to,
               " and from=", from, " which result in to-from to exceed the ",
               "limit");
  return draw("UniformBackward0", self, generator,
              {.draw = Draw::kUniform, .a = from, .b = to});
}

Tensor normal_(const Tensor& self, double mean, double std,
               Generator* generator) {
  HOTARU_CHECK(std >= 0, "normal expects std >= 0.0, but found std ", std);
  HOTARU_CHECK_AS(NotImplementedError, is_differentiable(self.dtype()),
                  "\"normal_kernel_cpu\" not implemented for '",
                  scalar_type_name(self.dtype()), "'");
  if (self.dtype() == DType::kComplex32) {
    normal_(view_as_real(make_alias(self)), mean, std * std::sqrt(0.5),
            generator);
    return self;
  }
  // Complex numbers have both parts around the mean, as in PyTorch.
  return draw("NormalBackward0", self, generator,
              {.draw = Draw::kNormal, .a = mean, .b = std});
}

Tensor exponential_(const Tensor& self, double lambda, Generator* generator) {
  HOTARU_CHECK(self.is_floating_point(),
               "Exponential distribution is a continuous probability "
               "distribution. dtype must be a floating point but you specified "
               "",
               scalar_type_name(self.dtype()));
  HOTARU_CHECK(lambda > 0, "exponential_ expects lambda > 0.0, but found ",
               "lambda=", lambda);
  return draw("ExponentialBackward0", self, generator,
              {.draw = Draw::kExponential, .a = lambda});
}

namespace {

Tensor cauchy_(const Tensor& self, double median, double sigma,
               Generator* generator) {
  HOTARU_CHECK(sigma > 0,
               "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  HOTARU_CHECK(self.is_floating_point(),
               "Cauchy distribution is a continuous probability distribution. "
               "dtype must be a floating point but you specified ",
               cpp_type_name(self.dtype()));
  return draw("CauchyBackward0", self, generator,
              {.draw = Draw::kCauchy, .a = median, .b = sigma});
}

Tensor log_normal_(const Tensor& self, double mean, double std,
                   Generator* generator) {
  HOTARU_CHECK(std > 0, "log_normal_ expects std > 0.0, but found std=", std);
  return draw("LogNormalBackward0", self, generator,
              {.draw = Draw::kLogNormal, .a = mean, .b = std});
}

Tensor geometric_(const Tensor& self, double p, Generator* generator) {
  HOTARU_CHECK(p > 0 && p < 1,
               "geometric_ expects p to be in (0, 1), but got p=", p);
  return draw("GeometricBackward0", self, generator,
              {.draw = Draw::kGeometric, .a = p});
}

HOTARU_OP(
    "cauchy_(Tensor(a!) self, float median=0., float sigma=1., *, Generator? "
    "generator=None) -> Tensor(a!)",
    cauchy_);
HOTARU_OP(
    "log_normal_(Tensor(a!) self, float mean=1., float std=2., *, Generator? "
    "generator=None) -> Tensor(a!)",
    log_normal_);
HOTARU_OP(
    "geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> "
    "Tensor(a!)",
    geometric_);

}  // namespace

Tensor bernoulli_(const Tensor& self, double p, Generator* generator) {
  check_probability("bernoulli_", p);
  return draw("BernoulliBackward2", self, generator,
              {.draw = Draw::kBernoulli, .a = p});
}

Tensor draw_kept_(const Tensor& self, double p, const Tensor& like) {
  return draw("BernoulliBackward2", self, nullptr,
              {.draw = Draw::kKept, .a = p, .range = itemsize(like.dtype())});
}

namespace {

/// Without looking at them where the host would have to wait for a device.
void check_chances(const Tensor& p) {
  constexpr const char* kText =
      "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this "
      "error message be improved?  If so, please report an enhancement request "
      "to PyTorch.)";
  if (requires_later(p))
    return require(all(logical_and(ge(p, Scalar(0)), le(p, Scalar(1)))), kText);
  const auto [lowest, highest] = host_range(p, "the check of probabilities");
  HOTARU_CHECK(lowest.to_double() >= 0 && highest.to_double() <= 1, kText);
}

}  // namespace

Tensor bernoulli_(const Tensor& self, const Tensor& p, Generator* generator) {
  HOTARU_CHECK_AS(NotImplementedError, p.is_floating_point(),
                  "\"bernoulli_tensor_cpu_p_\" not implemented for '",
                  scalar_type_name(p.dtype()), "'");
  autograd::check_inplace(self);
  check_no_overlap(self);
  {
    autograd::NoGrad guard;
    const DType dtype =
        p.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
    // Both dense in the same order, which is self's if it is dense itself.
    const Tensor like = empty_like(self);
    const Tensor wide =
        empty_strided(self.sizes(), like.strides(), {dtype, self.device()});
    copy_(wide, p);
    if (self.numel() > 0) {
      check_chances(wide);
      const bool direct = same(like.strides(), self.strides());
      const Tensor target = direct ? self : like;
      enqueue(kBernoulli,
              {write(target), read(wide), update(chosen(generator, self))});
      if (!direct) copy_(untracked(self), target);
    }
  }
  return forget("BernoulliBackward1", self, p);
}

Tensor random_(const Tensor& self, int64_t from, Optional<int64_t> to,
               Generator* generator) {
  HOTARU_CHECK(!self.is_complex(),
               "check_random_bounds handles only integral, floating-point and "
               "boolean types");
  const Limits limits = limits_of(self.dtype());
  HOTARU_CHECK(!to || from < *to,
               "random_ expects 'from' to be less than 'to', but got from=",
               from, " >= to=", to.value_or(0));
  check_range("from", double(from), self, limits);
  warn_of_gaps("from", from, self.dtype(), limits);
  // One past the last value; wraps to 0 for all of int64.
  uint64_t end = uint64_t(limits.last_exact) + 1;
  if (to) {
    check_range("to - 1", double(*to - 1), self, limits);
    warn_of_gaps("to - 1", *to - 1, self.dtype(), limits);
    end = uint64_t(*to);
  } else {
    HOTARU_CHECK(from <= limits.last_exact,
                 "random_ expects 'from' casted to dtype to be less than or "
                 "equal to 'to_inc' casted to dtype, but got from=",
                 from, " > to_inc=", limits.last_exact);
  }
  if (is_wide_unsigned(self.dtype())) {
    const Tensor wide = empty_strided(self.sizes(), empty_like(self).strides(),
                                      {DType::kInt64, self.device()});
    return copy_(self, draw("RandomBackward0", wide, generator,
                            {.draw = Draw::kInteger,
                             .range = end - uint64_t(from),
                             .from = from}));
  }
  return draw(
      "RandomBackward0", self, generator,
      {.draw = Draw::kInteger, .range = end - uint64_t(from), .from = from});
}

Tensor random_(const Tensor& self, Generator* generator) {
  return draw("RandomBackward2", self, generator, {.draw = Draw::kFullInteger});
}

namespace {

/// Writes by `fill` into a new tensor, which is no change of it: its version
/// stays that of a new one.
template <class F>
Tensor filled_by(F fill, const Tensor& out) {
  out.impl()->tracks_version = false;
  fill(out);
  out.impl()->tracks_version = true;
  return out;
}

}  // namespace

Tensor rand(IntSpan size, TensorOptions options, Generator* generator) {
  return filled_by([&](const Tensor& t) { uniform_(t, 0, 1, generator); },
                   empty(size, options));
}

Tensor randn(IntSpan size, TensorOptions options, Generator* generator) {
  return filled_by([&](const Tensor& t) { normal_(t, 0, 1, generator); },
                   empty(size, options));
}

Tensor randint(int64_t low, int64_t high, IntSpan size, TensorOptions options,
               Generator* generator) {
  if (!options.dtype) options.dtype = DType::kInt64;
  return filled_by([&](const Tensor& t) { random_(t, low, high, generator); },
                   empty(size, options));
}

Tensor randperm(int64_t n, TensorOptions options, Generator* generator) {
  if (!options.dtype) options.dtype = DType::kInt64;
  if (is_complex(*options.dtype) || *options.dtype == DType::kBool)
    refuse_dtype("randperm", *options.dtype);
  const Tensor out = empty(Dims{n}, options);
  const Limits limits = limits_of(*options.dtype);
  if (is_floating_point(*options.dtype))
    HOTARU_CHECK(n <= limits.last_exact + 1, "n cannot be greater than ",
                 limits.last_exact + 1, " for ",
                 scalar_type_name(*options.dtype), " type.");
  else
    check_converts(double(n) <= limits.largest,
                   concat(dtype_name(*options.dtype), "_t"));
  return draw("RandpermBackward0", out, generator,
              {.draw = Draw::kPermutation});
}

Tensor bernoulli(const Tensor& self, Generator* generator) {
  const Tensor out = row_major_like(self);
  bernoulli_(out, self, generator);
  if (autograd::needs_grad(self))
    autograd::record("BernoulliBackward0", out, {self}, {},
                     [](autograd::Backward&, const Tensor& g) -> Tensors {
                       return {zeros_like(g)};
                     });
  return out;
}

namespace {

constexpr const char* kNoWeights =
    "invalid multinomial distribution (sum of probabilities <= 0)";

/// The same of what multinomial() draws by, rows of weights. `several`: with
/// replacement, which PyTorch refuses in other words.
void check_weights(const Tensor& weights, bool several) {
  constexpr const char* kWhy = "the check of probabilities";
  constexpr const char* kBad =
      "probability tensor contains either `inf`, `nan` or element < 0";
  if (requires_later(weights)) {
    const Tensor good =
        all(logical_and(ge(weights, Scalar(0)), isfinite(weights)));
    require(good, kBad);
    // Only the first of both is said.
    const Tensor any = all(gt(sum(weights, Dims{-1}), Scalar(0)));
    return require(logical_or(any, logical_not(good)), kNoWeights);
  }
  const auto [lowest, largest] = host_range(weights, kWhy);
  if (several) {
    HOTARU_CHECK(!(lowest.to_double() < 0),
                 "invalid multinomial distribution (encountering probability "
                 "entry < 0)");
    HOTARU_CHECK(std::isfinite(largest.to_double()),
                 "invalid multinomial distribution (encountering probability "
                 "entry = infinity or NaN)");
  }
  HOTARU_CHECK(std::isfinite(largest.to_double()) && lowest.to_double() >= 0,
               kBad);
  HOTARU_CHECK(host_value(amin(sum(weights, Dims{-1})), kWhy).to_double() > 0,
               kNoWeights);
}

}  // namespace

Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement,
                   Generator* generator) {
  HOTARU_CHECK(self.is_floating_point(),
               "multinomial only supports floating-point dtypes for input, "
               "got: ",
               scalar_type_name(self.dtype()));
  HOTARU_CHECK(num_samples > 0, "cannot sample n_sample <= 0 samples");
  HOTARU_CHECK(self.dim() == 1 || self.dim() == 2,
               "prob_dist must be 1 or 2 dim");
  HOTARU_CHECK(replacement || num_samples <= self.size(-1),
               "cannot sample n_sample > prob_dist.size(-1) samples without "
               "replacement");
  HOTARU_CHECK(self.size(-1) <= int64_t{1} << 24,
               "number of categories cannot exceed 2^24");
  autograd::NoGrad guard;
  Dims shape(self.sizes());
  shape.back() = num_samples;
  const Tensor out = empty(shape, {DType::kInt64, self.device()});
  HOTARU_CHECK(out.numel() == 0 || self.numel() > 0, kNoWeights);
  if (self.numel() == 0) return out;
  const Tensor weights = contiguous(detach(self));
  check_weights(weights, replacement && num_samples > 1);
  if (!replacement || num_samples == 1) {
    // The order of exponential arrival times with these rates is a draw
    // without replacement (Efraimidis and Spirakis 2006).
    const Tensor times = exponential_(empty_like(self), 1, generator);
    const Tensor speed = contiguous(div(detach(self), times));
    return num_samples == 1 ? argmax(speed, -1, true)
                            : std::get<1>(topk(speed, num_samples, -1));
  }
  enqueue(kMultinomial,
          {write(out), read(weights), update(chosen(generator, self))});
  return out;
}

}  // namespace hotaru
