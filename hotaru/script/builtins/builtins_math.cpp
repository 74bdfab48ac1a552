// Python's math module and rounding.
#include <cmath>
#include <numbers>
#include <numeric>
#include <tuple>

#include "hotaru/core/checks/check.h"
#include "hotaru/script/builtins/builtins.h"
#include "hotaru/script/types/python_errors.h"

namespace hotaru::script {

namespace {

struct Unary {
  const char* name;
  double (*function)(double);
};

const Unary kUnary[] = {
    {"sqrt", std::sqrt},    {"exp", std::exp},       {"expm1", std::expm1},
    {"log", std::log},      {"log1p", std::log1p},   {"log10", std::log10},
    {"log2", std::log2},    {"sin", std::sin},       {"cos", std::cos},
    {"tan", std::tan},      {"asin", std::asin},     {"acos", std::acos},
    {"atan", std::atan},    {"sinh", std::sinh},     {"cosh", std::cosh},
    {"tanh", std::tanh},    {"asinh", std::asinh},   {"acosh", std::acosh},
    {"atanh", std::atanh},  {"erf", std::erf},       {"erfc", std::erfc},
    {"gamma", std::tgamma}, {"lgamma", std::lgamma}, {"fabs", std::fabs},
};

void add_unary(BuiltinTable& table, const char* name,
               double (*function)(double)) {
  table.add(concat(name, ".int(int a) -> float"), function);
  table.add(concat(name, ".float(float a) -> float"), function);
}

// Half to even, like Python's round().
double round_even(double value) {
  return std::nearbyint(value);
}

int64_t to_int(double value) {
  constexpr double kLimit = 9223372036854775808.0;
  if (!(value >= -kLimit && value < kLimit)) fail_to_integer(value);
  return int64_t(value);
}

int64_t factorial(int64_t n) {
  HOTARU_CHECK_AS(ValueError, n >= 0 && n <= 20,
                  "factorial() takes integers from 0 to 20");
  int64_t result = 1;
  for (int64_t i = 2; i <= n; ++i) result *= i;
  return result;
}

void add_binary(BuiltinTable& table, const char* name,
                double (*function)(double, double)) {
  constexpr const char* kForms[] = {".int(int a, int b) -> float",
                                    ".float(float a, float b) -> float",
                                    ".int_float(int a, float b) -> float",
                                    ".float_int(float a, int b) -> float"};
  for (const char* form : kForms) table.add(concat(name, form), function);
}

}  // namespace

void add_math_builtins(BuiltinTable& table) {
  for (const Unary& unary : kUnary)
    add_unary(table, unary.name, unary.function);
  add_binary(
      table, "atan2", +[](double a, double b) { return std::atan2(a, b); });
  add_binary(
      table, "fmod", +[](double a, double b) { return std::fmod(a, b); });
  // Not remainder, which is the operator % has.
  add_binary(
      table, "mathremainder",
      +[](double a, double b) { return std::remainder(a, b); });
  add_binary(
      table, "copysign",
      +[](double a, double b) { return std::copysign(a, b); });
  add_binary(
      table, "log",
      +[](double a, double base) { return std::log(a) / std::log(base); });
  add_unary(
      table, "degrees", +[](double a) { return a * 180 / std::numbers::pi; });
  add_unary(
      table, "radians", +[](double a) { return a * std::numbers::pi / 180; });
  table.add(
      "modf(float a) -> (float, float)", +[](double a) {
        double whole = 0;
        const double rest = std::modf(a, &whole);
        return std::tuple(rest, whole);
      });
  table.add(
      "frexp(float a) -> (float, int)", +[](double a) {
        int exponent = 0;
        const double mantissa = std::frexp(a, &exponent);
        return std::tuple(mantissa, int64_t(exponent));
      });
  table.add(
      "ceil.float(float a) -> int",
      +[](double a) { return to_int(std::ceil(a)); });
  table.add(
      "floor.float(float a) -> int",
      +[](double a) { return to_int(std::floor(a)); });
  table.add("trunc.float(float a) -> int", &to_int);
  for (const char* name : {"ceil", "floor", "trunc"}) {
    table.add(
        concat(name, ".int(int a) -> int"), +[](int64_t a) { return a; });
  }
  table.add("round.float(float a) -> float", &round_even);
  table.add(
      "round.int(int a) -> float", +[](int64_t a) { return double(a); });
  table.add(
      "isnan.float(float a) -> bool", +[](double a) { return std::isnan(a); });
  table.add(
      "isinf.float(float a) -> bool", +[](double a) { return std::isinf(a); });
  table.add(
      "isfinite.float(float a) -> bool",
      +[](double a) { return std::isfinite(a); });
  table.add(
      "gcd.int(int a, int b) -> int", +[](int64_t a, int64_t b) {
        // Through unsigned: the absolute value of INT64_MIN has no int64.
        auto size = [](int64_t x) {
          return x < 0 ? 0 - uint64_t(x) : uint64_t(x);
        };
        return int64_t(std::gcd(size(a), size(b)));
      });
  table.add("factorial.int(int a) -> int", &factorial);
}

}  // namespace hotaru::script
