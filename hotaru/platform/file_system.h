// File systems beyond what every one has.
#pragma once

#include <cstdint>
#include <string>

namespace hotaru::platform {

/// True if the links of a folder are open files of a process, and no paths.
bool names_open_files(const std::string& folder);

/// Tells whether others may have rights that the permissions don't tell.
bool has_access_list(const std::string& path);

/// Asks that the file has room for so many bytes, and makes it as long. An
/// errno if there is none; 0 if there is, or if the file system cannot tell.
int reserve_room(int descriptor, int64_t bytes);

}  // namespace hotaru::platform
