// `hotaru alias`: the work is Python's, since it is a Python environment that
// gets the alias; the interpreter is the one that stands beside the command.
#include <memory>

#include "commands.h"
#include "python.h"

namespace hotaru::cli {

void add_alias(CLI::App& program, const std::string& command) {
  CLI::App* alias = program.add_subcommand(
      "alias", "Makes `import torch` give hotaru in this Python environment");
  auto remove = std::make_shared<bool>(false);
  alias->add_flag("--remove", *remove, "Take the alias away again");
  alias->callback([command, remove] {
    std::vector<std::string> words{"hotaru", "alias"};
    if (*remove) words.emplace_back("--remove");
    become_python(command, "alias", words);
  });
}

}  // namespace hotaru::cli
