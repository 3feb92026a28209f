#include "CDiskHooks.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* ---- listeners, guarded by `guard` ---- */

#define MAX_LISTENERS 256

typedef struct {
  char *folder;
  disk_hooks hooks;
} Listener;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static Listener listeners[MAX_LISTENERS];
static const disk_hooks nobody;

static disk_hooks hooks_of(const char *path) {
  disk_hooks found = nobody;
  if (path == NULL) return found;
  pthread_mutex_lock(&guard);
  for (int i = 0; i < MAX_LISTENERS; i++) {
    if (listeners[i].folder == NULL) continue;
    size_t length = strlen(listeners[i].folder);
    if (strncmp(path, listeners[i].folder, length) == 0 && path[length] == '/') {
      found = listeners[i].hooks;
      break;
    }
  }
  pthread_mutex_unlock(&guard);
  return found;
}

static int before(const disk_hooks *hooks, int kind, const char *path) {
  return hooks->before ? hooks->before(hooks->context, kind, path) : SQLITE_OK;
}
static void after(const disk_hooks *hooks, int kind, const char *path, int64_t offset,
                  int64_t length) {
  if (hooks->after) hooks->after(hooks->context, kind, path, offset, length);
}

/* ---- what all who have a file open here share: guarded by `guard` ---- */

typedef struct SharedFile {
  struct SharedFile *next;
  char *path;
  int users;
  sqlite3_int64 size;
  /* Readers of each lock on the write-ahead log, or -1 for the one writer. */
  int holders[SQLITE_SHM_NLOCK];
} SharedFile;

static SharedFile *shared_files;

static SharedFile *shared_file(const char *path, sqlite3_int64 size) {
  pthread_mutex_lock(&guard);
  SharedFile *file = shared_files;
  while (file != NULL && strcmp(file->path, path) != 0) file = file->next;
  if (file == NULL && (file = calloc(1, sizeof(*file))) != NULL) {
    file->path = strdup(path);
    if (file->path == NULL) {
      free(file);
      file = NULL;
    } else {
      file->next = shared_files;
      shared_files = file;
    }
  }
  if (file != NULL) {
    file->users += 1;
    file->size = size;
  }
  pthread_mutex_unlock(&guard);
  return file;
}

/* ---- the VFS ---- */

typedef struct {
  sqlite3_file base;
  disk_hooks hooks;
  char *path;
  sqlite3_file *real;
  /* NULL where nobody keeps account of the file. */
  SharedFile *shared;
  /* 0: the locks are the system's, which asks the kernel six times for each transaction. */
  int plays_locks;
  /* Locks that this file holds, a bit each. */
  unsigned read_locks;
  unsigned write_locks;
} HookedFile;

static sqlite3_vfs *system_vfs;
static sqlite3_vfs hooked_vfs;
static sqlite3_vfs bystander_vfs;

#define FILE_OF(file) ((HookedFile *)(file))
#define REAL(file) (FILE_OF(file)->real)

static int played_lock(HookedFile *file, int offset, int count, int flags) {
  unsigned mask = ((1u << count) - 1) << offset;
  int *holders = file->shared->holders;
  if (flags & SQLITE_SHM_UNLOCK) {
    for (int i = offset; i < offset + count; i++) {
      if (file->write_locks >> i & 1) holders[i] = 0;
      if (file->read_locks >> i & 1) holders[i] -= 1;
    }
    file->write_locks &= ~mask;
    file->read_locks &= ~mask;
    return SQLITE_OK;
  }
  if (flags & SQLITE_SHM_SHARED) {
    if (file->read_locks & mask) return SQLITE_OK;
    if (holders[offset] < 0) return SQLITE_BUSY;
    holders[offset] += 1;
    file->read_locks |= mask;
    return SQLITE_OK;
  }
  for (int i = offset; i < offset + count; i++) {
    if (holders[i] != 0 && !(file->write_locks >> i & 1)) return SQLITE_BUSY;
  }
  for (int i = offset; i < offset + count; i++) holders[i] = -1;
  file->write_locks |= mask;
  return SQLITE_OK;
}

/* Lets go of all locks, and of the account where nobody else uses it. */
static void leave_shared(HookedFile *file) {
  SharedFile *shared = file->shared;
  if (shared == NULL) return;
  pthread_mutex_lock(&guard);
  played_lock(file, 0, SQLITE_SHM_NLOCK, SQLITE_SHM_UNLOCK);
  file->shared = NULL;
  shared->users -= 1;
  if (shared->users == 0) {
    SharedFile **link = &shared_files;
    while (*link != shared) link = &(*link)->next;
    *link = shared->next;
    free(shared->path);
    free(shared);
  }
  pthread_mutex_unlock(&guard);
}

