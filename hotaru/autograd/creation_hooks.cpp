#include "hotaru/autograd/creation_hooks.h"

#include <utility>
#include <vector>

#include "hotaru/core/checks/check.h"

namespace hotaru::autograd {
namespace {

thread_local std::vector<CreationHook> hooks;
// Their number: a word of its own needs no guard where it is read.
constinit thread_local size_t hook_count = 0;
constinit thread_local bool hook_runs = false;

struct HookScope {
  HookScope() : before(std::exchange(hook_runs, true)) {}
  ~HookScope() { hook_runs = before; }
  HookScope(const HookScope&) = delete;
  HookScope& operator=(const HookScope&) = delete;

  const bool before;
};

}  // namespace

void push_creation_hook(CreationHook hook) {
  hooks.push_back(std::move(hook));
  hook_count = hooks.size();
}

void pop_creation_hook() {
  HOTARU_CHECK(hook_count > 0, "no node creation hook is registered here");
  hooks.pop_back();
  hook_count = hooks.size();
}

void tell_creation(const Ref<Node>& node) {
  if (hook_count == 0) [[likely]]
    return;
  const HookScope running;
  // A hook may take hooks away.
  const std::vector<CreationHook> now = hooks;
  for (const CreationHook& hook : now) hook(node);
}

void check_creation(const char* name) {
  HOTARU_CHECK(!hook_runs,
               "Creating a new autograd node from inside a node creation hook "
               "is not supported. Node creation hooks should only observe the "
               "node (e.g. record it, stash metadata, or register backward "
               "hooks on it); got a new node of type ",
               name, " while a hook was running.");
}

}  // namespace hotaru::autograd
