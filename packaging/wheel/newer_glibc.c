/* Functions of glibc that are newer than the oldest one we link for, and that
   objects or the static libstdc++ call all the same. Each keeps the promise of
   the newer function; hidden, so that no other library meets them. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* False (glibc 2.32): shared pointers then count with atomic instructions. */
HIDDEN char __libc_single_threaded = 0;

/* The thread's number (glibc 2.30). */
HIDDEN pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

/* Random bits of the kernel (glibc 2.36), for std::random_device. */
HIDDEN uint32_t arc4random(void) {
  uint32_t bits;
  while (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits)
    if (errno != EINTR) abort();
  return bits;
}

/* The time of the clock of condition variables by then, where the caller's
   clock says `until`. */
static struct timespec in_realtime(clockid_t clock, const struct timespec *until) {
  struct timespec now, real;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &real);
  real.tv_sec += until->tv_sec - now.tv_sec;
  real.tv_nsec += until->tv_nsec - now.tv_nsec;
  while (real.tv_nsec >= 1000000000L) { real.tv_nsec -= 1000000000L; ++real.tv_sec; }
  while (real.tv_nsec < 0) { real.tv_nsec += 1000000000L; --real.tv_sec; }
  return real;
}

/* Waits until a time of any clock (glibc 2.30). Callers look again whether the
   time has come, so a change of the machine's date wakes them early or late
   but ends no wait that should go on. */
HIDDEN int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  clockid_t clock, const struct timespec *until) {
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, until);
  struct timespec real = in_realtime(clock, until);
  return pthread_cond_timedwait(condition, mutex, &real);
}
