// Libraries that are loaded while a program runs.
#pragma once

#include <string>

namespace hotaru::platform {

/// The path of the library, or program, in which a function lies; empty if it
/// isn't known.
std::string library_of(const void* function);

/// Opens a library, whose symbols no other one sees, for good. Null if it
/// cannot be opened: `why_not`, which may be null, gets the system's words.
void* open_library(const std::string& path, std::string* why_not);

/// The address of a symbol; null if the library has none of that name. Without
/// a library: of the program and of all that it loaded for everybody.
void* symbol_of(void* library, const char* name);

}  // namespace hotaru::platform
