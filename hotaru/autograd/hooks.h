// Functions that a backward pass calls on its way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace hotaru::autograd {

/// Takes a hook away again. May be called twice, and when what had the hook is
/// gone.
using RemoveHook = std::function<void()>;

/// Hooks in the order in which they came. Those that run may add hooks and
/// take some away, themselves too: what runs are those of now().
template <class Signature>
class Hooks {
 public:
  using Hook = std::function<Signature>;

  bool empty() const { return !list_ || list_->empty(); }

  /// `owned` is what the hook keeps alive, for those who look for cycles.
  RemoveHook add(Hook hook, std::shared_ptr<void> owned = nullptr) {
    if (!list_) list_ = std::make_shared<List>();
    const int64_t id = next_++;
    list_->push_back({id, std::move(hook), std::move(owned)});
    return [weak = std::weak_ptr<List>(list_), id] {
      const auto list = weak.lock();
      if (!list) return;
      const auto at = std::find_if(list->begin(), list->end(),
                                   [id](const Entry& e) { return e.id == id; });
      if (at == list->end()) return;
      const Entry gone = std::move(*at);  // may use the list as it goes
      list->erase(at);
    };
  }

  /// The hooks of this moment.
  std::vector<Hook> now() const {
    std::vector<Hook> out;
    if (list_)
      for (const Entry& entry : *list_) out.push_back(entry.hook);
    return out;
  }

  /// Calls f(const std::shared_ptr<void>&) for each object that the hooks own.
  template <class F>
  void each_owned(F f) const {
    if (list_)
      for (const Entry& entry : *list_) f(entry.owned);
  }

  void clear() { const auto gone = std::move(list_); }

 private:
  struct Entry {
    int64_t id;
    Hook hook;
    std::shared_ptr<void> owned;
  };
  using List = std::vector<Entry>;
  // Who can take a hook away knows the list and keeps nothing alive.
  std::shared_ptr<List> list_;
  int64_t next_ = 0;
};

}  // namespace hotaru::autograd
