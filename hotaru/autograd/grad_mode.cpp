#include "hotaru/autograd/grad_mode.h"

#include "hotaru/core/inference/inference.h"

namespace hotaru::autograd {
namespace {

thread_local bool enabled = true;
thread_local bool forward = true;

}  // namespace

bool grad_enabled() {
  return enabled;
}
void set_grad_enabled(bool value) {
  enabled = value;
}
bool inference_mode() {
  return hotaru::inference_mode();
}
void set_inference_mode(bool value) {
  hotaru::set_inference_mode(value);
}

bool forward_enabled() {
  return forward;
}
void set_forward_enabled(bool value) {
  forward = value;
}

}  // namespace hotaru::autograd
