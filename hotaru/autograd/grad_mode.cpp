#include "hotaru/autograd/grad_mode.h"

#include <utility>

namespace hotaru::autograd {
namespace {

constinit thread_local Modes current;

}  // namespace

bool grad_enabled() {
  return current.grad;
}
void set_grad_enabled(bool value) {
  current.grad = value;
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
