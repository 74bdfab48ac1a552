// A test's code in a process of its own.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace hotaru {

inline constexpr int kHung = -1, kThrew = 77;

/// The exit status of a child that runs f, 0 if it came to its end; kHung after
/// twenty seconds.
inline int status_of_child(const std::function<void()>& f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    try {
      f();
    } catch (...) {
      _exit(kThrew);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kHung;
}

}  // namespace hotaru
