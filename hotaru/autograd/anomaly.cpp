#include "hotaru/autograd/anomaly.h"

#include <atomic>

namespace hotaru::autograd {
namespace {

std::atomic<bool> enabled{false}, checks_nan{true};
std::atomic<NotesMaker> maker{nullptr};
thread_local Node* running = nullptr;

}  // namespace

bool anomaly_enabled() {
  return enabled.load(std::memory_order_relaxed);
}
bool anomaly_checks_nan() {
  return checks_nan.load(std::memory_order_relaxed);
}
void set_anomaly(bool value, bool check_nan) {
  enabled = value;
  checks_nan = check_nan;
}

void set_notes_maker(NotesMaker value) {
  maker = value;
}

std::unique_ptr<NodeNotes> make_notes() {
  const NotesMaker make = anomaly_enabled() ? maker.load() : nullptr;
  return make ? make(running) : nullptr;
}

Node* running_node() {
  return running;
}

Running::Running(Node* node) : outer_(running) {
  running = node;
}
Running::~Running() {
  running = outer_;
}

}  // namespace hotaru::autograd
