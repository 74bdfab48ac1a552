// PyTorch's classes of autocast, as programs of archives use them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "hotaru/script/source/source.h"

namespace hotaru::script {

/// Source that a module of autocast's classes is compiled from in place of its
/// own, whose scopes do nothing by themselves; null for other modules.
std::unique_ptr<Source> autocast_source(std::string_view module);

/// The text of such a class in an archive, as PyTorch compiles it; its
/// interpreter goes by the class's name and attributes. Empty for others.
std::string autocast_text(std::string_view class_name);

}  // namespace hotaru::script
