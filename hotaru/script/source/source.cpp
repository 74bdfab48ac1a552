#include "hotaru/script/source/source.h"

#include <algorithm>
#include <limits>

#include "hotaru/script/source/script_error.h"

namespace hotaru::script {

namespace {

// Longer lines are cut around the marked range: an error stays readable and
// small even when a hostile file is one line of megabytes.
constexpr uint32_t kShownBefore = 120;
constexpr uint32_t kShownAfter = 80;

}  // namespace

Source::Source(std::string name, std::string text, int first_line)
    : name_(std::move(name)), text_(std::move(text)), first_line_(first_line) {
  HOTARU_CHECK_AS(ValueError,
                  text_.size() < std::numeric_limits<uint32_t>::max(), name_,
                  ": source text of ", text_.size(), " bytes is too long");
  line_starts_.push_back(0);
  for (uint32_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
}

int Source::line_index(uint32_t offset) const {
  auto after =
      std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return int(after - line_starts_.begin()) - 1;
}

std::string_view Source::line(int index) const {
  uint32_t begin = line_starts_[index];
  std::string_view rest = std::string_view(text_).substr(begin);
  return rest.substr(0, rest.find('\n'));
}

std::string_view SourceRange::text() const {
  if (!source) return {};
  return source->text().substr(begin, end - begin);
}

int SourceRange::line_number() const {
  return source ? source->line_index(begin) + source->first_line() : 0;
}

std::string SourceRange::highlight() const {
  if (!source) return "  (generated code)\n";
  int index = source->line_index(begin);
  std::string_view line = source->line(index);
  uint32_t column = begin - source->line_start(index);
  uint32_t width = std::max<uint32_t>(1, end - begin);
  width = std::min<uint32_t>(
      width,
      std::max<size_t>(1, line.size() - std::min<size_t>(column, line.size())));
  uint32_t cut = column > kShownBefore ? column - kShownBefore : 0;
  line = line.substr(std::min<size_t>(cut, line.size()),
                     kShownBefore + kShownAfter);
  column -= cut;
  width = std::min(width, kShownAfter);
  return concat("  File \"", source->name(), "\", line ", line_number(), "\n",
                "    ", line, "\n    ", std::string(column, ' '),
                std::string(width, '~'), " <--- HERE\n");
}

SourceRange SourceRange::to(const SourceRange& last) const {
  return {source, begin, std::max(end, last.end)};
}

void refuse_source(const std::string& text, const SourceRange& where) {
  throw ScriptError(text, where);
}

ScriptError::ScriptError(const std::string& what, const SourceRange& where)
    : Error(concat(what, ":\n", where.highlight())) {}

ScriptError ScriptError::called_from(std::string_view callee,
                                     std::string_view caller,
                                     const SourceRange& where) const {
  return ScriptError(concat(what(), "'", callee,
                            "' is being compiled since it was called from '",
                            caller, "'\n", where.highlight()));
}

}  // namespace hotaru::script
