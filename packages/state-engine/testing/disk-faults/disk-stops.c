// Stops a program at the Nth call that changes a folder, or fills the disk there, as a library that LD_PRELOAD puts before libc.
//   STOP_ROOT    the folder; calls on everything below it count
//   STOP_AT      N
//   STOP_HOW     kill: the process is killed before the call; full: this call and all later ones that need room fail, ENOSPC
//   STOP_REACHED a file that is created then
//   STOP_COUNT   a file that gets a byte for each call
#include "replaced-calls.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *root;
static int stop_at, is_kill, calls, is_reached;

__attribute__((constructor)) static void start(void) {
  root = getenv("STOP_ROOT");
  const char *at = getenv("STOP_AT"), *how = getenv("STOP_HOW");
  stop_at = at ? atoi(at) : 0;
  is_kill = how && !strcmp(how, "kill");
}

static int is_below(const char *path) {
  size_t length = root ? strlen(root) : 0;
  return path && length && !strncmp(path, root, length) && path[length] == '/';
}

static int is_open_below(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_below(path);
}

/* Counts a call. Whether it fails because the disk is full. */
static int stops(int needs_room) {
  const char *count = getenv("STOP_COUNT");
  if (count) {
    int fd = syscall(SYS_openat, AT_FDCWD, count, O_CREAT | O_WRONLY | O_APPEND, 0644);
    syscall(SYS_write, fd, "+", 1);
    syscall(SYS_close, fd);
  }
  if (stop_at <= 0) return 0;
  pthread_mutex_lock(&lock);
  int is_now = ++calls == stop_at;
  if (is_now) {
    is_reached = 1;
    const char *reached = getenv("STOP_REACHED");
    if (reached) syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, reached, O_CREAT | O_WRONLY, 0644));
    if (is_kill) kill(getpid(), SIGKILL);
  }
  pthread_mutex_unlock(&lock);
  if (!is_reached || !needs_room) return 0;
  errno = ENOSPC;
  return 1;
}

#define ROOM 1
#define NO_ROOM 0
#define ON_FD(ret, name, room, params, args, ...) \
  ret name params { REAL(ret, name, __VA_ARGS__) return is_open_below(fd) && stops(room) ? -1 : real_##name args; }
#define ON_PATH(name, room, params, args, ...) \
  int name params { REAL(int, name, __VA_ARGS__) return is_below(path) && stops(room) ? -1 : real_##name args; }

ON_FD(ssize_t, write, ROOM, (int fd, const void *bytes, size_t n), (fd, bytes, n), int, const void *, size_t)
ON_FD(ssize_t, writev, ROOM, (int fd, const struct iovec *v, int n), (fd, v, n), int, const struct iovec *, int)
ON_FD(ssize_t, pwrite64, ROOM, (int fd, const void *b, size_t n, off64_t at), (fd, b, n, at), int, const void *, size_t, off64_t)
ON_FD(ssize_t, pwrite, ROOM, (int fd, const void *b, size_t n, off_t at), (fd, b, n, at), int, const void *, size_t, off_t)
ON_FD(ssize_t, pwritev64, ROOM, (int fd, const struct iovec *v, int n, off64_t at), (fd, v, n, at), int, const struct iovec *, int, off64_t)
ON_FD(ssize_t, pwritev, ROOM, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at), int, const struct iovec *, int, off_t)
ON_FD(int, fsync, NO_ROOM, (int fd), (fd), int)
ON_FD(int, fdatasync, NO_ROOM, (int fd), (fd), int)
ON_FD(int, ftruncate64, NO_ROOM, (int fd, off64_t n), (fd, n), int, off64_t)
ON_PATH(mkdir, ROOM, (const char *path, mode_t mode), (path, mode), const char *, mode_t)
ON_PATH(unlink, NO_ROOM, (const char *path), (path), const char *)
ON_PATH(rmdir, NO_ROOM, (const char *path), (path), const char *)
ON_PATH(remove, NO_ROOM, (const char *path), (path), const char *)
ON_PATH(link, ROOM, (const char *from, const char *path), (from, path), const char *, const char *)
ON_PATH(rename, NO_ROOM, (const char *from, const char *path), (from, path), const char *, const char *)

static int open_file(const char *path, int flags, int mode, int is_lmdb) {
  REAL(int, open64, const char *, int, ...)
  return flags & O_CREAT && is_below(path) && stops(!is_lmdb && access(path, F_OK) ? ROOM : NO_ROOM) ? -1 : real_open64(path, flags, mode);
}
