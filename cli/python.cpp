#include "python.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace hotaru::cli {
namespace {

namespace fs = std::filesystem;

/// As "-m WORDS...", but for the current folder, whose modules are none of the
/// command's: a file there may be anybody's. ("-P" does it from Python 3.11
/// on.)
constexpr const char* kRunModule =
    "import sys\n"
    "if sys.path[:1] == ['']: del sys.path[0]\n"
    "import runpy\n"
    "del sys.argv[0]\n"
    "runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)\n";

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

}  // namespace

void become_python(const std::string& command, const std::string& what,
                   const std::vector<std::string>& words) {
  const std::string python = python_beside(command);
  std::vector<char*> arguments{const_cast<char*>(python.c_str()),
                               const_cast<char*>("-c"),
                               const_cast<char*>(kRunModule)};
  for (const std::string& word : words)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(python.c_str(), arguments.data());
  throw std::runtime_error(what + ": cannot run " + python + ": " +
                           std::strerror(errno));
}

void begin_again_with_new_file(const std::string& command,
                               const std::string& verb, const std::string& path,
                               const std::vector<std::string>& words) {
  std::vector<std::string> all{"hotaru.serialization", command, verb, path};
  all.insert(all.end(), words.begin(), words.end());
  become_python(command, path + ": a file from before PyTorch 1.6", all);
}

}  // namespace hotaru::cli
