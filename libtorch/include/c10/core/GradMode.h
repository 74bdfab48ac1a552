// Gradient mode: whether operators of this thread record gradients.
#pragma once

#include "hotaru/autograd/grad_mode.h"

namespace c10 {

struct GradMode {
  static bool is_enabled() { return hotaru::autograd::grad_enabled(); }
  static void set_enabled(bool on) { hotaru::autograd::set_grad_enabled(on); }
};

/// On or off for a scope.
class AutoGradMode {
 public:
  explicit AutoGradMode(bool on) : mode_(on) {}

 private:
  hotaru::autograd::GradMode mode_;
};
struct NoGradGuard : AutoGradMode {
  NoGradGuard() : AutoGradMode(false) {}
};

/// For a scope, in which what is made is no part of any backward graph.
class InferenceMode {
 public:
  explicit InferenceMode(bool on = true)
      : was_(hotaru::inference_mode()), grad_(!on) {
    hotaru::set_inference_mode(on);
  }
  ~InferenceMode() { hotaru::set_inference_mode(was_); }
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;
  static bool is_enabled() { return hotaru::inference_mode(); }

 private:
  bool was_;
  hotaru::autograd::GradMode grad_;
};

}  // namespace c10

namespace torch::autograd {
using c10::InferenceMode;
}

namespace at {
using c10::AutoGradMode;
using c10::GradMode;
using c10::NoGradGuard;
}  // namespace at
