// `hotaru alias`: the work is Python's, since it is a Python environment that
// gets the alias; the interpreter is the one that stands beside the command.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "commands.h"

namespace hotaru::cli {
namespace {

namespace fs = std::filesystem;

/// The folder of a command as the shell found it; empty if there is none.
fs::path folder_of(const std::string& command) {
  if (command.find('/') != command.npos) return fs::path(command).parent_path();
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((fs::path(folder) / command).c_str(), X_OK) == 0) return folder;
  return {};
}

/// The interpreter beside the command, or that of PATH.
std::string python_beside(const std::string& command) {
  const fs::path python = folder_of(command) / "python3";
  return access(python.c_str(), X_OK) == 0 ? python.string() : "python3";
}

/// Becomes `python3 -m hotaru alias`; returns only by an exception.
void run_python(const std::string& command, bool remove) {
  const std::string python = python_beside(command);
  const char* arguments[] = {
      python.c_str(), "-m", "hotaru", "alias", remove ? "--remove" : nullptr,
      nullptr};
  execvp(python.c_str(), const_cast<char**>(arguments));
  throw std::runtime_error("alias: cannot run " + python + ": " +
                           std::strerror(errno));
}

}  // namespace

void add_alias(CLI::App& program, const std::string& command) {
  CLI::App* alias = program.add_subcommand(
      "alias", "Makes `import torch` give hotaru in this Python environment");
  auto remove = std::make_shared<bool>(false);
  alias->add_flag("--remove", *remove, "Take the alias away again");
  alias->callback([command, remove] { run_python(command, *remove); });
}

}  // namespace hotaru::cli
