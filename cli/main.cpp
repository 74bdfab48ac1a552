// The command `hotaru`: exit code 0, 1 for an error in a file or a model, 2
// for a command line that makes no sense.
#include <exception>
#include <iostream>

#include "commands.h"

int main(int argc, char** argv) {
  CLI::App program("Runs TorchScript models without PyTorch.", "hotaru");
  program.set_version_flag("--version", "hotaru " HOTARU_VERSION);
  program.require_subcommand(1);
  program.footer("hotaru COMMAND --help tells about a command's options.");
  hotaru::cli::add_info(program);
  hotaru::cli::add_run(program);
  hotaru::cli::add_bench(program);
  hotaru::cli::add_graph(program);
  hotaru::cli::add_compare(program);
  hotaru::cli::add_convert(program, argv[0]);
  hotaru::cli::add_alias(program, argv[0]);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::cerr << "hotaru: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
