#ifndef STORAGE_SHIM_H
#define STORAGE_SHIM_H

#include <stdint.h>

#include "StorageMemory.h"

/* A storage-operation shim for tests: an SQLite VFS named "shim" over the system's, and a counter
 * that operations on other files pass through as well. It counts operations, can end the process
 * or fail from the n-th on, and records what was written and synced, so that crash images can be
 * rebuilt. One per process; never part of a product. */

enum {
  SHIM_CREATE = 1,   /* a file came into being */
  SHIM_WRITE = 2,
  SHIM_TRUNCATE = 3,
  SHIM_SYNC = 4,     /* length: 1 = plain, 2 = full */
  SHIM_DELETE = 5,
  SHIM_RENAME = 6,   /* data: the new name */
  SHIM_SYNC_FOLDER = 7,
  SHIM_LOCK = 8
};

enum {
  SHIM_GO_ON = 0,
  SHIM_KILL = 1,     /* SIGKILL to this process */
  SHIM_EIO = 2,
  SHIM_ENOSPC = 3,
  SHIM_BUSY = 4,     /* locks are refused, other operations go on */
  SHIM_DIE = 5,      /* as after a kill: this and all later operations have no effect and fail */
  SHIM_CANTOPEN = 6  /* opening fails, other operations go on */
};

/* Registers the VFS; safe to call again. */
int shim_register(void);
/* 1: from now on SQLite's files lie in memory, see StorageMemory.h. Nothing may be open. */
void shim_use_memory(int use);
/* Spares SQLite its locks, its bookkeeping and most of its calls for memory: for a process that
 * judges images by the thousand on one thread. Before anything else of SQLite's. */
void shim_single_thread(void);
/* Forgets counters, plans and records. */
void shim_reset(void);
/* From operation `from` up to and without `until` (counted from 1) the action applies. */
void shim_plan(long from, long until, int action);
/* Writes of SQLite's to files whose path holds the part find the disk full; NULL ends it. */
void shim_full(const char *part);
/* Called before each operation, on its thread, until shim_reset or NULL. */
void shim_watch(void (*callback)(void *), void *context);
/* With SHIM_DIE: how many bytes of the write at which death came reach the file. */
void shim_tear(long bytes);
/* The next operation of the kind stands still, before it has any effect, until shim_let_go. */
void shim_hold(int kind);
/* Returns once an operation stands still. */
void shim_wait_until_held(void);
void shim_let_go(void);
long shim_operations(void);
int shim_is_dead(void);
/* 1: syncs are counted but not carried out. */
void shim_skip_syncs(int skip);
/* 1: operations are recorded. */
void shim_record(int record);

/* For files that are not SQLite's: counts one operation and returns what shall happen to it. */
int shim_step(int kind);
/* Records an operation that shim_step let through. */
void shim_note(int kind, const char *path, int64_t offset, int64_t length, const void *data);

typedef struct {
  int kind;
  int file; /* an index for shim_path */
  int64_t offset;
  int64_t length;
  const uint8_t *data;
} shim_operation;

long shim_recorded(void);
const shim_operation *shim_recorded_at(long index);
const char *shim_path(int file);

/* 1 where the bytes hold the needle. */
int shim_contains(const void *bytes, int64_t count, const void *needle, int64_t needle_count);

#endif
