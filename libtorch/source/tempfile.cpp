#include "c10/util/tempfile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "c10/util/Exception.h"

namespace c10 {

namespace {

std::string pattern(const std::string& prefix) {
  for (const char* variable : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"})
    if (const char* folder = std::getenv(variable))  // NOLINT
      return std::string(folder) + "/" + prefix + "XXXXXX";
  return "/tmp/" + prefix + "XXXXXX";
}

}  // namespace

TempFile::~TempFile() {
  if (!name.empty()) {
    if (fd >= 0) ::close(fd);
    ::unlink(name.c_str());
  }
}
bool TempFile::open() {
  if (fd < 0) fd = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
  return fd >= 0;
}
TempDir::~TempDir() {
  if (!name.empty()) ::rmdir(name.c_str());
}

std::optional<TempFile> try_make_tempfile(const std::string& prefix) {
  std::string name = pattern(prefix);
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  return TempFile(std::move(name), fd);
}
TempFile make_tempfile(const std::string& prefix) {
  if (auto file = try_make_tempfile(prefix)) return std::move(*file);
  TORCH_CHECK(false, "Error generating temporary file: ",
              std::strerror(errno));  // NOLINT(concurrency-mt-unsafe)
}
std::optional<TempDir> try_make_tempdir(const std::string& prefix) {
  std::string name = pattern(prefix);
  if (!::mkdtemp(name.data())) return std::nullopt;
  return TempDir(std::move(name));
}
TempDir make_tempdir(const std::string& prefix) {
  if (auto folder = try_make_tempdir(prefix)) return std::move(*folder);
  TORCH_CHECK(false, "Error generating temporary directory: ",
              std::strerror(errno));  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace c10
