// A disk whose calls fail, as a library that LD_PRELOAD puts before libc. It keeps in a second folder what would survive a
// loss of power: what was written before a sync that succeeded. As in Linux, a sync that fails drops what was dirty, and the
// next one succeeds.
//   FAULT_FOLDER   the folder that is watched       FAULT_DISK  the folder of what survives
//   FAULT          CALL:NAME:N:ERRNO:TIMES: the Nth CALL (sync, write, create, open, read, remove, link, rename, cut, list,
//                  stat) on a file whose name begins with NAME fails, and so do the next ones, TIMES in all. The name of the
//                  folder itself is ".". The call "lock" takes a mutex of LMDB, and has no file: its NAME is ".".
//   FAULT_REMOVES  when the lock file of LMDB is opened, its data file is removed
//   FAULT_REACHED  a file that is created when the call fails
//   FAULT_HOLD     while there is this file, each sync creates the file with this name and ".held", which has the name of what
//                  is synced, and waits until one of them is removed
#include "replaced-calls.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <dirent.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST_DESCRIPTORS 4096

typedef struct { off_t at; size_t length; } Range;
typedef struct File {
  char name[256];
  ino_t inode;
  int copy;
  Range *dirty;
  int dirty_count, dirty_room;
  struct File *next;
} File;

