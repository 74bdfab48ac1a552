// Fields of JSON objects out of a program's file, checked.
#pragma once

#include <rapidjson/document.h>

#include <string>
#include <string_view>
#include <utility>

#include "hotaru/exchange/pt2/pt2_file.h"
#include "hotaru/io/json.h"

namespace hotaru::exchange::pt2 {

using Json = io::Json;

/// A field; throws Error unless the value is an object that has it.
const Json& field(const Json& object, std::string_view name);
/// A field, or null if it is missing or null.
const Json* find(const Json& object, std::string_view name);
/// Throw Error for a value of another type, naming `what`.
std::string text(const Json& value, std::string_view what);
int64_t integer(const Json& value, std::string_view what);
bool flag(const Json& value, std::string_view what);
/// A number, or "Infinity", "-Infinity" or "NaN".
double real(const Json& value, std::string_view what);
/// To be walked through: values, and pairs of `name` and `value`.
Json::ConstArray array(const Json& value, std::string_view what);
Json::ConstObject object(const Json& value, std::string_view what);
/// The one field of a union.
std::pair<std::string_view, const Json*> only_field(const Json& value,
                                                    std::string_view what);

/// The parts of a program. Throw Error for what the schema does not have.
Argument read_argument(const Json& value);
Graph read_graph(const Json& value);
TensorMeta read_tensor_meta(const Json& value);
InputSpec read_input_spec(const Json& value);
OutputSpec read_output_spec(const Json& value);
/// Reads the JSON that the file has in a string. Sets `text` to its tree.
TreeSpec read_tree_spec(const std::string& text, const std::string& where);

}  // namespace hotaru::exchange::pt2
