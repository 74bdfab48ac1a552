// The subcommands. Each adds itself, its options and its callback to the
// program; callbacks throw on errors and main() shows them.
#pragma once

#include <string>

#include "command_line.h"

namespace hotaru::cli {

/// `command` is how the program was called: Python is looked for beside it.
void add_info(Program& program, const std::string& command);
void add_run(Program& program);
void add_bench(Program& program);
void add_graph(Program& program);
void add_compare(Program& program);
void add_convert(Program& program, const std::string& command);
void add_alias(Program& program, const std::string& command);

}  // namespace hotaru::cli
