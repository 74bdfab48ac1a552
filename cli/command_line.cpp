#include "command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <utility>

namespace hotaru::cli {

CommandOption CommandOption::required() const {
  option_->required();
  return *this;
}

CommandOption CommandOption::shows_default() const {
  option_->capture_default_str();
  return *this;
}

CommandOption CommandOption::type_name(const std::string& name) const {
  option_->type_name(name);
  return *this;
}

CommandOption CommandOption::one_of(
    const std::vector<std::string>& words) const {
  option_->check(CLI::IsMember(words));
  return *this;
}

namespace {

// A check that an option's word is a finite number that fits.
template <class Fits>
auto number_check(const char* wanted, Fits fits) {
  return [wanted, fits](const std::string& text) {
    double number = 0;
    const bool is_number = CLI::detail::lexical_cast(text, number);
    return is_number && std::isfinite(number) && fits(number)
               ? ""
               : "'" + text + "' is no number " + wanted;
  };
}

}  // namespace

CommandOption CommandOption::positive() const {
  option_->check(number_check("above 0", [](double n) { return n > 0; }));
  return *this;
}

CommandOption CommandOption::not_negative() const {
  option_->check(number_check("from 0 on", [](double n) { return n >= 0; }));
  return *this;
}

void Verb::flag(const std::string& name, bool& to,
                const std::string& help) const {
  app_->add_flag(name, to, help);
}

template <class T>
CommandOption Verb::option(const std::string& name, T& to,
                           const std::string& help) const {
  return CommandOption(app_->add_option(name, to, help));
}

#define HOTARU_OPTION(...) \
  template CommandOption Verb::option(const std::string&, __VA_ARGS__&, \
                                      const std::string&) const;
HOTARU_OPTION(std::string)
HOTARU_OPTION(int)
HOTARU_OPTION(int64_t)
HOTARU_OPTION(size_t)
HOTARU_OPTION(double)
HOTARU_OPTION(std::vector<std::string>)
#undef HOTARU_OPTION

CommandOption Verb::each(const std::string& name,
                         std::function<void(const std::string&)> f,
                         const std::string& help) const {
  using Words = std::vector<std::string>;
  const auto call = [f = std::move(f)](const Words& words) {
    for (const std::string& word : words) f(word);
  };
  return CommandOption(
      app_->add_option_function<Words>(name, call, help)->trigger_on_parse());
}

void Verb::action(std::function<void()> f) const {
  app_->callback(std::move(f));
}

Program::Program()
    : app_(std::make_unique<CLI::App>(
          "Runs TorchScript models without PyTorch.", "hotaru")) {
  app_->set_version_flag("--version", "hotaru " HOTARU_VERSION);
  app_->require_subcommand(1);
  app_->footer("hotaru COMMAND --help tells about a command's options.");
}

Program::~Program() = default;

Verb Program::verb(const std::string& name, const std::string& help) {
  return Verb(app_->add_subcommand(name, help));
}

namespace {

// 1, with a word on it, if what was printed did not arrive: the disk is full.
int printed() {
  errno = 0;
  std::cout.flush();
  if (std::cout && std::fflush(stdout) == 0) return 0;
  std::cerr << "hotaru: standard output cannot be written"
            << (errno ? std::string(": ") + std::strerror(errno) : "") << '\n';
  return 1;
}

}  // namespace

int Program::run(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app_->exit(error) == 0 ? printed() : 2;
  } catch (const std::exception& error) {
    std::cerr << "hotaru: " << error.what() << '\n';
    return 1;
  }
  return printed();
}

}  // namespace hotaru::cli
