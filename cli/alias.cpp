// `hotaru alias`: the work is Python's, since it is a Python environment that
// gets the alias; the interpreter is the one that stands beside the command.
#include <memory>

#include "commands.h"
#include "python.h"

namespace hotaru::cli {

void add_alias(Program& program, const std::string& command) {
  const Verb verb = program.verb(
      "alias", "Makes `import torch` give hotaru in this Python environment");
  auto remove = std::make_shared<bool>(false);
  verb.flag("--remove", *remove, "Take the alias away again");
  verb.action([command, remove] {
    std::vector<std::string> words{"hotaru", "alias"};
    if (*remove) words.emplace_back("--remove");
    become_python(command, "alias", words);
  });
}

}  // namespace hotaru::cli
