// Which sanitizers the tests run under, whichever compiler built them.
#pragma once

#if defined(__has_feature)
#define HOTARU_HAS_FEATURE(name) __has_feature(name)
#else
#define HOTARU_HAS_FEATURE(name) 0
#endif

namespace hotaru {

#if defined(__SANITIZE_ADDRESS__) || HOTARU_HAS_FEATURE(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__) || HOTARU_HAS_FEATURE(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

inline constexpr bool kSanitized = kAddressSanitizer || kThreadSanitizer;

}  // namespace hotaru

#undef HOTARU_HAS_FEATURE
