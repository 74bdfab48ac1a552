// Memory by the page: of the system, of files, and of files without a name that
// processes share.
#pragma once

#include <cstddef>

namespace hotaru::platform {

size_t page_size();

/// Zeroed memory that takes room when it is written first; null if the system
/// has no such range.
char* map_pages(size_t bytes);
/// Gives back pages of any of these functions, whole or in parts.
void unmap_pages(void* begin, size_t bytes);
/// A wish: where the system has large pages, this memory should lie in them.
void wish_large_pages(void* begin, size_t bytes);
/// Gives back the memory, but not the range: it reads as zero again.
void empty_pages(void* begin, size_t bytes);

/// The file's bytes, for this process alone: what it writes there stays its
/// own. Null with errno if they cannot be mapped.
void* map_file(int descriptor, size_t bytes);
/// The file's bytes, shared by all that map it; `now`: all pages at once, which
/// is cheaper where they are there already. Null with errno.
void* map_shared(int descriptor, size_t bytes, bool now);

/// A file in memory that has no name and ends with its last descriptor and
/// mapping; closed when the process runs another program. -1 with errno.
int new_memory_file(const char* name_for_tools);

}  // namespace hotaru::platform
