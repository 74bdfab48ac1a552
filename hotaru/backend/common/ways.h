// Tables of the algorithms of a family: which one a call takes.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "hotaru/runtime/ways.h"

namespace hotaru {

/// One algorithm. A family's table is a constant array of them, the best first;
/// a call takes the first row that serves it and pays, and the last row serves
/// every call. Nothing else decides, so thresholds stand beside the table.
template <class Call>
struct Way {
  std::string_view name, what;
  /// What it needs, in words and as a question to a call; null: nothing.
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

/// What every row says to a call, which may have operands without memory.
template <class Call, size_t kCount>
WayAnswers explain(const std::array<Way<Call>, kCount>& ways,
                   const Call& call) {
  WayAnswers answers;
  bool taken = false;
  for (size_t i = 0; i < kCount; ++i) {
    const Way<Call>& way = ways[i];
    WayAnswer answer;
    answer.name = way.name;
    answer.what = way.what;
    if (!taken && i + 1 < kCount) {
      if (way.serves && !way.serves(call))
        answer.why_not = way.needs;
      else if (way.pays && !way.pays(call))
        answer.why_not = way.pays_for;
    }
    answer.runs = !taken && answer.why_not.empty();
    taken = taken || answer.runs;
    answers.push_back(answer);
  }
  return answers;
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
