// Sleep on a word of memory, and wake who sleeps there.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace hotaru::platform {

/// Sleeps while the word is `seen`, for at most the time; not at all if it is
/// another number already, and for no other than this thread's process. May
/// return early. False if the time passed.
bool futex_wait(const std::atomic<uint32_t>& word, uint32_t seen,
                std::chrono::nanoseconds time);

/// Wakes one thread that sleeps on the word. Takes its address alone: the word
/// may have ended meanwhile, as long as its memory was never unmapped.
void futex_wake_one(const std::atomic<uint32_t>* word);

}  // namespace hotaru::platform
