// Files that appear whole or not at all.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace hotaru::io {

/// A file that grows beside its path and is renamed into place, so that what
/// was there before stays until all is written, mapped or not. Throws Error
/// naming the path.
class NewFile {
 public:
  explicit NewFile(const std::string& path);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  /// Removes what was written, unless finish() was called.
  ~NewFile();

  void write(std::string_view bytes);
  void finish();

 private:
  void check() const;

  std::string path_;
  std::string temporary_;
  std::ofstream out_;
};

}  // namespace hotaru::io
