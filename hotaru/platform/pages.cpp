#include "hotaru/platform/pages.h"

#include <sys/mman.h>
#include <unistd.h>

namespace hotaru::platform {

namespace {

void* mapped(void* address) {
  return address == MAP_FAILED ? nullptr : address;
}

}  // namespace

size_t page_size() {
  return size_t(sysconf(_SC_PAGESIZE));
}

char* map_pages(size_t bytes) {
  return static_cast<char*>(
      mapped(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)));
}

void unmap_pages(void* begin, size_t bytes) {
  munmap(begin, bytes);
}

void wish_large_pages(void* begin, size_t bytes) {
  madvise(begin, bytes, MADV_HUGEPAGE);
}

void empty_pages(void* begin, size_t bytes) {
  madvise(begin, bytes, MADV_DONTNEED);
}

void* map_file(int descriptor, size_t bytes) {
  return mapped(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0));
}

void* map_shared(int descriptor, size_t bytes, bool now) {
  return mapped(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | (now ? MAP_POPULATE : 0), descriptor, 0));
}

int new_memory_file(const char* name_for_tools) {
  return memfd_create(name_for_tools, MFD_CLOEXEC);
}

}  // namespace hotaru::platform
