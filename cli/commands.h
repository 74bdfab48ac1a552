// The subcommands. Each adds itself, its options and its callback to the
// program; callbacks throw on errors and main() shows them.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <string>

namespace hotaru::cli {

void add_info(CLI::App& program);
void add_run(CLI::App& program);
void add_bench(CLI::App& program);
void add_graph(CLI::App& program);
void add_compare(CLI::App& program);
/// `command` is how the program was called: Python is looked for beside it.
void add_convert(CLI::App& program, const std::string& command);
void add_alias(CLI::App& program, const std::string& command);

}  // namespace hotaru::cli
