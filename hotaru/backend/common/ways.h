// Tables of the algorithms of a family: which one a call takes.
#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "hotaru/core/dtype.h"
#include "hotaru/core/half.h"
#include "hotaru/runtime/ways.h"

namespace hotaru {

/// One algorithm. A family's table is a constant array of them, the best first;
/// a call takes the first row that serves it and pays, and the last row serves
/// every call. Nothing else decides, so thresholds stand beside the table.
template <class Call>
struct Way {
  std::string_view name, what;
  /// Needs of the algorithm, in words and as a question to a call; null: none.
  std::string_view needs;
  bool (*serves)(const Call&);
  /// From where on it is faster than the rows behind it; null: wherever it
  /// serves.
  std::string_view pays_for;
  bool (*pays)(const Call&);
  void (*run)(const Call&);
};

/// Runs a call by its row. The table is known to the compiler: questions are
/// compiled into the caller.
template <const auto& kWays, size_t kRow = 0, class Call>
inline void run_first(const Call& call) {
  constexpr auto& way = kWays[kRow];
  if constexpr (kRow + 1 < kWays.size()) {
    bool takes = true;
    if constexpr (way.serves != nullptr) takes = way.serves(call);
    if constexpr (way.pays != nullptr) takes = takes && way.pays(call);
    if (!takes) return run_first<kWays, kRow + 1>(call);
  }
  way.run(call);
}

namespace detail {

/// A row's answer to a call that it serves, and pays for, or not; `last` serves
/// every call.
[[gnu::noinline]] inline void answer(WayAnswers& answers, const WayAnswer& row,
                                     bool last, std::string_view lacks) {
  const bool taken =
      std::any_of(answers.begin(), answers.end(),
                  [](const WayAnswer& before) { return before.runs; });
  WayAnswer& made = answers.emplace_back(row);
  if (!taken && !last) made.why_not = lacks;
  made.runs = !taken && made.why_not.empty();
}

/// Need that a call lacks for a row; empty where it lacks nothing.
template <const auto& kWays, size_t kRow, class Call>
std::string_view lacks(const Call& call) {
  constexpr auto& way = kWays[kRow];
  constexpr std::string_view needs = way.needs, pays_for = way.pays_for;
  if constexpr (way.serves != nullptr)
    if (!way.serves(call)) return needs;
  if constexpr (way.pays != nullptr)
    if (!way.pays(call)) return pays_for;
  return {};
}

}  // namespace detail

/// Answers of every row to a call, which may have operands without memory. The
/// functions of rows are not mentioned, so that each is compiled once.
template <const auto& kWays, class Call>
WayAnswers explain(const Call& call) {
  WayAnswers answers;
  const auto add = [&]<size_t kRow>(std::integral_constant<size_t, kRow>) {
    constexpr std::string_view name = kWays[kRow].name, what = kWays[kRow].what;
    detail::answer(answers, {name, what, false, {}}, kRow + 1 == kWays.size(),
                   detail::lacks<kWays, kRow>(call));
  };
  [&]<size_t... kRows>(std::index_sequence<kRows...>) {
    (add(std::integral_constant<size_t, kRows>()), ...);
  }
  (std::make_index_sequence<kWays.size()>());
  return answers;
}

/// f<T>() for a type whose table is that of a dtype: integers have one, and
/// complex numbers.
template <class F>
void visit_ways(DType dtype, const F& f) {
  switch (dtype) {
    case DType::kFloat32:
      return f.template operator()<float>();
    case DType::kFloat64:
      return f.template operator()<double>();
    case DType::kFloat16:
      return f.template operator()<Half>();
    case DType::kBFloat16:
      return f.template operator()<BFloat16>();
    case DType::kComplex64:
    case DType::kComplex128:
      return f.template operator()<std::complex<float>>();
    default:
      return f.template operator()<int64_t>();
  }
}

/// One table behind another.
template <class Call, size_t kFirst, size_t kSecond>
constexpr auto joined(const std::array<Way<Call>, kFirst>& first,
                      const std::array<Way<Call>, kSecond>& second) {
  std::array<Way<Call>, kFirst + kSecond> all{};
  for (size_t i = 0; i < kFirst; ++i) all[i] = first[i];
  for (size_t i = 0; i < kSecond; ++i) all[kFirst + i] = second[i];
  return all;
}

}  // namespace hotaru
