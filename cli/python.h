// Work that the Python package does for the command.
#pragma once

#include <string>
#include <vector>

namespace hotaru::cli {

/// Becomes `python3 -m WORDS...`, of the interpreter that stands beside the
/// command, or else of PATH; nothing is imported from the current folder.
/// `command` is how the program was called. Returns only by an exception, which
/// begins with `what` could not be done.
[[noreturn]] void become_python(const std::string& command,
                                const std::string& what,
                                const std::vector<std::string>& words);

}  // namespace hotaru::cli
