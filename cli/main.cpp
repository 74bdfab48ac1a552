// The command `hotaru`.
#include <string_view>

#include "commands.h"

namespace {

/// Takes the first two arguments away where they are those of a wheel's
/// launcher (cmake/wheel_command.sh): `--called-as` and the name that the shell
/// found.
void read_called_as(int& argc, char**& argv) {
  if (argc < 3 || std::string_view(argv[1]) != "--called-as") return;
  argv += 2;
  argc -= 2;
}

}  // namespace

int main(int argc, char** argv) {
  read_called_as(argc, argv);
  hotaru::cli::Program program;
  hotaru::cli::add_info(program, argv[0]);
  hotaru::cli::add_run(program);
  hotaru::cli::add_bench(program);
  hotaru::cli::add_graph(program);
  hotaru::cli::add_compare(program);
  hotaru::cli::add_convert(program, argv[0]);
  hotaru::cli::add_alias(program, argv[0]);
  return program.run(argc, argv);
}
