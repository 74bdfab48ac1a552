#include "hotaru/io/new_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "hotaru/core/checks/check.h"

namespace hotaru::io {

NewFile::NewFile(const std::string& path)
    : path_(path),
      temporary_(concat(path, ".", ::getpid(), ".tmp")),
      out_(temporary_, std::ios::binary | std::ios::trunc) {
  check();
}

NewFile::~NewFile() {
  if (temporary_.empty()) return;
  out_.close();
  std::remove(temporary_.c_str());
}

void NewFile::write(std::string_view bytes) {
  out_.write(bytes.data(), std::streamsize(bytes.size()));
  check();
}

void NewFile::finish() {
  out_.close();
  check();
  HOTARU_CHECK(std::rename(temporary_.c_str(), path_.c_str()) == 0, path_,
               ": cannot move the complete file here: ", std::strerror(errno));
  temporary_.clear();
}

void NewFile::check() const {
  HOTARU_CHECK(out_.good(), path_,
               ": cannot write the file: ", std::strerror(errno));
}

}  // namespace hotaru::io
