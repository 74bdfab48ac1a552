// The command `hotaru`.
#include "commands.h"

int main(int argc, char** argv) {
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
