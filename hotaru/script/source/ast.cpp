#include "hotaru/script/source/ast.h"

#include "hotaru/core/checks/check.h"

namespace hotaru::script {

void* LimitedMemory::do_allocate(size_t bytes, size_t alignment) {
  HOTARU_CHECK(bytes <= limit_ - used_, "the source code needs more than ",
               limit_, " bytes of syntax tree");
  void* p = std::pmr::new_delete_resource()->allocate(bytes, alignment);
  used_ += bytes;
  return p;
}

void LimitedMemory::do_deallocate(void* p, size_t bytes, size_t alignment) {
  used_ -= bytes;
  std::pmr::new_delete_resource()->deallocate(p, bytes, alignment);
}

}  // namespace hotaru::script
