#include "hotaru/autograd/grad_mode.h"

#include <utility>

#include "hotaru/core/inference/inference.h"

namespace hotaru::autograd {
namespace {

thread_local Modes current;

}  // namespace

bool grad_enabled() {
  return current.grad;
}
void set_grad_enabled(bool value) {
  current.grad = value;
}
bool inference_mode() {
  return hotaru::inference_mode();
}
void set_inference_mode(bool value) {
  hotaru::set_inference_mode(value);
}

bool forward_enabled() {
  return current.forward;
}
void set_forward_enabled(bool value) {
  current.forward = value;
}

Modes exchange_modes(Modes modes) {
  return std::exchange(current, modes);
}

}  // namespace hotaru::autograd
