// Arithmetic and comparison of numbers, and conversions between them.
#include <charconv>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <type_traits>

#include "hotaru/core/checks/check.h"
#include "hotaru/script/builtins/builtins.h"
#include "hotaru/script/run/interpreter.h"
#include "hotaru/script/types/enum_type.h"
#include "hotaru/script/types/python_errors.h"

namespace hotaru::script {

namespace {

using Complex = std::complex<double>;

// Python's rounding towards minus infinity.
int64_t floor_div(int64_t a, int64_t b) {
  HOTARU_CHECK(b != 0, "ZeroDivisionError: integer division or modulo by zero");
  if (b == -1) return int64_t(-uint64_t(a));
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t floor_mod(int64_t a, int64_t b) {
  HOTARU_CHECK(b != 0, "ZeroDivisionError: integer division or modulo by zero");
  if (b == -1) return 0;
  int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// The rest has the divisor's sign, a zero too.
double floor_mod(double a, double b) {
  HOTARU_CHECK(b != 0, "ZeroDivisionError: float modulo");
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

// By the rest, as Python has it: 1.0 // 0.1 is 9, though 1.0 / 0.1 is 10.
double floor_div(double a, double b) {
  HOTARU_CHECK(b != 0, "ZeroDivisionError: float floor division by zero");
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

double true_div(double a, double b) {
  HOTARU_CHECK(b != 0, "ZeroDivisionError: division by zero");
  return a / b;
}

int64_t shift_left(int64_t a, int64_t b) {
  HOTARU_CHECK_AS(ValueError, b >= 0, "negative shift count");
  return b > 63 ? 0 : int64_t(uint64_t(a) << b);
}

int64_t shift_right(int64_t a, int64_t b) {
  HOTARU_CHECK_AS(ValueError, b >= 0, "negative shift count");
  return a >> (b > 63 ? 63 : b);
}

// Wraps around like every integer operation here.
int64_t int_power(int64_t base, int64_t exponent) {
  HOTARU_CHECK_AS(ValueError, exponent >= 0,
                  "integers to negative powers need a float base");
  uint64_t result = 1;
  uint64_t factor = uint64_t(base);
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= factor;
    factor *= factor;
  }
  return int64_t(result);
}

template <class F>
Scalar of_reals(const Scalar& a, const Scalar& b, F apply) {
  if (a.is_integral() && b.is_integral()) return apply(a.to_int(), b.to_int());
  return apply(a.to_double(), b.to_double());
}

template <class F>
Scalar mixed(const Scalar& a, const Scalar& b, F apply) {
  if (a.is_complex() || b.is_complex())
    return apply(a.to_complex(), b.to_complex());
  return of_reals(a, b, apply);
}

/// Adds F{}(Complex, Complex), of type `result`, of two complex numbers and of
/// one and a real one.
template <class F>
void add_complex(BuiltinTable& table, const std::string& name,
                 const char* result) {
  constexpr const char* kForms[] = {
      ".complex(complex a, complex b)", ".complex_float(complex a, float b)",
      ".complex_int(complex a, int b)", ".float_complex(float a, complex b)",
      ".int_complex(int a, complex b)"};
  for (const char* form : kForms) {
    table.add(
        concat(name, form, " -> ", result), +[](Value a, Value b) {
          return F{}(a.as_scalar().to_complex(), b.as_scalar().to_complex());
        });
  }
}

/// The four ways to mix int and float, those with complex numbers, and any
/// numbers. F is an operator functor such as std::plus<>.
template <class F>
void add_arithmetic(BuiltinTable& table, const std::string& name) {
  table.add(
      name + ".int(int a, int b) -> int", +[](int64_t a, int64_t b) {
        return int64_t(F{}(uint64_t(a), uint64_t(b)));
      });
  auto floats = +[](double a, double b) { return F{}(a, b); };
  table.add(name + ".float(float a, float b) -> float", floats);
  table.add(name + ".int_float(int a, float b) -> float", floats);
  table.add(name + ".float_int(float a, int b) -> float", floats);
  add_complex<F>(table, name, "complex");
  table.add(
      name + "(Scalar a, Scalar b) -> Scalar",
      +[](const Scalar& a, const Scalar& b) {
        return mixed(a, b, [](auto x, auto y) -> Scalar { return F{}(x, y); });
      });
}

template <class F>
void add_comparison(BuiltinTable& table, const std::string& name) {
  table.add(
      name + ".int(int a, int b) -> bool",
      +[](int64_t a, int64_t b) { return F{}(a, b); });
  auto floats = +[](double a, double b) { return F{}(a, b); };
  table.add(name + ".float(float a, float b) -> bool", floats);
  table.add(name + ".int_float(int a, float b) -> bool", floats);
  table.add(name + ".float_int(float a, int b) -> bool", floats);
  constexpr bool kOfComplex = std::is_invocable_v<F, Complex, Complex>;
  if constexpr (kOfComplex) add_complex<F>(table, name, "bool");
  table.add(
      name + "(Scalar a, Scalar b) -> bool",
      +[](const Scalar& a, const Scalar& b) {
        if constexpr (kOfComplex) {
          if (a.is_complex() || b.is_complex())
            return F{}(a.to_complex(), b.to_complex());
        }
        if (a.is_integral() && b.is_integral())
          return F{}(a.to_int(), b.to_int());
        return F{}(a.to_double(), b.to_double());
      });
  table.add(
      name + ".str(str a, str b) -> bool",
      +[](const std::string& a, const std::string& b) { return F{}(a, b); });
}

template <class F>
void add_equality(BuiltinTable& table, const std::string& name) {
  table.add(
      name + ".bool(bool a, bool b) -> bool",
      +[](bool a, bool b) { return F{}(a, b); });
  table.add(
      name + ".device(Device a, Device b) -> bool",
      +[](Device a, Device b) { return F{}(a, b); });
  table.add(
      name + ".enum(AnyEnumType a, AnyEnumType b) -> bool",
      +[](Value a, Value b) { return F{}(same_member(a, b), true); });
}

template <class F>
void add_bitwise(BuiltinTable& table, const std::string& name) {
  table.add(
      name + ".int(int a, int b) -> int",
      +[](int64_t a, int64_t b) { return F{}(a, b); });
  table.add(
      name + ".bool(bool a, bool b) -> bool",
      +[](bool a, bool b) { return bool(F{}(int(a), int(b))); });
}

struct Least {
  template <class T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Greatest {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

template <class F>
void add_extremum(BuiltinTable& table, const std::string& name) {
  table.add(
      name + ".int(int a, int b) -> int",
      +[](int64_t a, int64_t b) { return F{}(a, b); });
  auto floats = +[](double a, double b) { return F{}(a, b); };
  table.add(name + ".float(float a, float b) -> float", floats);
  table.add(name + ".int_float(int a, float b) -> float", floats);
  table.add(name + ".float_int(float a, int b) -> float", floats);
  table.add(
      name + "(Scalar a, Scalar b) -> Scalar",
      +[](const Scalar& a, const Scalar& b) {
        return of_reals(a, b,
                        [](auto x, auto y) -> Scalar { return F{}(x, y); });
      });
}

void add_division(BuiltinTable& table) {
  auto div = +[](double a, double b) { return true_div(a, b); };
  table.add("div.int(int a, int b) -> float", div);
  table.add("div.float(float a, float b) -> float", div);
  table.add("div.int_float(int a, float b) -> float", div);
  table.add("div.float_int(float a, int b) -> float", div);
  add_complex<std::divides<>>(table, "div", "complex");
  table.add(
      "div(Scalar a, Scalar b) -> Scalar",
      +[](const Scalar& a, const Scalar& b) -> Scalar {
        if (a.is_complex() || b.is_complex())
          return a.to_complex() / b.to_complex();
        return true_div(a.to_double(), b.to_double());
      });
  auto int_div = +[](int64_t a, int64_t b) { return floor_div(a, b); };
  auto float_div = +[](double a, double b) { return floor_div(a, b); };
  auto int_mod = +[](int64_t a, int64_t b) { return floor_mod(a, b); };
  auto float_mod = +[](double a, double b) { return floor_mod(a, b); };
  table.add("floordiv.int(int a, int b) -> int", int_div);
  table.add("remainder.int(int a, int b) -> int", int_mod);
  table.add(
      "floordiv(Scalar a, Scalar b) -> Scalar",
      +[](const Scalar& a, const Scalar& b) {
        return of_reals(
            a, b, [](auto x, auto y) -> Scalar { return floor_div(x, y); });
      });
  table.add(
      "remainder(Scalar a, Scalar b) -> Scalar",
      +[](const Scalar& a, const Scalar& b) {
        return of_reals(
            a, b, [](auto x, auto y) -> Scalar { return floor_mod(x, y); });
      });
  constexpr const char* kFloat[][2] = {{".float(float a, float b)", ""},
                                       {".int_float(int a, float b)", ""},
                                       {".float_int(float a, int b)", ""}};
  for (const auto& form : kFloat) {
    table.add(concat("floordiv", form[0], " -> float"), float_div);
    table.add(concat("remainder", form[0], " -> float"), float_mod);
  }
  table.add(
      "divmod.int(int x, int y) -> (int, int)", +[](int64_t a, int64_t b) {
        return std::tuple(floor_div(a, b), floor_mod(a, b));
      });
  table.add(
      "divmod.float(float x, float y) -> (float, float)",
      +[](double a, double b) {
        return std::tuple(floor_div(a, b), floor_mod(a, b));
      });
  table.add(
      "divmod.Scalar(Scalar x, Scalar y) -> (Scalar, Scalar)",
      +[](const Scalar& a, const Scalar& b) {
        const auto both = [&](auto f) { return of_reals(a, b, f); };
        return std::tuple(
            both([](auto x, auto y) -> Scalar { return floor_div(x, y); }),
            both([](auto x, auto y) -> Scalar { return floor_mod(x, y); }));
      });
}

// As in Python, where the C library's formula gives NaN or nothing.
struct ComplexPower {
  Complex operator()(Complex base, Complex exponent) const {
    if (exponent == Complex()) return 1;
    if (base != Complex()) return std::pow(base, exponent);
    HOTARU_CHECK(exponent.imag() == 0 && exponent.real() > 0,
                 "0.0 cannot be raised to a negative or complex power");
    return 0;
  }
};

void add_powers(BuiltinTable& table) {
  auto power = +[](double a, double b) {
    HOTARU_CHECK(a != 0 || !(b < 0),
                 "0.0 cannot be raised to a negative power");
    return std::pow(a, b);
  };
  // int ** int is a float in TorchScript.
  table.add("pow.int(int a, int b) -> float", power);
  table.add("pow.float(float a, float b) -> float", power);
  table.add("pow.int_float(int a, float b) -> float", power);
  table.add("pow.float_int(float a, int b) -> float", power);
  add_complex<ComplexPower>(table, "pow", "complex");
  table.add(
      "pow.int_to_int(int a, int b) -> int",
      +[](int64_t a, int64_t b) { return int_power(a, b); });
}

void add_unary(BuiltinTable& table) {
  table.add(
      "neg.int(int a) -> int",
      +[](int64_t a) { return int64_t(-uint64_t(a)); });
  table.add(
      "neg.float(float a) -> float", +[](double a) { return -a; });
  table.add(
      "neg.complex(complex a) -> complex",
      +[](Value a) { return -a.as_complex(); });
  table.add(
      "neg.Scalar(Scalar a) -> Scalar", +[](const Scalar& a) { return -a; });
  table.add(
      "abs.int(int a) -> int",
      +[](int64_t a) { return a < 0 ? int64_t(-uint64_t(a)) : a; });
  table.add(
      "abs.float(float a) -> float", +[](double a) { return std::fabs(a); });
  table.add(
      "abs.complex(complex a) -> float",
      +[](Value a) { return std::abs(a.as_complex()); });
  table.add(
      "abs.Scalar(Scalar a) -> Scalar", +[](const Scalar& a) -> Scalar {
        if (a.is_complex()) return std::abs(a.to_complex());
        if (!a.is_integral()) return std::fabs(a.to_double());
        return a.to_int() < 0 ? -a : a;
      });
  table.add(
      "bitwise_not.int(int a) -> int", +[](int64_t a) { return ~a; });
  table.add(
      "__not__(bool self) -> bool", +[](bool a) { return !a; });
  table.add(
      "__range_length(int lo, int hi, int step) -> int",
      +[](int64_t lo, int64_t hi, int64_t step) -> int64_t {
        HOTARU_CHECK_AS(ValueError, step != 0,
                        "range() arg 3 must not be zero");
        if (step > 0 ? lo >= hi : lo <= hi) return 0;
        // Unsigned: hi - lo may exceed int64.
        uint64_t span = step > 0 ? uint64_t(hi) - uint64_t(lo)
                                 : uint64_t(lo) - uint64_t(hi);
        uint64_t stride = step > 0 ? uint64_t(step) : 0 - uint64_t(step);
        return int64_t(std::min<uint64_t>((span - 1) / stride + 1, INT64_MAX));
      });
  table.add(
      "__derive_index(int index, int start, int step) -> int",
      +[](int64_t index, int64_t start, int64_t step) {
        return int64_t(uint64_t(start) + uint64_t(index) * uint64_t(step));
      });
}

double parse_double(const std::string& text) {
  size_t begin = text.find_first_not_of(" \t\n");
  size_t end = text.find_last_not_of(" \t\n");
  if (begin != std::string::npos) {
    std::string trimmed = text.substr(begin, end - begin + 1);
    char* stop = nullptr;
    double value = std::strtod(trimmed.c_str(), &stop);
    if (*stop == '\0') return value;
  }
  fail<ValueError>("could not convert string to float: '", text, "'");
}

int64_t parse_int(const std::string& text) {
  int64_t value = 0;
  size_t begin = text.find_first_not_of(" \t\n");
  size_t end = text.find_last_not_of(" \t\n");
  if (begin != std::string::npos) {
    const char* first = text.data() + begin + (text[begin] == '+' ? 1 : 0);
    const char* last = text.data() + end + 1;
    auto [stop, error] = std::from_chars(first, last, value);
    if (error == std::errc() && stop == last) return value;
  }
  fail<ValueError>("invalid literal for int() with base 10: '", text, "'");
}

int64_t truncated(double value) {
  if (std::isnan(value)) fail_to_integer<ValueError>("NaN");
  constexpr double kLimit = 9223372036854775808.0;
  if (!(value >= -kLimit && value < kLimit)) fail_to_integer(value);
  return int64_t(value);
}

void add_conversions(BuiltinTable& table) {
  table.add(
      "Int.int(int a) -> int", +[](int64_t a) { return a; });
  table.add(
      "Int.bool(bool a) -> int", +[](bool a) { return int64_t{a}; });
  table.add("Int.float(float a) -> int", &truncated);
  table.add(
      "Int.Scalar(Scalar a) -> int", +[](const Scalar& a) {
        return a.is_integral() ? a.to_int() : truncated(a.to_double());
      });
  table.add("Int.str(str a) -> int", &parse_int);
  table.add(
      "Float.float(float a) -> float", +[](double a) { return a; });
  table.add(
      "Float.int(int a) -> float", +[](int64_t a) { return double(a); });
  table.add(
      "Float.bool(bool a) -> float", +[](bool a) { return a ? 1.0 : 0.0; });
  table.add(
      "Float.Scalar(Scalar a) -> float",
      +[](const Scalar& a) { return a.to_double(); });
  table.add("Float.str(str a) -> float", &parse_double);
  table.add(
      "Bool.bool(bool a) -> bool", +[](bool a) { return a; });
  table.add(
      "Bool.int(int a) -> bool", +[](int64_t a) { return a != 0; });
  table.add(
      "Bool.float(float a) -> bool", +[](double a) { return a != 0; });
  table.add(
      "Bool.Scalar(Scalar a) -> bool",
      +[](const Scalar& a) { return a.to_complex() != Complex(0, 0); });
  table.add(
      "Complex.Scalar(Scalar a) -> complex",
      +[](const Scalar& a) { return a.to_complex(); });
  table.add(
      "Complex(Scalar a, Scalar b) -> complex",
      +[](const Scalar& a, const Scalar& b) {
        return Complex(a.to_double(), b.to_double());
      });
}

}  // namespace

void add_number_builtins(BuiltinTable& table) {
  add_arithmetic<std::plus<>>(table, "add");
  add_arithmetic<std::minus<>>(table, "sub");
  add_arithmetic<std::multiplies<>>(table, "mul");
  add_comparison<std::equal_to<>>(table, "eq");
  add_comparison<std::not_equal_to<>>(table, "ne");
  add_comparison<std::less<>>(table, "lt");
  add_comparison<std::greater<>>(table, "gt");
  add_comparison<std::less_equal<>>(table, "le");
  add_comparison<std::greater_equal<>>(table, "ge");
  add_equality<std::equal_to<>>(table, "eq");
  add_equality<std::not_equal_to<>>(table, "ne");
  add_bitwise<std::bit_and<>>(table, "__and__");
  add_bitwise<std::bit_or<>>(table, "__or__");
  add_bitwise<std::bit_xor<>>(table, "__xor__");
  table.add("__lshift__.int(int a, int b) -> int", &shift_left);
  table.add("__rshift__.int(int a, int b) -> int", &shift_right);
  add_extremum<Least>(table, "min");
  add_extremum<Greatest>(table, "max");
  add_division(table);
  add_powers(table);
  add_unary(table);
  add_conversions(table);
}

}  // namespace hotaru::script
