// Modules whose attributes have become constants of their code.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hotaru/script/ir/ir.h"
#include "hotaru/script/program/module.h"

namespace hotaru::script {

/// Further change that is made to a method's graph.
using Rewrite = std::function<void(Graph&)>;

/// A new module with `forward` and the preserved methods, in which attributes
/// that no code assigns are constants: numbers, strings, tuples of such, and
/// tensors, which are detached and share the given module's memory. What stays
/// is copied: attributes that code assigns or writes to in place, lists, dicts,
/// objects, and the preserved attributes. Every submodule gets a class of its
/// own, so that its constants can differ from those of other modules of its
/// class.
///
/// Throws Error for modules in training mode, for unknown names, and for code
/// that hands modules about (as arguments, results or elements of lists) other
/// than to call their methods.
///
/// `rewrite`, if there is one, gets each method's graph, calls inlined and
/// attributes replaced by constants, before it becomes code.
Module freeze(const Module& module,
              const std::vector<std::string>& preserved = {},
              const Rewrite& rewrite = {});

}  // namespace hotaru::script
