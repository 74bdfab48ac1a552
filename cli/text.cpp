#include "text.h"

#include <iomanip>
#include <sstream>

#include "hotaru/io/new_file.h"

namespace hotaru::cli {

std::string shown(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return out;
}

std::string amount(double value, const char* unit) {
  const char* const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t power = 0;
  for (; value >= 1000 && power < 6; ++power) value /= 1000;
  std::ostringstream out;
  out << std::setprecision(power ? 3 : 4) << value << ' ' << prefixes[power]
      << unit;
  return out.str();
}

Json whole(double value) {
  return value < 0x1p53 ? Json(uint64_t(value)) : Json(value);
}

void write_file(const std::string& path, std::string_view text) {
  io::NewFile file(path);
  file.write(text);
  file.finish();
}

}  // namespace hotaru::cli
