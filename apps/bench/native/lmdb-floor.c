/* Look-ups of a bare LMDB file, with nothing of JavaScript around them: the floor under the floor.
   Usage: lmdb-floor FILE KEYS ROUNDS, where KEYS holds u32 little-endian length and bytes of each key.
   Prints nanoseconds of a look-up for each round; each value's first and last byte is read. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "lmdb.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static void expect(int status, const char *what) {
  if (status == 0) return;
  fprintf(stderr, "%s: %s\n", what, mdb_strerror(status));
  exit(1);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  FILE *file = fopen(argv[2], "rb");
  if (!file) return 1;
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  unsigned char *bytes = malloc(size);
  if (fread(bytes, 1, size, file) != (size_t)size) return 1;
  size_t count = 0;
  for (long at = 0; at < size; at += 4 + *(uint32_t *)(bytes + at)) count++;
  MDB_val *keys = malloc(count * sizeof(MDB_val));
  size_t index = 0;
  for (long at = 0; at < size; index++) {
    keys[index].mv_size = *(uint32_t *)(bytes + at);
    keys[index].mv_data = bytes + at + 4;
    at += 4 + keys[index].mv_size;
  }
  MDB_env *env;
  expect(mdb_env_create(&env), "create");
  expect(mdb_env_set_mapsize(env, 1UL << 40), "map size");
  expect(mdb_env_open(env, argv[1], MDB_RDONLY | MDB_NOSUBDIR | MDB_NOLOCK, 0644), "open");
  MDB_txn *txn;
  expect(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn), "begin");
  MDB_dbi dbi;
  expect(mdb_dbi_open(txn, NULL, 0, &dbi), "database");
  unsigned sum = 0;
  for (int round = -1; round < atoi(argv[3]); round++) {
    double began = now();
    for (size_t at = 0; at < count; at++) {
      MDB_val value;
      if (mdb_get(txn, dbi, &keys[at], &value) == 0 && value.mv_size > 0)
        sum += ((unsigned char *)value.mv_data)[0] + ((unsigned char *)value.mv_data)[value.mv_size - 1];
    }
    if (round >= 0) printf("%f\n", (now() - began) / count);
  }
  fprintf(stderr, "%u\n", sum);
  return 0;
}
