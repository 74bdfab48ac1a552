// Hooks of programs that are called with each node of the backward graph.
#pragma once

#include <functional>

#include "hotaru/autograd/node.h"

namespace hotaru::autograd {

using CreationHook = std::function<void(const Ref<Node>& node)>;

/// Adds a hook of this thread, called behind those that are there.
void push_creation_hook(CreationHook hook);
/// Takes the thread's last hook away. Throws Error if there is none.
void pop_creation_hook();

/// Calls the thread's hooks with a node that has its edges, its outputs and
/// what it saves.
void tell_creation(const Ref<Node>& node);
/// Before a node is made: throws PyTorch's error while a hook runs.
void check_creation(const char* name);

}  // namespace hotaru::autograd
