/* What GCC's unwinder, compiled for glibc, asks of the C library and musl has
   not: which loaded object an address belongs to, and where the object's table
   of exceptions is. Hidden, so that no other library meets it. */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <unwind.h>

/* As <dlfcn.h> of glibc 2.35 declares it, for x86-64. */
struct dl_find_object {
  unsigned long long flags;
  void* map_start;
  void* map_end;
  struct link_map* link_map;
  void* eh_frame;
  unsigned long long reserved[7];
};

struct search {
  uintptr_t address;
  struct dl_find_object* result;
};

/* One for the object that holds the address, which ends the walk. */
static int holds(struct dl_phdr_info* object, size_t size, void* data) {
  struct search* search = data;
  const ElfW(Phdr)* table = 0;
  int found = 0;
  (void)size;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    uintptr_t start = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) table = part;
    if (part->p_type != PT_LOAD || search->address - start >= part->p_memsz)
      continue;
    search->result->map_start = (void*)start;
    search->result->map_end = (void*)(start + part->p_memsz);
    found = 1;
  }
  if (!found || !table) return 0;
  search->result->eh_frame = (void*)(object->dlpi_addr + table->p_vaddr);
  return 1;
}

/* Zero where there is such an object. */
__attribute__((visibility("hidden"))) int _dl_find_object(
    void* address, struct dl_find_object* result) {
  struct search search = {(uintptr_t)address, result};
  result->flags = 0;
  result->link_map = 0;
  return dl_iterate_phdr(holds, &search) == 1 ? 0 : -1;
}

static _Unwind_Reason_Code stop(struct _Unwind_Context* context, void* data) {
  (void)context;
  (void)data;
  return _URC_END_OF_STACK;
}

/* Fills the unwinder's table of registers. The library, the extension and the
   command each have an unwinder of their own; an exception that one threw and
   another catches meets the second's before it was asked for anything. */
__attribute__((constructor)) static void prepare(void) {
  _Unwind_Backtrace(stop, 0);
}
