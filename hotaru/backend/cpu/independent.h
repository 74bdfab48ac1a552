// A promise to the compiler about one loop.
#pragma once

/// Before a `for` none of whose iterations reads what another one writes: it
/// becomes vector code without a check for overlap at run time. Clang keeps
/// the check: its own pragma warns of every loop that stays scalar.
#if defined(__clang__)
#define HOTARU_INDEPENDENT
#else
#define HOTARU_INDEPENDENT _Pragma("GCC ivdep")
#endif
