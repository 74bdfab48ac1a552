// Constants as TorchScript source spells them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "hotaru/script/types/type.h"

namespace hotaru::script {

/// Tells whether the text is a name that source can spell: no keyword, no
/// digits first.
bool is_identifier(std::string_view text);

/// "text" in double quotes, whatever bytes it holds.
std::string quoted(std::string_view text);

/// The text as a literal part of what str.format takes: braces are doubled.
std::string escape_format(std::string_view text);

/// Source that gives the value when it is read where `type` is expected.
/// `stored` names what has no spelling of its own, a tensor ("CONSTANTS.c0").
/// Throws TypeError for instances, futures and the like.
std::string literal(const Value& value, TypePtr type,
                    const std::function<std::string(const Value&)>& stored);

}  // namespace hotaru::script