static void grew(const disk_hooks *hooks) {
  if (hooks->grew) hooks->grew(hooks->context);
}

/* Keeps account of the size: 1 where the file is larger now. */
static int note_end(HookedFile *file, sqlite3_int64 end) {
  if (file->shared == NULL) return 0;
  pthread_mutex_lock(&guard);
  int is_larger = end > file->shared->size;
  if (is_larger) file->shared->size = end;
  pthread_mutex_unlock(&guard);
  return is_larger;
}
static void note_size(HookedFile *file, sqlite3_int64 size) {
  if (file->shared == NULL) return;
  pthread_mutex_lock(&guard);
  file->shared->size = size;
  pthread_mutex_unlock(&guard);
}

static int hooked_close(sqlite3_file *file) {
  HookedFile *hooked = FILE_OF(file);
  leave_shared(hooked);
  int status = hooked->real->pMethods ? hooked->real->pMethods->xClose(hooked->real) : SQLITE_OK;
  free(hooked->path);
  hooked->path = NULL;
  return status;
}
static int hooked_read(sqlite3_file *file, void *buffer, int count, sqlite3_int64 offset) {
  return REAL(file)->pMethods->xRead(REAL(file), buffer, count, offset);
}
static int hooked_write(sqlite3_file *file, const void *data, int count, sqlite3_int64 offset) {
  int refused = before(&FILE_OF(file)->hooks, DISK_WRITE, FILE_OF(file)->path);
  if (refused) return refused;
  int status = REAL(file)->pMethods->xWrite(REAL(file), data, count, offset);
  if (status == SQLITE_OK) {
    if (note_end(FILE_OF(file), offset + count)) grew(&FILE_OF(file)->hooks);
    after(&FILE_OF(file)->hooks, DISK_WRITE, FILE_OF(file)->path, offset, count);
  }
  return status;
}
static int hooked_truncate(sqlite3_file *file, sqlite3_int64 size) {
  int refused = before(&FILE_OF(file)->hooks, DISK_TRUNCATE, FILE_OF(file)->path);
  if (refused) return refused;
  int status = REAL(file)->pMethods->xTruncate(REAL(file), size);
  if (status == SQLITE_OK) {
    note_size(FILE_OF(file), size);
    after(&FILE_OF(file)->hooks, DISK_TRUNCATE, FILE_OF(file)->path, size, 0);
  }
  return status;
}
static int hooked_sync(sqlite3_file *file, int flags) {
  int refused = before(&FILE_OF(file)->hooks, DISK_SYNC, FILE_OF(file)->path);
  if (refused) return refused;
  int status = SQLITE_OK;
  if (!FILE_OF(file)->hooks.plays_sync) status = REAL(file)->pMethods->xSync(REAL(file), flags);
  if (status == SQLITE_OK) after(&FILE_OF(file)->hooks, DISK_SYNC, FILE_OF(file)->path, 0, 0);
  return status;
}
static int hooked_file_size(sqlite3_file *file, sqlite3_int64 *size) {
  return REAL(file)->pMethods->xFileSize(REAL(file), size);
}
static int hooked_lock(sqlite3_file *file, int level) {
  return REAL(file)->pMethods->xLock(REAL(file), level);
}
static int hooked_unlock(sqlite3_file *file, int level) {
  return REAL(file)->pMethods->xUnlock(REAL(file), level);
}
static int hooked_check_lock(sqlite3_file *file, int *result) {
  return REAL(file)->pMethods->xCheckReservedLock(REAL(file), result);
}
static int hooked_control(sqlite3_file *file, int operation, void *argument) {
  return REAL(file)->pMethods->xFileControl(REAL(file), operation, argument);
}
static int hooked_sector(sqlite3_file *file) {
  return REAL(file)->pMethods->xSectorSize(REAL(file));
}
static int hooked_traits(sqlite3_file *file) {
  return REAL(file)->pMethods->xDeviceCharacteristics(REAL(file));
}
static int hooked_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **map) {
  return REAL(file)->pMethods->xShmMap(REAL(file), page, size, extend, map);
}
static int hooked_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  if (FILE_OF(file)->plays_locks) {
    pthread_mutex_lock(&guard);
    int status = played_lock(FILE_OF(file), offset, count, flags);
    pthread_mutex_unlock(&guard);
    return status;
  }
  return REAL(file)->pMethods->xShmLock(REAL(file), offset, count, flags);
}
static void hooked_shm_barrier(sqlite3_file *file) { REAL(file)->pMethods->xShmBarrier(REAL(file)); }
static int hooked_shm_unmap(sqlite3_file *file, int erase) {
  return REAL(file)->pMethods->xShmUnmap(REAL(file), erase);
}

