// JSON as the commands print it, in the order in which it is made.
#pragma once

#include <nlohmann/json.hpp>

namespace hotaru::cli {

using Json = nlohmann::ordered_json;

}  // namespace hotaru::cli
