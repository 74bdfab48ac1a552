#include "hotaru/backend/cpu/large_heap.h"

#include <cstdint>
#include <new>

#include "hotaru/platform/pages.h"

namespace hotaru::cpu {
namespace {

constexpr size_t kLargePage = size_t{2} << 20;

char* up_to_page(char* p) {
  const auto at = reinterpret_cast<uintptr_t>(p);
  return p + (-at & (kLargePage - 1));
}

char* down_to_page(char* p) {
  return p - (reinterpret_cast<uintptr_t>(p) & (kLargePage - 1));
}

}  // namespace

/// A chunk that begins with a large page, or null.
char* LargeHeap::chunk_of_system() {
  constexpr size_t kSpan = kChunk + kLargePage;
  char* all = platform::map_pages(kSpan);
  if (!all) return nullptr;
  char* begin = up_to_page(all);
  char* end = begin + kChunk;
  if (begin > all) platform::unmap_pages(all, size_t(begin - all));
  if (end < all + kSpan) platform::unmap_pages(end, size_t(all + kSpan - end));
  // Only a wish: without large pages everything works as well.
  platform::wish_large_pages(begin, kChunk);
  return begin;
}

LargeHeap::~LargeHeap() {
  while (Gap* gap = first_) {
    first_ = gap->next;
    platform::unmap_pages(gap->begin(), gap->size);
  }
}

void* LargeHeap::allocate(size_t size) {
  size += kGranule;
  const std::lock_guard lock(mutex_);
  void* data = take(size);
  if (!data && grow()) data = take(size);
  return data;
}

/// The end of the first gap that holds it: the gap's beginning stays in place.
void* LargeHeap::take(size_t size) {
  for (Gap** at = &first_; *at; at = &(*at)->next) {
    Gap* gap = *at;
    if (gap->size < size) continue;
    gap->size -= size;
    if (gap->size == 0) *at = gap->next;
    return gap->end();
  }
  return nullptr;
}

bool LargeHeap::grow() {
  char* begin = chunk_of_system();
  if (begin) insert(begin, kChunk);
  return begin;
}

LargeHeap::Gap* LargeHeap::insert(char* begin, size_t size) {
  Gap* before = nullptr;
  Gap* next = first_;
  while (next && next->begin() < begin) {
    before = next;
    next = next->next;
  }
  Gap* gap;
  if (before && before->end() == begin) {
    gap = before;
    gap->size += size;
  } else {
    gap = new (begin) Gap{next, size};
    (before ? before->next : first_) = gap;
  }
  if (next && gap->end() == next->begin()) {
    gap->size += next->size;
    gap->next = next->next;
  }
  return gap;
}

void LargeHeap::release(void* data, size_t size) noexcept {
  size += kGranule;
  const std::lock_guard lock(mutex_);
  Gap* gap = insert(static_cast<char*>(data), size);
  if (gap->size >= kChunk) {
    Gap** at = &first_;
    while (*at != gap) at = &(*at)->next;
    *at = gap->next;
    platform::unmap_pages(gap->begin(), gap->size);
    return;
  }
  // Behind the first page, which says where the gap ends.
  char* begin = up_to_page(gap->begin() + 1);
  char* end = down_to_page(gap->end());
  if (begin < end) platform::empty_pages(begin, size_t(end - begin));
}

size_t LargeHeap::gaps() const {
  const std::lock_guard lock(mutex_);
  size_t total = 0;
  for (const Gap* gap = first_; gap; gap = gap->next) total += gap->size;
  return total;
}

}  // namespace hotaru::cpu
