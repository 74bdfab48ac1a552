// Names of the random operators.
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory_schema.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/reduce/extremum.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/require.h"

namespace hotaru {
namespace {

using Gen = Generator*;

#define HOTARU_INTEGER_OPTIONS \
  "ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? " \
  "pin_memory=None) -> Tensor"
#define HOTARU_FLOATING_OPTIONS \
  "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? " \
  "pin_memory=None"

HOTARU_OP(
    "rand(SymInt[] size, *, " HOTARU_FLOATING_OPTIONS ") -> Tensor",
    +[](IntSpan size, HOTARU_OPTION_ARGS) {
      return rand(size, given_options(dtype, device));
    });
HOTARU_OP(
    "rand.generator(SymInt[] size, *, Generator? "
    "generator, " HOTARU_FLOATING_OPTIONS ") -> Tensor",
    +[](IntSpan size, Gen generator, HOTARU_OPTION_ARGS) {
      return rand(size, given_options(dtype, device), generator);
    });
HOTARU_OP(
    "randn(SymInt[] size, *, " HOTARU_FLOATING_OPTIONS ") -> Tensor",
    +[](IntSpan size, HOTARU_OPTION_ARGS) {
      return randn(size, given_options(dtype, device));
    });
HOTARU_OP(
    "randn.generator(SymInt[] size, *, Generator? "
    "generator, " HOTARU_FLOATING_OPTIONS ") -> Tensor",
    +[](IntSpan size, Gen generator, HOTARU_OPTION_ARGS) {
      return randn(size, given_options(dtype, device), generator);
    });
HOTARU_OP(
    "randint(SymInt high, SymInt[] size, *, " HOTARU_INTEGER_OPTIONS,
    +[](int64_t high, IntSpan size, HOTARU_OPTION_ARGS) {
      return randint(0, high, size, given_options(dtype, device));
    });
HOTARU_OP(
    "randint.generator(SymInt high, SymInt[] size, *, Generator? "
    "generator, " HOTARU_INTEGER_OPTIONS,
    +[](int64_t high, IntSpan size, Gen generator, HOTARU_OPTION_ARGS) {
      return randint(0, high, size, given_options(dtype, device), generator);
    });
HOTARU_OP(
    "randint.low(SymInt low, SymInt high, SymInt[] size, "
    "*, " HOTARU_INTEGER_OPTIONS,
    +[](int64_t low, int64_t high, IntSpan size, HOTARU_OPTION_ARGS) {
      return randint(low, high, size, given_options(dtype, device));
    });
HOTARU_OP(
    "randint.low_generator(SymInt low, SymInt high, SymInt[] size, *, "
    "Generator? generator, " HOTARU_INTEGER_OPTIONS,
    +[](int64_t low, int64_t high, IntSpan size, Gen generator,
        HOTARU_OPTION_ARGS) {
      return randint(low, high, size, given_options(dtype, device), generator);
    });
HOTARU_OP(
    "randperm(SymInt n, *, " HOTARU_INTEGER_OPTIONS,
    +[](int64_t n, HOTARU_OPTION_ARGS) {
      return randperm(n, given_options(dtype, device));
    });
HOTARU_OP(
    "randperm.generator(SymInt n, *, Generator? "
    "generator, " HOTARU_INTEGER_OPTIONS,
    +[](int64_t n, Gen generator, HOTARU_OPTION_ARGS) {
      return randperm(n, given_options(dtype, device), generator);
    });

#define HOTARU_LIKE_OPTIONS \
  HOTARU_FLOATING_OPTIONS ", MemoryFormat? memory_format=None) -> Tensor"

HOTARU_OP(
    "rand_like(Tensor self, *, " HOTARU_LIKE_OPTIONS,
    +[](const Tensor& self, HOTARU_OPTION_ARGS, const GivenFormat& format) {
      return uniform_(empty_like(self, dtype, device, format));
    });
HOTARU_OP(
    "rand_like.generator(Tensor self, *, Generator? "
    "generator, " HOTARU_LIKE_OPTIONS,
    +[](const Tensor& self, Gen generator, HOTARU_OPTION_ARGS,
        const GivenFormat& format) {
      return uniform_(empty_like(self, dtype, device, format), 0, 1, generator);
    });
HOTARU_OP(
    "randn_like(Tensor self, *, " HOTARU_LIKE_OPTIONS,
    +[](const Tensor& self, HOTARU_OPTION_ARGS, const GivenFormat& format) {
      return normal_(empty_like(self, dtype, device, format));
    });
HOTARU_OP(
    "randn_like.generator(Tensor self, *, Generator? "
    "generator, " HOTARU_LIKE_OPTIONS,
    +[](const Tensor& self, Gen generator, HOTARU_OPTION_ARGS,
        const GivenFormat& format) {
      return normal_(empty_like(self, dtype, device, format), 0, 1, generator);
    });

int64_t bound_of(const Tensor& high) {
  return host_value(high, "randint_like").to<int64_t>();
}
/// Integers of [low, high) in self's place.
Tensor integers_like(const Tensor& self, int64_t low, int64_t high,
                     Gen generator, Optional<DType> dtype,
                     Optional<Device> device, const GivenFormat& format) {
  return random_(empty_like(self, dtype, device, format), low, high, generator);
}
HOTARU_OP(
    "randint_like(Tensor self, SymInt high, *, " HOTARU_LIKE_OPTIONS,
    +[](const Tensor& self, int64_t high, HOTARU_OPTION_ARGS,
        const GivenFormat& format) {
      return integers_like(self, 0, high, nullptr, dtype, device, format);
    });
HOTARU_OP(
    "randint_like.generator(Tensor self, SymInt high, *, Generator? "
    "generator, " HOTARU_LIKE_OPTIONS,
    +[](const Tensor& self, int64_t high, Gen generator, HOTARU_OPTION_ARGS,
        const GivenFormat& format) {
      return integers_like(self, 0, high, generator, dtype, device, format);
    });
HOTARU_OP(
    "randint_like.low_dtype(Tensor self, SymInt low, SymInt high, "
    "*, " HOTARU_LIKE_OPTIONS,
    +[](const Tensor& self, int64_t low, int64_t high, HOTARU_OPTION_ARGS,
        const GivenFormat& format) {
      return integers_like(self, low, high, nullptr, dtype, device, format);
    });
HOTARU_OP(
    "randint_like.low_generator_dtype(Tensor self, SymInt low, SymInt high, "
    "*, Generator? generator, " HOTARU_LIKE_OPTIONS,
    +[](const Tensor& self, int64_t low, int64_t high, Gen generator,
        HOTARU_OPTION_ARGS, const GivenFormat& format) {
      return integers_like(self, low, high, generator, dtype, device, format);
    });
/// A tensor of one element as the bound, which PyTorch reads so, too.
HOTARU_OP(
    "randint_like.Tensor(Tensor self, Tensor high, *, " HOTARU_LIKE_OPTIONS,
    +[](const Tensor& self, const Tensor& high, HOTARU_OPTION_ARGS,
        const GivenFormat& format) {
      return integers_like(self, 0, bound_of(high), nullptr, dtype, device,
                           format);
    });
HOTARU_OP(
    "randint_like.Tensor_generator(Tensor self, Tensor high, *, Generator? "
    "generator, " HOTARU_LIKE_OPTIONS,
    +[](const Tensor& self, const Tensor& high, Gen generator,
        HOTARU_OPTION_ARGS, const GivenFormat& format) {
      return integers_like(self, 0, bound_of(high), generator, dtype, device,
                           format);
    });

HOTARU_OP(
    "uniform_(Tensor(a!) self, float from=0., float to=1., *, Generator? "
    "generator=None) -> Tensor(a!)",
    uniform_);
HOTARU_OP(
    "normal_(Tensor(a!) self, float mean=0., float std=1., *, Generator? "
    "generator=None) -> Tensor(a!)",
    normal_);
HOTARU_OP(
    "exponential_(Tensor(a!) self, float lambd=1., *, Generator? "
    "generator=None) -> Tensor(a!)",
    exponential_);
HOTARU_OP(
    "random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)",
    +[](const Tensor& self, Gen generator) {
      return random_(self, generator);
    });
HOTARU_OP(
    "random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> "
    "Tensor(a!)",
    +[](const Tensor& self, int64_t to, Gen generator) {
      return random_(self, 0, to, generator);
    });
HOTARU_OP(
    "random_.from(Tensor(a!) self, int from, int? to, *, Generator? "
    "generator=None) -> Tensor(a!)",
    +[](const Tensor& self, int64_t from, Optional<int64_t> to, Gen generator) {
      return random_(self, from, to, generator);
    });
HOTARU_OP(
    "bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? "
    "generator=None) -> Tensor(a!)",
    +[](const Tensor& self, double p, Gen generator) {
      return bernoulli_(self, p, generator);
    });
HOTARU_OP(
    "bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? "
    "generator=None) -> Tensor(a!)",
    +[](const Tensor& self, const Tensor& p, Gen generator) {
      return bernoulli_(self, p, generator);
    });
HOTARU_OP("bernoulli(Tensor self, *, Generator? generator=None) -> Tensor",
          bernoulli);
HOTARU_OP(
    "bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> "
    "Tensor",
    +[](const Tensor& self, double p, Gen generator) {
      return bernoulli_(row_major_like(self), p, generator);
    });
HOTARU_OP(
    "multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, "
    "Generator? generator=None) -> Tensor",
    multinomial);

/// Draws depend on their parameters by chance only: gradients are zero.
Tensor drawn(const char* name, const Tensor& out, const Tensors& parameters) {
  if (!autograd::needs_grad(parameters)) return out;
  std::vector<std::pair<Dims, TensorOptions>> like;
  for (const Tensor& t : parameters)
    like.emplace_back(t.sizes(), TensorOptions(t));
  autograd::record(name, Tensors{out}, parameters, {},
                   [like](autograd::Backward&, const Tensors&) -> Tensors {
                     Tensors grads;
                     for (const auto& [sizes, options] : like)
                       grads.push_back(zeros(sizes, options));
                     return grads;
                   });
  return out;
}

/// Standard draws stretched by std and moved by mean.
Tensor normal_around(const Tensor& mean, const Tensor& std, IntSpan shape,
                     const Tensor& model, Gen generator) {
  const autograd::NoGrad no_grad;
  HOTARU_CHECK(!std.is_complex(),
               "normal expects standard deviation to be non-complex");
  constexpr const char* kText = "normal expects all elements of std >= 0.0";
  if (std.numel() > 0 && requires_later(std))
    require(ge(amin(std), Scalar(0)), kText);
  else if (std.numel() > 0)
    HOTARU_CHECK(host_value(amin(std), "the check of std").to_double() >= 0,
                 kText);
  const Tensor draws =
      normal_(empty(shape, TensorOptions(model)), 0, 1, generator);
  return add(mul(draws, std), mean);
}

HOTARU_OP(
    "normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? "
    "generator=None) -> Tensor",
    +[](const Tensor& mean, const Tensor& std, Gen generator) {
      const Dims shape = broadcast_shapes(mean.sizes(), std.sizes());
      return drawn("NormalBackward3",
                   normal_around(mean, std, shape, mean, generator),
                   {mean, std});
    });
HOTARU_OP(
    "normal.float_Tensor(float mean, Tensor std, *, Generator? "
    "generator=None) -> Tensor",
    +[](double mean, const Tensor& std, Gen generator) {
      return drawn(
          "NormalBackward2",
          normal_around(wrapped_scalar(mean), std, std.sizes(), std, generator),
          {std});
    });
HOTARU_OP(
    "normal.Tensor_float(Tensor mean, float std=1., *, Generator? "
    "generator=None) -> Tensor",
    +[](const Tensor& mean, double std, Gen generator) {
      HOTARU_CHECK(std >= 0, "normal expects std >= 0.0, but found std ", std);
      Tensor out;
      {
        const autograd::NoGrad no_grad;
        const Tensor draws =
            normal_(empty(mean.sizes(), TensorOptions(mean)), 0, 1, generator);
        out = add(mul(draws, Scalar(std)), mean);
      }
      return drawn("NormalBackward1", out, {mean});
    });
HOTARU_OP(
    "normal.float_float(float mean, float std, SymInt[] size, *, Generator? "
    "generator=None, " HOTARU_FLOATING_OPTIONS ") -> Tensor",
    +[](double mean, double std, IntSpan size, Gen generator,
        HOTARU_OPTION_ARGS) {
      return normal_(empty(size, given_options(dtype, device)), mean, std,
                     generator);
    });

}  // namespace
}  // namespace hotaru
