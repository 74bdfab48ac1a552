// The command line: verbs with options. One source knows the library that reads
// it (CLI11), whose code each source that includes it compiles again.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hotaru::cli {

/// An option that a verb has; each call says more of it.
class CommandOption {
 public:
  explicit CommandOption(CLI::Option* option) : option_(option) {}
  /// The verb makes no sense without it.
  CommandOption required() const;
  /// Help shows the value that the variable has now.
  CommandOption shows_default() const;
  /// Sets the name of the option's word in help.
  CommandOption type_name(const std::string& name) const;
  CommandOption one_of(const std::vector<std::string>& words) const;
  CommandOption positive() const;
  CommandOption not_negative() const;

 private:
  CLI::Option* option_;
};

/// A verb of the program. Names of options with dashes are options, others are
/// words in order. What is given is stored in the variable, which must outlive
/// the program.
class Verb {
 public:
  explicit Verb(CLI::App* app) : app_(app) {}
  void flag(const std::string& name, bool& to, const std::string& help) const;
  /// T is std::string, int, int64_t, size_t, double, or
  /// std::vector<std::string> for an option that may be given several times.
  template <class T>
  CommandOption option(const std::string& name, T& to,
                       const std::string& help) const;
  /// Calls f with each word, in the order of the line among options like it.
  CommandOption each(const std::string& name,
                     std::function<void(const std::string&)> f,
                     const std::string& help) const;
  /// Sets what the verb does. Throws on errors.
  void action(std::function<void()> f) const;

 private:
  CLI::App* app_;
};

/// The program: `hotaru VERB ...`.
class Program {
 public:
  Program();
  ~Program();
  Verb verb(const std::string& name, const std::string& help);
  /// Reads the line and does what it says. The exit code: 0, 1 for an error in
  /// a file or a model, 2 for a line that makes no sense; says which on
  /// standard error.
  int run(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace hotaru::cli
