// Fields of JSON objects out of a program's file, checked.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "hotaru/exchange/pt2/pt2_file.h"

namespace hotaru::exchange::pt2 {

using Json = nlohmann::json;

/// A field; throws Error unless the value is an object that has it.
const Json& field(const Json& object, std::string_view name);
/// A field, or null if it is missing or null.
const Json* find(const Json& object, std::string_view name);
/// Throw Error for a value of another type, naming `what`.
const std::string& text(const Json& value, std::string_view what);
int64_t integer(const Json& value, std::string_view what);
bool flag(const Json& value, std::string_view what);
/// A number, or "Infinity", "-Infinity" or "NaN".
double real(const Json& value, std::string_view what);
const Json& array(const Json& value, std::string_view what);
const Json& object(const Json& value, std::string_view what);
/// The one field of a union.
std::pair<std::string, const Json*> only_field(const Json& value,
                                               std::string_view what);

/// The parts of a program. Throw Error for what the schema does not have.
Argument read_argument(const Json& value);
Graph read_graph(const Json& value);
TensorMeta read_tensor_meta(const Json& value);
InputSpec read_input_spec(const Json& value);
OutputSpec read_output_spec(const Json& value);
/// Of the JSON that the file has in a string. Sets `text` to its tree.
TreeSpec read_tree_spec(const std::string& text, const std::string& where);

}  // namespace hotaru::exchange::pt2
