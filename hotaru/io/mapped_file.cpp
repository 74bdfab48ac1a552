#include "hotaru/io/mapped_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hotaru/core/checks/check.h"
#include "hotaru/platform/pages.h"

namespace hotaru::io {

namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

Ref<MappedFile> MappedFile::open(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  HOTARU_CHECK(file.get() >= 0, path,
               ": cannot open the file: ", std::strerror(errno));
  struct stat info;
  HOTARU_CHECK(::fstat(file.get(), &info) == 0, path,
               ": cannot read the file's size: ", std::strerror(errno));
  HOTARU_CHECK_AS(ValueError, S_ISREG(info.st_mode), path,
                  ": not a regular file");
  Ref<MappedFile> result(new MappedFile());
  result->name_ = path;
  result->size_ = size_t(info.st_size);
  if (result->size_ == 0) return result;
  void* address = platform::map_file(file.get(), result->size_);
  HOTARU_CHECK(address, path, ": cannot map the file: ", std::strerror(errno));
  result->data_ = static_cast<std::byte*>(address);
  result->mapped_ = true;
  return result;
}

Ref<MappedFile> MappedFile::from_bytes(std::vector<std::byte> bytes,
                                       std::string name) {
  Ref<MappedFile> result(new MappedFile());
  result->name_ = std::move(name);
  result->owned_ = std::move(bytes);
  result->data_ = result->owned_.data();
  result->size_ = result->owned_.size();
  return result;
}

MappedFile::~MappedFile() {
  if (mapped_) platform::unmap_pages(data_, size_);
}

}  // namespace hotaru::io