static File *files;
static struct { File *file; int is_folder, is_dsync; } opened[MOST_DESCRIPTORS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *folder, *disk;
static char fault_call[16], fault_name[64];
static int fault_at = -1, fault_errno, fault_times = 1, calls;

__attribute__((constructor)) static void start(void) {
  folder = getenv("FAULT_FOLDER");
  disk = getenv("FAULT_DISK");
  const char *fault = getenv("FAULT");
  if (fault) sscanf(fault, "%15[^:]:%63[^:]:%d:%d:%d", fault_call, fault_name, &fault_at, &fault_errno, &fault_times);
}

static int real_open_file(const char *path, int flags, int mode) {
  REAL(int, open, const char *, int, ...)
  return real_open(path, flags, mode);
}

static int real_close_file(int fd) {
  REAL(int, close, int)
  return real_close(fd);
}

/* Whether this call fails. Sets errno. */
static int fails(const char *call, const char *name) {
  if (fault_at < 0 || strcmp(call, fault_call) || strncmp(name, fault_name, strlen(fault_name))) return 0;
  pthread_mutex_lock(&lock);
  calls++;
  int is_now = calls >= fault_at && calls < fault_at + fault_times;
  pthread_mutex_unlock(&lock);
  if (!is_now) return 0;
  const char *reached = getenv("FAULT_REACHED");
  if (reached) real_close_file(real_open_file(reached, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  errno = fault_errno;
  return 1;
}

static const char *name_in_folder(const char *path) {
  size_t length = folder ? strlen(folder) : 0;
  if (!path || !length || strncmp(path, folder, length) || path[length] != '/') return NULL;
  const char *name = path + length + 1;
  return strchr(name, '/') || strstr(name, "lock") ? NULL : name;
}

static void note_opened(int fd, const char *path, int flags) {
  if (fd < 0 || fd >= MOST_DESCRIPTORS) return;
  memset(&opened[fd], 0, sizeof opened[fd]);
  if (folder && !strcmp(path, folder)) opened[fd].is_folder = 1;
  const char *name = name_in_folder(path);
  struct stat found;
  if (!name || fstat(fd, &found) || !S_ISREG(found.st_mode)) return;
  pthread_mutex_lock(&lock);
  File *file = files;
  while (file && (file->inode != found.st_ino || strcmp(file->name, name))) file = file->next;
  if (!file) {
    file = calloc(1, sizeof *file);
    strncpy(file->name, name, sizeof file->name - 1);
    file->inode = found.st_ino;
    char path_of_copy[1024];
    snprintf(path_of_copy, sizeof path_of_copy, "%s/%s", disk, name);
    file->copy = real_open_file(path_of_copy, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (flags & O_CREAT && found.st_size == 0) (void)!ftruncate(file->copy, 0);
    /* A link to a file that was written elsewhere: nothing of it counts as synced. */
    if (!(flags & O_CREAT) && found.st_size > 0) {
      file->dirty = calloc(64, sizeof *file->dirty);
      file->dirty_room = 64;
      file->dirty[file->dirty_count++] = (Range){0, found.st_size};
    }
    file->next = files;
    files = file;
  }
  opened[fd].file = file;
  opened[fd].is_dsync = !!(flags & O_DSYNC);
  pthread_mutex_unlock(&lock);
}

static int open_file(const char *path, int flags, int mode, int is_lmdb) {
  const char *name = name_in_folder(path);
  if (name && !is_lmdb && fails(flags & O_CREAT ? "create" : "open", name)) return -1;
  size_t length = strlen(path);
  if (getenv("FAULT_REMOVES") && length > 14 && length < 1024 && !strcmp(path + length - 14, "state.mdb-lock")) {
    char data_file[1024];
    memcpy(data_file, path, length - 5);
    data_file[length - 5] = 0;
    unlink(data_file);
  }
  int fd = real_open_file(path, flags, mode);
  note_opened(fd, path, flags);
  return fd;
}

int close(int fd) {
  if (fd >= 0 && fd < MOST_DESCRIPTORS) memset(&opened[fd], 0, sizeof opened[fd]);
  return real_close_file(fd);
}

static File *file_of(int fd) {
  return fd >= 0 && fd < MOST_DESCRIPTORS ? opened[fd].file : NULL;
}

/* Copies what is dirty from the file to what survives; of a write with O_DSYNC, only that write. */
static void copy_dirty(int fd, File *file, int first) {
  static char buffer[1 << 16];
  REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t)
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int from = real_open_file(path, O_RDONLY | O_CLOEXEC, 0);
  for (int i = first; i < file->dirty_count; i++) {
    Range range = file->dirty[i];
    while (range.length > 0) {
      ssize_t count = pread(from, buffer, range.length < sizeof buffer ? range.length : sizeof buffer, range.at);
      if (count <= 0) break;
      real_pwrite64(file->copy, buffer, count, range.at);
      range.at += count;
      range.length -= count;
    }
  }
  file->dirty_count = first;
  struct stat now, kept;
  if (first == 0 && !fstat(from, &now) && !fstat(file->copy, &kept) && kept.st_size > now.st_size) {
    (void)!ftruncate(file->copy, now.st_size);
  }
  real_close_file(from);
}

/* One sync is held at a time. */
static void hold(const char *name) {
  static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
  const char *path = getenv("FAULT_HOLD");
  if (!path || access(path, F_OK)) return;
  char held[1024], draft[1024];
  snprintf(held, sizeof held, "%s.held", path);
  snprintf(draft, sizeof draft, "%s.draft", path);
  pthread_mutex_lock(&one);
  if (access(path, F_OK)) {
    pthread_mutex_unlock(&one);
    return;
  }
  int fd = real_open_file(draft, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
  REAL(ssize_t, write, int, const void *, size_t)
  (void)!real_write(fd, name, strlen(name));
  real_close_file(fd);
  REAL(int, rename, const char *, const char *)
  real_rename(draft, held);
  while (!access(held, F_OK) && !access(path, F_OK)) usleep(200);
  unlink(held);
  pthread_mutex_unlock(&one);
}

static void note_written(int fd, off_t at, ssize_t length) {
  File *file = file_of(fd);
  if (!file || length <= 0) return;
  if (opened[fd].is_dsync) hold(file->name);
  pthread_mutex_lock(&lock);
  if (file->dirty_count == file->dirty_room) {
    file->dirty_room = file->dirty_room ? 2 * file->dirty_room : 64;
    file->dirty = realloc(file->dirty, file->dirty_room * sizeof *file->dirty);
  }
  file->dirty[file->dirty_count++] = (Range){at, length};
  if (opened[fd].is_dsync) copy_dirty(fd, file, file->dirty_count - 1);
  pthread_mutex_unlock(&lock);
}

static int write_fails(int fd) {
  File *file = file_of(fd);
  return file && fails("write", file->name);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
  REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t)
  if (write_fails(fd)) return -1;
  ssize_t written = real_pwrite64(fd, bytes, length, at);
  note_written(fd, at, written);
  return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
  return pwrite64(fd, bytes, length, at);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) {
  REAL(ssize_t, pwritev64, int, const struct iovec *, int, off64_t)
  if (write_fails(fd)) return -1;
  ssize_t written = real_pwritev64(fd, parts, count, at);
  note_written(fd, at, written);
  return written;
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
  return pwritev64(fd, parts, count, at);
}

ssize_t write(int fd, const void *bytes, size_t length) {
  REAL(ssize_t, write, int, const void *, size_t)
  if (!file_of(fd)) return real_write(fd, bytes, length);
  if (write_fails(fd)) return -1;
  off_t at = lseek(fd, 0, SEEK_CUR);
  ssize_t written = real_write(fd, bytes, length);
  note_written(fd, at, written);
  return written;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(ssize_t, writev, int, const struct iovec *, int)
  if (!file_of(fd)) return real_writev(fd, parts, count);
  if (write_fails(fd)) return -1;
  off_t at = lseek(fd, 0, SEEK_CUR);
  ssize_t written = real_writev(fd, parts, count);
  note_written(fd, at, written);
  return written;
}

static int sync_with(int fd, int (*real_sync)(int)) {
  if (fd >= 0 && fd < MOST_DESCRIPTORS && opened[fd].is_folder) {
    hold(".");
    if (fails("sync", ".")) return -1;
  }
  File *file = file_of(fd);
  if (file) hold(file->name);
  if (!file) return real_sync(fd);
  if (fails("sync", file->name)) {
    int reason = errno;
    pthread_mutex_lock(&lock);
    file->dirty_count = 0;
    pthread_mutex_unlock(&lock);
    errno = reason;
    return -1;
  }
  pthread_mutex_lock(&lock);
  copy_dirty(fd, file, 0);
  pthread_mutex_unlock(&lock);
  return 0;
}

int fsync(int fd) {
  REAL(int, fsync, int)
  return sync_with(fd, real_fsync);
}

int fdatasync(int fd) {
  REAL(int, fdatasync, int)
  return sync_with(fd, real_fdatasync);
}

/* LMDB begins every transaction with a mutex. */
int pthread_mutex_lock(pthread_mutex_t *mutex) {
  REAL(int, pthread_mutex_lock, pthread_mutex_t *)
  if (!strcmp(fault_call, "lock") && IS_OF_LMDB && fails("lock", ".")) return fault_errno;
  return real_pthread_mutex_lock(mutex);
}

static int fails_on_path(const char *call, const char *path) {
  const char *name = name_in_folder(path);
  return name && fails(call, name);
}

ssize_t pread64(int fd, void *bytes, size_t length, off64_t at) {
  REAL(ssize_t, pread64, int, void *, size_t, off64_t)
  File *file = file_of(fd);
  return file && !IS_OF_LMDB && fails("read", file->name) ? -1 : real_pread64(fd, bytes, length, at);
}

int unlink(const char *path) {
  REAL(int, unlink, const char *)
  return fails_on_path("remove", path) ? -1 : real_unlink(path);
}

/* libstdc++, and so rm of Node.js, removes files with this. */
int remove(const char *path) {
  REAL(int, remove, const char *)
  return fails_on_path("remove", path) ? -1 : real_remove(path);
}

int link(const char *from, const char *to) {
  REAL(int, link, const char *, const char *)
  return fails_on_path("link", to) || fails_on_path("link", from) ? -1 : real_link(from, to);
}

int ftruncate64(int fd, off64_t length) {
  REAL(int, ftruncate64, int, off64_t)
  File *file = file_of(fd);
  return file && fails("cut", file->name) ? -1 : real_ftruncate64(fd, length);
}

int scandir64(const char *path, struct dirent64 ***names, int (*filter)(const struct dirent64 *),
              int (*compare)(const struct dirent64 **, const struct dirent64 **)) {
  REAL(int, scandir64, const char *, struct dirent64 ***, int (*)(const struct dirent64 *),
       int (*)(const struct dirent64 **, const struct dirent64 **))
  if (folder && !strcmp(path, folder) && fails("list", ".")) return -1;
  return real_scandir64(path, names, filter, compare);
}

/* libuv calls statx so. */
long syscall(long number, ...) {
  REAL(long, syscall, long, ...)
  long args[6];
  va_list rest;
  va_start(rest, number);
  for (int i = 0; i < 6; i++) args[i] = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_statx && fails_on_path("stat", (const char *)args[1])) return -1;
  return real_syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

int rename(const char *from, const char *to) {
  REAL(int, rename, const char *, const char *)
  if (fails_on_path("rename", to)) return -1;
  int result = real_rename(from, to);
  const char *old_name = name_in_folder(from), *new_name = name_in_folder(to);
  if (result || !old_name || !new_name) return result;
  pthread_mutex_lock(&lock);
  for (File *file = files; file; file = file->next) {
    if (strcmp(file->name, old_name)) continue;
    char old_copy[1024], new_copy[1024];
    snprintf(old_copy, sizeof old_copy, "%s/%s", disk, old_name);
    snprintf(new_copy, sizeof new_copy, "%s/%s", disk, new_name);
    real_rename(old_copy, new_copy);
    snprintf(file->name, sizeof file->name, "%s", new_name);
  }
  pthread_mutex_unlock(&lock);
  return result;
}
