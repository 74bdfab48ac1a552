// The older windows of signals, by the steps of Python's (_functions/windows).
#include <numbers>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/create/factory_schema.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/script/builtins/builtins.h"

namespace hotaru::script {

namespace {

/// `formula(points, n)` of the points 0 to n - 1 in the window's dtype.
template <class Formula>
Tensor window(std::string_view name, int64_t length, bool periodic,
              Optional<DType> dtype, Optional<Device> device,
              const Formula& formula) {
  TensorOptions options = given_options(dtype, device);
  options.dtype = options.dtype ? *options.dtype : default_dtype();
  HOTARU_CHECK(
      is_floating_point(*options.dtype) || is_complex(*options.dtype), name,
      " expects floating point dtypes, got: ", dtype_name(*options.dtype));
  HOTARU_CHECK(
      length >= 0, name,
      " requires non-negative window_length, got window_length=", length);
  const autograd::NoGrad guard;
  if (length < 2) return ones({&length, 1}, options);
  const int64_t n = periodic ? length + 1 : length;
  Tensor out = formula(arange(0, n, 1, options), n);
  return periodic ? clone(slice(out, 0, 0, length, 1)) : out;
}

Tensor bartlett(const Tensor& at, int64_t n) {
  const Tensor points = mul(at, 2.0 / double(n - 1));
  const int64_t half = (n - 1) / 2 + 1;
  return cat({slice(points, 0, 0, half, 1),
              rsub(slice(points, 0, half, n, 1), Scalar(int64_t{2}))});
}

Tensor blackman(const Tensor& at, int64_t n) {
  const Tensor points = mul(at, std::numbers::pi / double(n - 1));
  const Tensor fast = mul(cos(mul(points, int64_t{4})), 0.08);
  return add(sub(fast, mul(cos(mul(points, int64_t{2})), 0.5)), 0.42);
}

auto raised_cosine(double alpha, double beta) {
  return [alpha, beta](const Tensor& points, int64_t n) {
    const Tensor angle = mul(points, 2 * std::numbers::pi / double(n - 1));
    return add(mul(cos(angle), -beta), alpha);
  };
}

// The modified Bessel function I0 by its power series, as Python's.
Tensor bessel_i0(const Tensor& x, double most) {
  const Tensor quarter = div(mul(x, x), Scalar(int64_t{4}));
  const Tensor one = ones_like(x);
  Tensor found = one;
  for (int64_t k = int64_t(1.5 * most) + 29; k > 0; --k)
    found = addcmul(one, quarter, found, 1.0 / double(k * k));
  return found;
}

auto kaiser(double beta) {
  return [beta](const Tensor& points, int64_t n) {
    const double middle = double(n - 1) / 2;
    const Tensor wide = div(sub(to(points, DType::kFloat64), middle), middle);
    const Tensor rest = rsub(mul(wide, wide), Scalar(int64_t{1}));
    const Tensor inside = mul(sqrt(clamp(rest, Scalar(0.0), {})), beta);
    const double most = beta < 0 ? -beta : beta;
    const TensorOptions exact(DType::kFloat64, points.device());
    const Tensor top = bessel_i0(full({}, beta, exact), most);
    return to(div(bessel_i0(inside, most), top), points.dtype());
  };
}

constexpr const char* kOptions = HOTARU_OPTIONS ") -> Tensor";

/// Forms of a window that take nothing but its length.
template <class Window>
void add_plain(BuiltinTable& table) {
  table.add(
      concat(Window::kName, "(int window_length, ", kOptions),
      +[](int64_t length, HOTARU_OPTION_ARGS) {
        return window(Window::kName, length, true, dtype, device,
                      &Window::formula);
      });
  table.add(
      concat(Window::kName, ".periodic(int window_length, bool periodic, ",
             kOptions),
      +[](int64_t length, bool periodic, HOTARU_OPTION_ARGS) {
        return window(Window::kName, length, periodic, dtype, device,
                      &Window::formula);
      });
}

struct Bartlett {
  static constexpr const char* kName = "bartlett_window";
  static Tensor formula(const Tensor& points, int64_t n) {
    return bartlett(points, n);
  }
};

struct Blackman {
  static constexpr const char* kName = "blackman_window";
  static Tensor formula(const Tensor& points, int64_t n) {
    return blackman(points, n);
  }
};

struct Hann {
  static constexpr const char* kName = "hann_window";
  static Tensor formula(const Tensor& points, int64_t n) {
    return raised_cosine(0.5, 0.5)(points, n);
  }
};

struct Hamming {
  static constexpr const char* kName = "hamming_window";
  static Tensor formula(const Tensor& points, int64_t n) {
    return raised_cosine(0.54, 0.46)(points, n);
  }
};

struct Kaiser {
  static constexpr const char* kName = "kaiser_window";
  static Tensor formula(const Tensor& points, int64_t n) {
    return kaiser(12.0)(points, n);
  }
};

}  // namespace

void add_window_builtins(BuiltinTable& table) {
  add_plain<Bartlett>(table);
  add_plain<Blackman>(table);
  add_plain<Hann>(table);
  add_plain<Hamming>(table);
  add_plain<Kaiser>(table);
  table.add(
      concat("hamming_window.periodic_alpha(int window_length, bool periodic, "
             "float alpha, ",
             kOptions),
      +[](int64_t length, bool periodic, double alpha, HOTARU_OPTION_ARGS) {
        return window("hamming_window", length, periodic, dtype, device,
                      raised_cosine(alpha, 0.46));
      });
  table.add(
      concat("hamming_window.periodic_alpha_beta(int window_length, bool "
             "periodic, float alpha, float beta, ",
             kOptions),
      +[](int64_t length, bool periodic, double alpha, double beta,
          HOTARU_OPTION_ARGS) {
        return window("hamming_window", length, periodic, dtype, device,
                      raised_cosine(alpha, beta));
      });
  table.add(
      concat(
          "kaiser_window.beta(int window_length, bool periodic, float beta, ",
          kOptions),
      +[](int64_t length, bool periodic, double beta, HOTARU_OPTION_ARGS) {
        return window("kaiser_window", length, periodic, dtype, device,
                      kaiser(beta));
      });
}

}  // namespace hotaru::script
