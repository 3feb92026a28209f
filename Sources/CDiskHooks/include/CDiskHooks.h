#ifndef C_DISK_HOOKS_H
#define C_DISK_HOOKS_H

#include <stdint.h>

/* An SQLite VFS named "hooked" over the system's: it asks a listener before an operation on a file
 * and tells it after one that was carried out. Which listener follows from the folder that a file
 * lies in, so that several devices can live in one process. */

enum {
  DISK_OPEN = 1,     /* a file that is there */
  DISK_CREATE = 2,   /* a file that comes into being */
  DISK_WRITE = 3,
  DISK_TRUNCATE = 4, /* offset: the new size */
  DISK_SYNC = 5,
  DISK_DELETE = 6
};

typedef struct {
  void *context;
  /* 0 to go on, or the SQLite result code with which the operation is refused. */
  int (*before)(void *context, int kind, const char *path);
  void (*after)(void *context, int kind, const char *path, int64_t offset, int64_t length);
  /* A file may be larger than before: it was opened, or written beyond its end. May be NULL. */
  void (*grew)(void *context);
  /* Not 0: the listener plays what a sync means, and nobody waits for the real medium. */
  int plays_sync;
  /* Not 0: no other process opens the folder's databases. The locks on their logs are kept in this
   * process, among connections through "hooked" and through "bystander": the VFS of others that
   * open such a database here, of whose operations no listener hears. */
  int plays_locks;
} disk_hooks;

/* Registers the VFS (once) and a listener for a folder's files. Returns its slot; -1 where there is
 * no room or no VFS. Files that are open keep their listener. */
int disk_hooks_add(const char *folder, disk_hooks hooks);
/* The folder's files must be closed. */
void disk_hooks_remove(int slot);

#endif
