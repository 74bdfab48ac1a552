// The subcommands. Each adds itself, its options and its callback to the
// program; callbacks throw on errors and main() shows them.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace hotaru::cli {

void add_info(CLI::App& program);
void add_run(CLI::App& program);
void add_bench(CLI::App& program);
void add_graph(CLI::App& program);

}  // namespace hotaru::cli
