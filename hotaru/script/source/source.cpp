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
// Lines around the marked ones, and how many marked ones are shown.
constexpr int kContext = 2;
constexpr int kShownLines = 40;

}  // namespace

Source::Source(std::string name, std::string text, int first_line, int indent)
    : name_(std::move(name)),
      text_(std::move(text)),
      first_line_(first_line),
      indent_(indent) {
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

namespace {

/// The place at or before `at` where a character of UTF-8 begins.
size_t character_at(std::string_view line, size_t at) {
  at = std::min(at, line.size());
  while (at > 0 && at < line.size() && (uint8_t(line[at]) & 0xC0) == 0x80) --at;
  return at;
}

/// At most `most` bytes from a character's beginning on, in whole characters.
std::string_view part_of(std::string_view line, size_t from, size_t most) {
  return line.substr(from, character_at(line, from + most) - from);
}

}  // namespace

std::string SourceRange::highlight() const {
  if (!source) return "  (generated code)\n";
  const int first = source->line_index(begin);
  const int last = source->line_index(end > begin ? end - 1 : begin);
  const std::string indent(size_t(source->indent()), ' ');
  std::string out =
      concat("  File \"", source->name(), "\", line ", line_number(), "\n");
  auto show = [&](int index) {
    const std::string_view line = source->line(index);
    if (line.empty() && index + 1 == source->line_count()) return;
    if (!line.empty())
      out += concat(indent, part_of(line, 0, kShownBefore + kShownAfter));
    out += "\n";
  };
  for (int i = std::max(0, first - kContext); i < first; ++i) show(i);
  const int shown = std::min(last, first + kShownLines);
  for (int i = first; i <= shown; ++i) {
    std::string_view line = source->line(i);
    size_t from = std::min(line.find_first_not_of(' '), line.size());
    if (i == first) from = begin - source->line_start(i);
    size_t to = i == last ? end - source->line_start(i) : line.size();
    const size_t cut = character_at(
        line, i == first && from > kShownBefore ? from - kShownBefore : 0);
    line = part_of(line, cut, kShownBefore + kShownAfter);
    from = std::min(from - cut, line.size());
    to = std::clamp(to - cut, from, std::max(line.size(), from));
    if (i == first) to = std::max(to, from + 1);  // the end of a line, too
    if (first == last) to = std::min(to, from + kShownAfter);
    out += concat(line.empty() ? std::string() : indent, line, "\n");
    if (to > from) {
      out += concat(indent, std::string(from, ' '), std::string(to - from, '~'),
                    i == shown ? " <--- HERE\n" : "\n");
    }
  }
  const int after = std::min(last + kContext, source->line_count() - 1);
  for (int i = last + 1; i <= after; ++i) show(i);
  return out;
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
