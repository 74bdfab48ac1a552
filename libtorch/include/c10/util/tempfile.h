// Files and folders that are removed with the object that made them.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace c10 {

/// Made in TMPDIR, or /tmp; the path's name is `prefix` and six characters.
struct TempFile {
  TempFile() = default;
  TempFile(std::string name, int fd) : name(std::move(name)), fd(fd) {}
  TempFile(TempFile&& other) noexcept
      : name(std::exchange(other.name, {})), fd(std::exchange(other.fd, -1)) {}
  TempFile& operator=(TempFile&& other) noexcept {
    std::swap(name, other.name);
    std::swap(fd, other.fd);
    return *this;
  }
  ~TempFile();
  /// Opens it, if it is not open yet; false if that fails.
  bool open();

  std::string name;
  int fd = -1;
};
struct TempDir {
  TempDir() = default;
  explicit TempDir(std::string name) : name(std::move(name)) {}
  TempDir(TempDir&& other) noexcept : name(std::exchange(other.name, {})) {}
  TempDir& operator=(TempDir&& other) noexcept {
    std::swap(name, other.name);
    return *this;
  }
  /// Removes it if it is empty.
  ~TempDir();

  std::string name;
};

/// Nothing, or throws, where none can be made.
std::optional<TempFile> try_make_tempfile(
    const std::string& prefix = "torch-file-");
TempFile make_tempfile(const std::string& prefix = "torch-file-");
std::optional<TempDir> try_make_tempdir(
    const std::string& prefix = "torch-dir-");
TempDir make_tempdir(const std::string& prefix = "torch-dir-");

}  // namespace c10