static const sqlite3_io_methods hooked_methods = {
    2, hooked_close, hooked_read, hooked_write, hooked_truncate, hooked_sync, hooked_file_size,
    hooked_lock, hooked_unlock, hooked_check_lock, hooked_control, hooked_sector, hooked_traits,
    hooked_shm_map, hooked_shm_lock, hooked_shm_barrier, hooked_shm_unmap, NULL, NULL};

static int hooked_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags,
                       int *out_flags) {
  HookedFile *hooked = FILE_OF(file);
  int is_bystander = vfs == &bystander_vfs;
  memset(hooked, 0, sizeof(*hooked));
  hooked->real = (sqlite3_file *)&hooked[1];
  hooked->hooks = is_bystander ? nobody : hooks_of(path);
  int exists = 1;
  if (path != NULL && (flags & SQLITE_OPEN_CREATE)) {
    system_vfs->xAccess(system_vfs, path, SQLITE_ACCESS_EXISTS, &exists);
  }
  int kind = exists ? DISK_OPEN : DISK_CREATE;
  int refused = before(&hooked->hooks, kind, path);
  if (refused) return refused;
  int status = system_vfs->xOpen(system_vfs, path, hooked->real, flags, out_flags);
  if (status != SQLITE_OK) return status;
  if (path != NULL) hooked->path = strdup(path);
  if (path != NULL && (is_bystander || hooked->hooks.grew || hooked->hooks.plays_locks)) {
    sqlite3_int64 size = 0;
    hooked->real->pMethods->xFileSize(hooked->real, &size);
    hooked->shared = shared_file(path, size);
    if (hooked->shared == NULL) {
      hooked->real->pMethods->xClose(hooked->real);
      free(hooked->path);
      return SQLITE_NOMEM;
    }
    hooked->plays_locks = is_bystander || hooked->hooks.plays_locks;
  }
  hooked->base.pMethods = &hooked_methods;
  grew(&hooked->hooks);
  after(&hooked->hooks, kind, path, 0, 0);
  return SQLITE_OK;
}

static int hooked_delete(sqlite3_vfs *vfs, const char *path, int sync_folder) {
  disk_hooks hooks = vfs == &bystander_vfs ? nobody : hooks_of(path);
  int refused = before(&hooks, DISK_DELETE, path);
  if (refused) return refused;
  int status = system_vfs->xDelete(system_vfs, path, hooks.plays_sync ? 0 : sync_folder);
  if (status == SQLITE_OK) after(&hooks, DISK_DELETE, path, 0, 0);
  return status;
}

/* Scenario time stands still while a call runs: whoever holds a lock keeps it, and a wait for it
 * would only cost real time. */
static int hooked_sleep(sqlite3_vfs *vfs, int microseconds) {
  (void)vfs;
  return microseconds;
}

static int registered(void) {
  if (system_vfs != NULL) return 1;
  sqlite3_vfs *found = sqlite3_vfs_find(NULL);
  if (found == NULL) return 0;
  hooked_vfs = *found;
  hooked_vfs.iVersion = 1;
  hooked_vfs.pNext = NULL;
  hooked_vfs.zName = "hooked";
  hooked_vfs.szOsFile = (int)sizeof(HookedFile) + found->szOsFile;
  hooked_vfs.xOpen = hooked_open;
  hooked_vfs.xDelete = hooked_delete;
  hooked_vfs.xSleep = hooked_sleep;
  bystander_vfs = hooked_vfs;
  bystander_vfs.zName = "bystander";
  if (sqlite3_vfs_register(&hooked_vfs, 0) != SQLITE_OK) return 0;
  if (sqlite3_vfs_register(&bystander_vfs, 0) != SQLITE_OK) return 0;
  system_vfs = found;
  return 1;
}

int disk_hooks_add(const char *folder, disk_hooks hooks) {
  int slot = -1;
  pthread_mutex_lock(&guard);
  for (int i = 0; registered() && i < MAX_LISTENERS; i++) {
    if (listeners[i].folder != NULL) continue;
    listeners[i].folder = strdup(folder);
    listeners[i].hooks = hooks;
    if (listeners[i].folder != NULL) slot = i;
    break;
  }
  pthread_mutex_unlock(&guard);
  return slot;
}

void disk_hooks_remove(int slot) {
  if (slot < 0 || slot >= MAX_LISTENERS) return;
  pthread_mutex_lock(&guard);
  free(listeners[slot].folder);
  listeners[slot].folder = NULL;
  listeners[slot].hooks = nobody;
  pthread_mutex_unlock(&guard);
}
