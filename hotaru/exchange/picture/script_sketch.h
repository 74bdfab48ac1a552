// Pictures of TorchScript modules.
#pragma once

#include "hotaru/exchange/picture/sketch.h"
#include "hotaru/script/program/module.h"

namespace hotaru::exchange {

/// Sketches a call of `method`: the operators that give tensors, in the modules
/// whose code they are. Conditions on what the module itself holds (`training`)
/// take their branch, and so do those whose other branch is an error; runs
/// nothing. A function that does not compile is one call that says why. Throws
/// Error for an unknown method, and for programs of more than 100,000 calls.
Sketch sketch_of(const script::Module& module, const std::string& method);

}  // namespace hotaru::exchange
