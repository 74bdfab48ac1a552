// JSON out of files, whose text nobody vouches for.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace hotaru::io {

/// Reads one JSON value that fills the text; who looks into the result includes
/// <nlohmann/json.hpp>. `where` names file and record in errors, `base` is the
/// offset in it at which the text begins. Throws Error with the offset for
/// anything else, also for a key that stands twice in an object, nesting beyond
/// 200 levels, and values that would take more than 64 MiB and 16 times the
/// text.
nlohmann::json parse_json(std::string_view text, const std::string& where,
                          uint64_t base = 0);

}  // namespace hotaru::io
