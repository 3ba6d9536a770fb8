/* Preloaded into a process: its wall clock is off by the seconds that a shared file of 8 bytes holds. Nothing else is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static volatile int64_t *offset_s(void) {
  static volatile int64_t none, *at;
  if (!at) {
    const char *path = getenv("WRONG_CLOCK_FILE");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *map = fd < 0 ? MAP_FAILED : mmap(NULL, 8, PROT_READ, MAP_SHARED, fd, 0);
    at = map == MAP_FAILED ? &none : map;
  }
  return at;
}

int clock_gettime(clockid_t clock, struct timespec *ts) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, ts);
  if (result == 0 && clock == CLOCK_REALTIME) ts->tv_sec += *offset_s();
  return result;
}

time_t time(time_t *where) {
  struct timespec ts;
  clock_gettime(CLOCK_REALTIME, &ts);
  if (where) *where = ts.tv_sec;
  return ts.tv_sec;
}

int gettimeofday(struct timeval *tv, void *zone) {
  struct timespec ts;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &ts);
  tv->tv_sec = ts.tv_sec;
  tv->tv_usec = ts.tv_nsec / 1000;
  return 0;
}
