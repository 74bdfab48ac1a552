#include "hotaru/platform/file_system.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include <cerrno>

namespace hotaru::platform {

bool names_open_files(const std::string& folder) {
  struct statfs system {};
  return ::statfs(folder.c_str(), &system) == 0 &&
         system.f_type == PROC_SUPER_MAGIC;
}

bool has_access_list(const std::string& path) {
  return ::getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
}

int reserve_room(int descriptor, int64_t bytes) {
  if (::fallocate(descriptor, 0, 0, off_t(bytes)) == 0) return 0;
  const bool none = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
  return none ? errno : 0;
}

}  // namespace hotaru::platform
