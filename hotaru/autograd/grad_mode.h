// Switches of a thread: its operators record gradients and pass tangents on.
#pragma once

#include "hotaru/core/inference/inference.h"

namespace hotaru::autograd {

/// Per thread; on at first.
bool grad_enabled();
void set_grad_enabled(bool enabled);
/// Tells whether tangents are passed on. Per thread; on at first.
bool forward_enabled();
void set_forward_enabled(bool enabled);
/// Inference mode implies no gradients; kept apart so that it can be asked.
using hotaru::inference_mode;
using hotaru::set_inference_mode;

/// Both switches of a thread.
struct Modes {
  bool grad = true, forward = true;
};
/// Sets both and returns what they were.
Modes exchange_modes(Modes modes);

/// Turns recording off (or on) for a scope.
class GradMode {
 public:
  explicit GradMode(bool enabled) : previous_(grad_enabled()) {
    set_grad_enabled(enabled);
  }
  ~GradMode() { set_grad_enabled(previous_); }
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;

 private:
  bool previous_;
};

/// Turns the passing on of tangents off (or on) for a scope.
class ForwardMode {
 public:
  explicit ForwardMode(bool enabled) : previous_(forward_enabled()) {
    set_forward_enabled(enabled);
  }
  ~ForwardMode() { set_forward_enabled(previous_); }
  ForwardMode(const ForwardMode&) = delete;
  ForwardMode& operator=(const ForwardMode&) = delete;

 private:
  bool previous_;
};

/// For what an operator does by itself: neither gradients nor tangents.
class NoGrad {
 public:
  NoGrad() : previous_(exchange_modes({false, false})) {}
  ~NoGrad() { exchange_modes(previous_); }
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  Modes previous_;
};

}  // namespace hotaru::autograd
