// Goes over the batches of a loader, once.
#pragma once

#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "c10/util/Exception.h"

namespace torch::data {

/// An input iterator; copies go on together. The first batch is asked for when
/// it is looked at.
template <class Batch>
class Iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Batch;
  using pointer = Batch*;
  using reference = Batch&;
  using iterator_category = std::input_iterator_tag;
  using Next = std::function<std::optional<Batch>()>;

  /// The end.
  Iterator() = default;
  explicit Iterator(Next next) : state_(std::make_shared<State>()) {
    state_->next = std::move(next);
  }

  Iterator& operator++() {
    TORCH_CHECK(state_,
                "Incrementing the DataLoader's past-the-end iterator is not "
                "allowed");
    TORCH_CHECK(!done(), "Attempted to increment iterator past the end");
    state_->batch = state_->next();
    return *this;
  }
  Batch& operator*() {
    TORCH_CHECK(state_,
                "Dereferencing the DataLoader's past-the-end iterator is not "
                "allowed");
    TORCH_CHECK(!done(),
                "Attempted to dereference iterator that was past the end");
    return *state_->batch;
  }
  Batch* operator->() { return &**this; }
  bool operator==(const Iterator& other) const {
    return state_ == other.state_ || (done() && other.done());
  }
  bool operator!=(const Iterator& other) const { return !(*this == other); }
  Iterator& begin() { return *this; }
  Iterator end() { return {}; }

 private:
  struct State {
    Next next;
    std::optional<Batch> batch;
    bool started = false;
  };
  bool done() const {
    if (!state_) return true;
    if (!std::exchange(state_->started, true)) state_->batch = state_->next();
    return !state_->batch;
  }

  std::shared_ptr<State> state_;
};

}  // namespace torch::data
