// Texts that several commands print.
#pragma once

#include <string>
#include <string_view>

#include "json.h"

namespace hotaru::cli {

/// A file's text on a terminal: without control characters.
std::string shown(std::string_view text);
/// "1.23 GB", of decimal units.
std::string amount(double value, const char* unit);
/// Throws Error if the file can't be written.
void write_file(const std::string& path, std::string_view text);
/// Without a fraction where doubles have all integers.
Json whole(double value);

}  // namespace hotaru::cli
