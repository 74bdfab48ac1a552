// Whether operators of this thread record gradients.
#pragma once

namespace hotaru::autograd {

/// Per thread; on at first.
bool grad_enabled();
void set_grad_enabled(bool enabled);
/// Inference mode implies no gradients; kept apart so that it can be asked.
bool inference_mode();
void set_inference_mode(bool enabled);

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
struct NoGrad : GradMode {
  NoGrad() : GradMode(false) {}
};

}  // namespace hotaru::autograd
