// For libraries that LD_PRELOAD puts before libc, whose calls replace those of libc.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <string.h>

/* The call of libc with this name, as real_NAME. */
#define REAL(ret, name, ...) \
  static ret (*real_##name)(__VA_ARGS__); \
  if (!real_##name) real_##name = dlsym(RTLD_NEXT, #name);

/* Whether LMDB makes a call. lmdb-js 3.5.6 may crash if LMDB cannot open or read a file, which no caller can prevent. */
#define IS_OF_LMDB is_of_lmdb(__builtin_return_address(0))
static int is_of_lmdb(void *caller) {
  Dl_info found;
  return dladdr(caller, &found) && found.dli_fname && strstr(found.dli_fname, "lmdb") != NULL;
}

/* Opens a file in place of libc; the library defines it. */
static int open_file(const char *path, int flags, int mode, int is_lmdb);

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int mode = va_arg(rest, int);
  va_end(rest);
  return open_file(path, flags, mode, IS_OF_LMDB);
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int mode = va_arg(rest, int);
  va_end(rest);
  return open_file(path, flags, mode, IS_OF_LMDB);
}
