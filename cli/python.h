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

/// Becomes Python, which writes a file of torch.save from before PyTorch 1.6 as
/// one of today and calls the command again with it: `verb FILE WORDS...`.
[[noreturn]] void begin_again_with_new_file(
    const std::string& command, const std::string& verb,
    const std::string& path, const std::vector<std::string>& words);

}  // namespace hotaru::cli
