/* Preloaded into a process: while a flag file exists, everything below one folder lies on a disk that is full. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static int below(const char *path) {
  const char *folder = getenv("FULL_DISK_FOLDER"), *flag = getenv("FULL_DISK_FLAG");
  return folder && flag && strncmp(path, folder, strlen(folder)) == 0 && access(flag, F_OK) == 0;
}

static int full(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return below(path);
}

#define REFUSE_IF(condition) if (condition) { errno = ENOSPC; return -1; }
#define REAL(type, name) static type real; if (!real) real = (type)dlsym(RTLD_NEXT, name)

typedef ssize_t (*Write)(int, const void *, size_t);
typedef ssize_t (*Pwrite)(int, const void *, size_t, off64_t);
typedef int (*Truncate)(int, off64_t);
typedef int (*Open)(const char *, int, ...);

ssize_t write(int fd, const void *data, size_t size) {
  REAL(Write, "write");
  REFUSE_IF(full(fd));
  return real(fd, data, size);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
  REAL(Pwrite, "pwrite64");
  REFUSE_IF(full(fd));
  return real(fd, data, size, at);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { return pwrite64(fd, data, size, at); }
int ftruncate64(int fd, off64_t size) {
  REAL(Truncate, "ftruncate64");
  struct stat now;
  REFUSE_IF(fstat(fd, &now) == 0 && size > now.st_size && full(fd));
  return real(fd, size);
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

static int make(const char *path, int flags, mode_t mode) {
  REAL(Open, "open64");
  REFUSE_IF((flags & O_CREAT) && access(path, F_OK) != 0 && below(path));
  return real(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return make(path, flags, mode);
}
int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return make(path, flags, mode);
}
