// Handlers around fork().
#pragma once

namespace hotaru::platform {

/// Calls these at every later fork(): before it in the parent, the last
/// registered first; then in the parent and in the child, the first registered
/// first. Each may be null. Nothing takes them back, and where processes do not
/// fork none is ever called. Zero, for initializers of static objects.
int at_fork(void (*before)(), void (*in_parent)(), void (*in_child)());

}  // namespace hotaru::platform
