#include "hotaru/io/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <utility>

#include "hotaru/core/checks/check.h"
#include "hotaru/platform/file_system.h"

namespace hotaru::io {

namespace {

namespace fs = std::filesystem;

constexpr size_t kPending = 1 << 16;
constexpr size_t kCopied = 1 << 20;
// As many as the kernel follows.
constexpr int kMostLinks = 40;
constexpr mode_t kPermissions = 0777;

fs::path folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

/// The path behind all links of its last part; empty for an open file.
std::string followed(std::string path) {
  for (int i = 0; i < kMostLinks; ++i) {
    struct stat at {};
    if (::lstat(path.c_str(), &at) != 0 || !S_ISLNK(at.st_mode)) return path;
    const fs::path folder = folder_of(path);
    if (platform::names_open_files(folder.string())) return "";
    std::error_code error;
    const fs::path leads = fs::read_symlink(path, error);
    if (error) return path;
    path = (leads.is_absolute() ? leads : folder / leads).string();
  }
  return path;
}

std::string unguessable_name() {
  std::random_device source;
  std::array<char, 40> name{};
  std::snprintf(name.data(), name.size(), ".hotaru-%08x%08x.tmp",
                unsigned(source()), unsigned(source()));
  return name.data();
}

bool may_not_be_replaced(int error) {
  return error == EACCES || error == EPERM || error == EBUSY || error == EROFS;
}

}  // namespace

FileError::FileError(const std::string& path, int code)
    : Error(path + ": cannot write the file: " + std::strerror(code)),
      code_(code) {}

NewFile::NewFile(std::string path)
    : path_(std::move(path)), target_(followed(path_)) {
  HOTARU_CHECK_AS(ValueError, path_.find('\0') == path_.npos,
                  "embedded null byte in the name of a file");
  struct stat there {};
  const bool exists = ::stat(path_.c_str(), &there) == 0;
  if (target_.empty() || (exists && !S_ISREG(there.st_mode))) {
    open_directly(path_);
    return;
  }
  // Replacing the file would not refuse what opening it would.
  if (exists && ::faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0)
    failed(errno);
  try {
    open_beside();
    if (exists) keep_access();
  } catch (...) {
    abandon();
    throw;
  }
}

NewFile::~NewFile() {
  abandon();
}

void NewFile::failed(int error) const {
  throw FileError(path_, error);
}

void NewFile::open_directly(const std::string& path) {
  file_ = ::open(path.c_str(),
                 O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
  if (file_ < 0) failed(errno);
}

void NewFile::open_beside() {
  // One who may write a file but not its folder gets the file itself.
  struct stat there {};
  const bool exists = ::stat(target_.c_str(), &there) == 0;
  while (file_ < 0) {
    temporary_ = (folder_of(target_) / unguessable_name()).string();
    // Nobody else reads what replaces a file before it has that file's rights.
    file_ = ::open(temporary_.c_str(),
                   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                   exists ? 0600 : 0666);
    if (file_ >= 0 || errno == EEXIST) continue;
    const int error = errno;
    temporary_.clear();
    if (exists && may_not_be_replaced(error)) return open_directly(target_);
    failed(error);
  }
  end_ = End::kReplace;
}

void NewFile::keep_access() {
  if (end_ != End::kReplace) return;
  struct stat there {
  }, here{};
  if (::stat(target_.c_str(), &there) != 0 || ::fstat(file_, &here) != 0)
    failed(errno);
  const bool same_owner =
      there.st_uid == here.st_uid && there.st_gid == here.st_gid;
  const bool kept =
      there.st_nlink == 1 && !platform::has_access_list(target_) &&
      (same_owner || ::fchown(file_, there.st_uid, there.st_gid) == 0) &&
      ::fchmod(file_, there.st_mode & kPermissions) == 0;
  if (!kept) end_ = End::kCopy;
}

void NewFile::write(std::string_view bytes) {
  if (pending_.size() + bytes.size() > kPending) flush();
  if (bytes.size() >= kPending) return put(bytes);
  pending_.append(bytes);
}

void NewFile::flush() {
  put(pending_);
  pending_.clear();
}

void NewFile::put(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) failed(errno);
    if (count > 0) bytes.remove_prefix(size_t(count));
  }
}

int NewFile::descriptor() {
  flush();
  return file_;
}

void NewFile::finish() {
  flush();
  if (end_ == End::kReplace) replace();
  if (end_ == End::kCopy) copy_over();
  // Some file systems tell only here that there is no room.
  if (file_ >= 0 && ::close(std::exchange(file_, -1)) != 0 && errno != EINTR)
    failed(errno);
  end_ = End::kNothing;
}

void NewFile::replace() {
  // Closed by a second name, so that what was written can still be copied.
  const int again = ::dup(file_);
  if (again >= 0 && ::close(again) != 0 && errno != EINTR) failed(errno);
  if (::rename(temporary_.c_str(), target_.c_str()) == 0)
    temporary_.clear();
  else if (may_not_be_replaced(errno))
    end_ = End::kCopy;
  else
    failed(errno);
}

void NewFile::copy_over() {
  struct stat size {};
  const int target = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  if (target < 0 || ::fstat(file_, &size) != 0) failed(errno);
  const int source = std::exchange(file_, target);
  const auto close_source = [](const int* file) { ::close(*file); };
  const std::unique_ptr<const int, decltype(close_source)> closed(&source,
                                                                  close_source);
  // Room is asked for while what was there is whole.
  struct stat before {};
  ::fstat(target, &before);
  if (size.st_size > before.st_size)
    if (const int error = platform::reserve_room(target, size.st_size)) {
      [[maybe_unused]] const int restored = ::ftruncate(target, before.st_size);
      failed(error);
    }
  std::string piece(kCopied, '\0');
  for (off_t done = 0; done < size.st_size;) {
    const ssize_t count = ::pread(source, piece.data(), piece.size(), done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) failed(count < 0 ? errno : EIO);
    put({piece.data(), size_t(count)});
    done += count;
  }
  if (::ftruncate(target, size.st_size) != 0) failed(errno);
  ::unlink(temporary_.c_str());
  temporary_.clear();
}

void NewFile::abandon() noexcept {
  pending_.clear();
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
  end_ = End::kNothing;
}

}  // namespace hotaru::io
