// The files that are written: whole or not at all, where there is a choice.
#pragma once

#include <string>
#include <string_view>

#include "hotaru/core/error.h"

namespace hotaru::io {

/// A file that can't be written; `code` is of errno.
class FileError : public Error {
 public:
  FileError(const std::string& path, int code);
  int code() const { return code_; }

 private:
  int code_;
};

/// A file that is written at a path, by these rules:
///
/// - A regular file, or a name without a file, gets the new file whole by
///   finish(); until then, and after a failure, what was there stays. It grows
///   beside the path, under a name that nobody can guess and no link can stand
///   for. Permissions and owner of a file that was there are kept.
/// - Symbolic links are followed, and what they lead to is written.
/// - A file of several names (hard links), one whose owner or access list can't
///   be kept and one that can't be replaced (it is mounted, or its folder can't
///   be written) keeps its place: finish() copies the new contents into it.
/// - Pipes, devices, and what a name of an open file (/dev/stdout, /dev/fd/3)
///   stands for are written into at once.
///
/// Throws FileError.
class NewFile {
 public:
  explicit NewFile(std::string path);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  /// As abandon().
  ~NewFile();

  void write(std::string_view bytes);
  void finish();
  /// Removes what was written, unless finish() was called.
  void abandon() noexcept;

  /// Descriptor that takes the bytes, for writers of their own; all that was
  /// written before has arrived there.
  int descriptor();

 private:
  enum class End { kNothing, kReplace, kCopy };

  void open_directly(const std::string& path);
  void open_beside();
  void keep_access();
  void flush();
  void put(std::string_view bytes);
  void replace();
  void copy_over();
  [[noreturn]] void failed(int error) const;

  std::string path_;       // as it was given
  std::string target_;     // behind all links
  std::string temporary_;  // empty: the target itself is open
  End end_ = End::kNothing;
  int file_ = -1;
  std::string pending_;  // small writes, which leave together
};

}  // namespace hotaru::io
