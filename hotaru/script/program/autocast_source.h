// PyTorch's classes of autocast, as programs of archives use them.
#pragma once

#include <memory>
#include <string_view>

#include "hotaru/script/source/source.h"

namespace hotaru::script {

/// What a module of autocast's classes is compiled from in place of its own
/// source, whose scopes do nothing by themselves; null for other modules.
std::unique_ptr<Source> autocast_source(std::string_view module);

}  // namespace hotaru::script
