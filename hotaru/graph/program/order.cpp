#include "hotaru/graph/program/order.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "hotaru/graph/capture/touch.h"

namespace hotaru::graph {
namespace {

constexpr uint32_t kNobody = UINT32_MAX;

/// Who wrote some bytes last, and who has read them since.
struct Users {
  uintptr_t end;
  uint32_t writer = kNobody;
  std::vector<uint32_t> readers;
};

/// The bytes of one storage, or of all memory, cut where somebody's begin or
/// end.
class Bytes {
 public:
  /// Adds whom the touch comes after.
  void find(const Touch& touch, std::vector<uint32_t>& after) {
    for_each(touch, [&](const Users& users) {
      if (users.writer != kNobody) after.push_back(users.writer);
      if (touch.writes)
        after.insert(after.end(), users.readers.begin(), users.readers.end());
    });
  }
  void add(const Touch& touch, uint32_t call) {
    for_each(touch, [&](Users& users) {
      if (!touch.writes) return users.readers.push_back(call);
      users.writer = call;
      users.readers.clear();
    });
  }

 private:
  template <class F>
  void for_each(const Touch& touch, const F& f) {
    if (touch.begin >= touch.end) return;
    cut(touch.begin);
    cut(touch.end);
    uintptr_t at = touch.begin;
    while (at < touch.end) {
      auto next = pieces_.lower_bound(at);
      if (next == pieces_.end() || next->first > at) {  // nobody's so far
        const uintptr_t end = next == pieces_.end()
                                  ? touch.end
                                  : std::min(touch.end, next->first);
        next = pieces_.emplace_hint(next, at, Users{end, kNobody, {}});
      }
      f(next->second);
      at = next->second.end;
    }
  }
  void cut(uintptr_t at) {
    auto after = pieces_.upper_bound(at);
    if (after == pieces_.begin()) return;
    auto& [begin, users] = *std::prev(after);
    if (begin == at || users.end <= at) return;
    Users upper = users;
    users.end = at;
    pieces_.emplace_hint(after, at, std::move(upper));
  }

  std::map<uintptr_t, Users> pieces_;
};

}  // namespace

CallOrder order_of(const Nodes& nodes) {
  CallOrder order(nodes.size());
  std::unordered_map<const Ordered*, Bytes> known;
  for (const auto& node : nodes) {
    const auto call = uint32_t(order.size());
    const Touches touches = touches_of(node->call());
    std::vector<uint32_t> after;
    for (const Touch& touch : touches) known[touch.what].find(touch, after);
    for (const Touch& touch : touches) known[touch.what].add(touch, call);
    order.add(std::move(after));
  }
  return order;
}

}  // namespace hotaru::graph
