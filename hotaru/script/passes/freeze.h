// Modules whose attributes have become constants of their code.
#pragma once

#include <string>
#include <vector>

#include "hotaru/script/program/module.h"

namespace hotaru::script {

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
Module freeze(const Module& module,
              const std::vector<std::string>& preserved = {});

}  // namespace hotaru::script
