// Functions that run before and after a module's forward.
#pragma once

#include <utility>
#include <vector>

#include "hotaru/script/program/class_type.h"
#include "hotaru/script/program/module.h"

namespace hotaru::script {

/// Compiles the hooks of a module's class and checks their signatures: (self,
/// tuple of forward's arguments), for those after forward its result, too.
/// Throws Error.
void check_hooks(ClassType& cls);

/// Tells whether the type that a hook before forward gives stands for all of
/// forward's arguments, rather than for the only one.
bool is_whole_input(TypePtr result, Function& forward);

/// Calls a module as Python does: forward between its hooks.
Value call_with_hooks(const Module& module, std::vector<Value> arguments,
                      KeywordArguments keywords);

}  // namespace hotaru::script
