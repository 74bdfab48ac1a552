#include "hotaru/exchange/picture/fold.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "hotaru/core/printing/concat.h"

namespace hotaru::exchange {
namespace {

using graph::Box;

// Calls that a repeated row may have.
constexpr size_t kMaxPeriod = 40;

/// Numbers in a name count as equal.
std::string without_digits(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) out += c;
    if (digit && (out.empty() || out.back() != '#')) out += '#';
  }
  return out;
}

/// "val_7 float32[4]" is about a value, whose name is not what counts.
std::string without_name(const std::string& note) {
  const size_t space = note.find(' ');
  const size_t bracket = note.find('[');
  const bool named =
      !note.empty() && std::isdigit(static_cast<unsigned char>(note[0])) == 0;
  if (!named || space == note.npos || bracket < space) return note;
  return without_digits(note.substr(0, space)) + note.substr(space);
}

/// Look of a box, as text; how it stands to others is not part of that.
std::string looks(const Box& box) {
  std::string out =
      concat(int(box.kind), '|', without_digits(box.name), '|', box.times);
  for (const std::string& note : box.notes) out += "|" + without_name(note);
  for (size_t n = 0; n < box.inside.size(); ++n) {
    out += "[";
    for (const size_t before : box.inside[n].after)
      out += concat(n - before, ',');
    out += concat(box.inside[n].takes, box.inside[n].gives,
                  looks(box.inside[n]), "]");
  }
  return out;
}

/// Rows that come again among siblings.
class Folder {
 public:
  explicit Folder(std::vector<Box> boxes) : boxes_(std::move(boxes)) {
    std::map<std::string, uint32_t> known;
    for (const Box& box : boxes_)
      kinds_.push_back(
          known.emplace(looks(box), uint32_t(known.size())).first->second);
  }

  std::vector<Box> run() {
    std::vector<Box> out;
    std::vector<size_t> place(boxes_.size());
    for (size_t n = 0; n < boxes_.size();) {
      const auto [period, times] = longest(n);
      const size_t end = n + period * times;
      Box box = times == 1 ? boxes_[n] : joined(n, period, times);
      box.after.clear();
      for (size_t i = n; i < end; ++i) {
        place[i] = out.size();
        for (const size_t before : boxes_[i].after)
          if (before < n) box.after.push_back(place[before]);
      }
      std::sort(box.after.begin(), box.after.end());
      box.after.erase(std::unique(box.after.begin(), box.after.end()),
                      box.after.end());
      out.push_back(std::move(box));
      n = end;
    }
    return out;
  }

 private:
  struct Run {
    size_t period, times;
  };

  /// The row that begins there and covers most; the shortest of such.
  Run longest(size_t n) const {
    Run best{1, 1};
    size_t covered = 1;
    for (size_t period = 1; period <= kMaxPeriod; ++period) {
      if (n + 2 * period > boxes_.size()) break;
      size_t times = 1;
      while (repeats(n, period, times)) ++times;
      if (times < 2 || period * times < least(n, period)) continue;
      if (period * times <= covered) continue;
      best = {period, times};
      covered = period * times;
    }
    return best;
  }

  /// Short rows of small boxes are as readable as they stand.
  size_t least(size_t n, size_t period) const {
    if (period > 1) return 6;
    return boxes_[n].inside.empty() ? 4 : 2;
  }

  /// Tells whether the row's kth repetition is like the one before it.
  bool repeats(size_t n, size_t period, size_t k) const {
    const size_t begin = n + k * period;
    if (begin + period > boxes_.size()) return false;
    for (size_t i = begin; i < begin + period; ++i) {
      if (kinds_[i] != kinds_[i - period]) return false;
      // The first repetition follows what is in another row.
      if (k > 1 && links(i, n) != links(i - period, n)) return false;
      if (!reaches_back_once(i, n, begin, period)) return false;
    }
    return k > 1 || inner_links(n, period) == inner_links(begin, period);
  }

  /// Behind the row by distance, before it by place.
  std::vector<size_t> links(size_t i, size_t n) const {
    std::vector<size_t> out;
    for (const size_t before : boxes_[i].after)
      out.push_back(before < n ? before : boxes_.size() + (i - before));
    std::sort(out.begin(), out.end());
    return out;
  }

  /// Links of a repetition to what it follows within itself.
  std::vector<std::pair<size_t, size_t>> inner_links(size_t begin,
                                                     size_t period) const {
    std::vector<std::pair<size_t, size_t>> out;
    for (size_t i = begin; i < begin + period; ++i)
      for (const size_t before : boxes_[i].after)
        if (before >= begin) out.emplace_back(i - begin, before - begin);
    return out;
  }

  /// True if a repetition follows, of the row, the one just before it at most.
  bool reaches_back_once(size_t i, size_t n, size_t begin,
                         size_t period) const {
    return std::all_of(
        boxes_[i].after.begin(), boxes_[i].after.end(),
        [&](size_t before) { return before < n || before + period >= begin; });
  }

  Box joined(size_t n, size_t period, size_t times) const {
    if (period == 1) {
      Box box = boxes_[n];
      const std::string& last = boxes_[n + times - 1].name;
      if (last != box.name) box.name += " … " + last;
      box.times *= times;
      for (size_t i = n; i < n + times; ++i) {
        box.takes = box.takes || boxes_[i].takes;
        box.gives = box.gives || boxes_[i].gives;
      }
      return box;
    }
    Box group{.kind = Box::Kind::kBlock, .name = "in a row"};
    group.times = times;
    for (size_t i = n; i < n + period; ++i) {
      Box box = boxes_[i];
      group.takes = group.takes || box.takes;
      const auto outside = [n](size_t before) { return before < n; };
      const size_t inner = box.after.size();
      std::erase_if(box.after, outside);
      box.takes = box.takes || box.after.size() < inner;
      for (size_t& before : box.after) before -= n;
      group.inside.push_back(std::move(box));
    }
    for (size_t i = n; i < n + period * times; ++i)
      group.gives = group.gives || boxes_[i].gives;
    mark_given(n, period, group);
    return group;
  }

  /// Marks what the next repetition or anybody behind the row reads.
  void mark_given(size_t n, size_t period, Box& group) const {
    for (size_t i = n + period; i < std::min(boxes_.size(), n + 2 * period);
         ++i)
      for (const size_t before : boxes_[i].after)
        if (before >= n && before < n + period)
          group.inside[before - n].gives = true;
  }

  std::vector<Box> boxes_;
  std::vector<uint32_t> kinds_;
};

}  // namespace

std::vector<Box> folded(std::vector<Box> boxes) {
  return Folder(std::move(boxes)).run();
}

}  // namespace hotaru::exchange
