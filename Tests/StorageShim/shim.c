#define _GNU_SOURCE
#include "StorageShim.h"

#include "StorageMemory.h"

#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- state, guarded by `guard` ---- */

#define MAX_FILES 4096

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static int hold_kind, is_held;
static long operations, plan_from, plan_until, tear_bytes;
static int plan_action, is_dead, skips_syncs, records;
static void (*watcher)(void *);
static void *watcher_context;
static char full_part[64];
static shim_operation *log_entries;
static long log_count, log_space;
static char *paths[MAX_FILES];
static int path_count;

void shim_reset(void) {
  pthread_mutex_lock(&guard);
  for (long i = 0; i < log_count; i++) free((void *)log_entries[i].data);
  for (int i = 0; i < path_count; i++) free(paths[i]);
  operations = plan_from = plan_until = tear_bytes = log_count = 0;
  plan_action = is_dead = path_count = 0;
  watcher = NULL;
  full_part[0] = 0;
  pthread_mutex_unlock(&guard);
}

void shim_watch(void (*callback)(void *), void *context) {
  pthread_mutex_lock(&guard);
  watcher = callback;
  watcher_context = context;
  pthread_mutex_unlock(&guard);
}

void shim_full(const char *part) {
  pthread_mutex_lock(&guard);
  strncpy(full_part, part == NULL ? "" : part, sizeof(full_part) - 1);
  pthread_mutex_unlock(&guard);
}

static int finds_no_room(const char *path) {
  pthread_mutex_lock(&guard);
  int full = full_part[0] && path != NULL && strstr(path, full_part) != NULL;
  pthread_mutex_unlock(&guard);
  return full;
}

void shim_plan(long from, long until, int action) {
  pthread_mutex_lock(&guard);
  plan_from = from;
  plan_until = until;
  plan_action = action;
  if (action == SHIM_GO_ON) is_dead = 0;
  pthread_mutex_unlock(&guard);
}

void shim_hold(int kind) {
  pthread_mutex_lock(&guard);
  hold_kind = kind;
  pthread_mutex_unlock(&guard);
}

void shim_wait_until_held(void) {
  pthread_mutex_lock(&guard);
  while (!is_held) pthread_cond_wait(&moved, &guard);
  pthread_mutex_unlock(&guard);
}

void shim_let_go(void) {
  pthread_mutex_lock(&guard);
  hold_kind = is_held = 0;
  pthread_cond_broadcast(&moved);
  pthread_mutex_unlock(&guard);
}

void shim_tear(long bytes) { tear_bytes = bytes; }
long shim_operations(void) {
  pthread_mutex_lock(&guard);
  long count = operations;
  pthread_mutex_unlock(&guard);
  return count;
}
int shim_is_dead(void) {
  pthread_mutex_lock(&guard);
  int dead = is_dead;
  pthread_mutex_unlock(&guard);
  return dead;
}
void shim_skip_syncs(int skip) { skips_syncs = skip; }
void shim_record(int record) { records = record; }

int shim_step(int kind) {
  pthread_mutex_lock(&guard);
  int result = SHIM_GO_ON;
  int counts = kind != SHIM_LOCK;
  if (counts) operations++;
  if (hold_kind == kind) {
    hold_kind = 0;
    is_held = 1;
    pthread_cond_broadcast(&moved);
    while (is_held) pthread_cond_wait(&moved, &guard);
  }
  if (is_dead) {
    result = SHIM_DIE;
  } else if (plan_action && operations >= plan_from && operations < plan_until) {
    result = plan_action;
    if (result == SHIM_KILL && counts) kill(getpid(), SIGKILL);
    if (result == SHIM_DIE) {
      is_dead = 1;
      result = counts && tear_bytes > 0 ? -(int)tear_bytes : SHIM_DIE;
    }
    if (result == SHIM_BUSY && kind != SHIM_LOCK) result = SHIM_GO_ON;
    if (result == SHIM_CANTOPEN && kind != SHIM_CREATE) result = SHIM_GO_ON;
    if (kind == SHIM_LOCK && result != SHIM_BUSY && result != SHIM_DIE) result = SHIM_GO_ON;
  }
  void (*watch)(void *) = watcher;
  void *context = watcher_context;
  pthread_mutex_unlock(&guard);
  if (watch != NULL) watch(context);
  return result;
}

static int index_of(const char *path) {
  for (int i = path_count - 1; i >= 0; i--)
    if (strcmp(paths[i], path) == 0) return i;
  if (path_count == MAX_FILES) abort();
  paths[path_count] = strdup(path);
  return path_count++;
}

void shim_note(int kind, const char *path, int64_t offset, int64_t length, const void *data) {
  if (!records || path == NULL) return;
  pthread_mutex_lock(&guard);
  if (log_count == log_space) {
    log_space = log_space ? log_space * 2 : 1024;
    log_entries = realloc(log_entries, (size_t)log_space * sizeof(shim_operation));
    if (log_entries == NULL) abort();
  }
  uint8_t *copy = NULL;
  if (data != NULL && length > 0) {
    copy = malloc((size_t)length);
    if (copy == NULL) abort();
    memcpy(copy, data, (size_t)length);
  }
  shim_operation entry = {kind, index_of(path), offset, length, copy};
  log_entries[log_count++] = entry;
  pthread_mutex_unlock(&guard);
}

long shim_recorded(void) { return log_count; }
const shim_operation *shim_recorded_at(long index) { return &log_entries[index]; }
const char *shim_path(int file) { return paths[file]; }

/* ---- the VFS ---- */

typedef struct {
  sqlite3_file base;
  char *path;
  sqlite3_file *real;
} ShimFile;

static sqlite3_vfs *system_vfs; /* the system's, or the one in memory */
static sqlite3_vfs *disk_vfs, *in_memory_vfs;
static sqlite3_vfs shim_vfs;

#define REAL(file) (((ShimFile *)(file))->real)

static int refusal(int step, int code) {
  if (step == SHIM_ENOSPC) return SQLITE_FULL;
  return code;
}

static int shim_close(sqlite3_file *file) {
  ShimFile *shim = (ShimFile *)file;
  int status = shim->real->pMethods ? shim->real->pMethods->xClose(shim->real) : SQLITE_OK;
  free(shim->path);
  shim->path = NULL;
  return status;
}
static int shim_read(sqlite3_file *file, void *buffer, int count, sqlite3_int64 offset) {
  return REAL(file)->pMethods->xRead(REAL(file), buffer, count, offset);
}
static int shim_write(sqlite3_file *file, const void *data, int count, sqlite3_int64 offset) {
  int step = shim_step(SHIM_WRITE);
  if (step < 0) { /* torn by death */
    int part = -step < count ? -step : count;
    REAL(file)->pMethods->xWrite(REAL(file), data, part, offset);
    return SQLITE_IOERR_WRITE;
  }
  if (step != SHIM_GO_ON) return refusal(step, SQLITE_IOERR_WRITE);
  if (finds_no_room(((ShimFile *)file)->path)) return SQLITE_FULL;
  int status = REAL(file)->pMethods->xWrite(REAL(file), data, count, offset);
  if (status == SQLITE_OK) shim_note(SHIM_WRITE, ((ShimFile *)file)->path, offset, count, data);
  return status;
}
static int shim_truncate(sqlite3_file *file, sqlite3_int64 size) {
  int step = shim_step(SHIM_TRUNCATE);
  if (step != SHIM_GO_ON) return refusal(step, SQLITE_IOERR_TRUNCATE);
  int status = REAL(file)->pMethods->xTruncate(REAL(file), size);
  if (status == SQLITE_OK) shim_note(SHIM_TRUNCATE, ((ShimFile *)file)->path, size, 0, NULL);
  return status;
}
static int shim_sync(sqlite3_file *file, int flags) {
  int step = shim_step(SHIM_SYNC);
  if (step != SHIM_GO_ON) return refusal(step, SQLITE_IOERR_FSYNC);
  int status = skips_syncs ? SQLITE_OK : REAL(file)->pMethods->xSync(REAL(file), flags);
  int is_full = (flags & 0x0f) == SQLITE_SYNC_FULL;
  if (status == SQLITE_OK) {
    shim_note(SHIM_SYNC, ((ShimFile *)file)->path, 0, is_full ? 2 : 1, NULL);
  }
  return status;
}
static int shim_file_size(sqlite3_file *file, sqlite3_int64 *size) {
  return REAL(file)->pMethods->xFileSize(REAL(file), size);
}
static int shim_lock(sqlite3_file *file, int level) {
  /* Readers are never refused in a write-ahead log. */
  int step = level > SQLITE_LOCK_SHARED ? shim_step(SHIM_LOCK) : SHIM_GO_ON;
  if (step == SHIM_BUSY) return SQLITE_BUSY;
  return REAL(file)->pMethods->xLock(REAL(file), level);
}
static int shim_unlock(sqlite3_file *file, int level) {
  return REAL(file)->pMethods->xUnlock(REAL(file), level);
}
static int shim_check_lock(sqlite3_file *file, int *result) {
  return REAL(file)->pMethods->xCheckReservedLock(REAL(file), result);
}
static int shim_control(sqlite3_file *file, int operation, void *argument) {
  return REAL(file)->pMethods->xFileControl(REAL(file), operation, argument);
}
static int shim_sector(sqlite3_file *file) {
  return REAL(file)->pMethods->xSectorSize(REAL(file));
}
static int shim_traits(sqlite3_file *file) {
  return REAL(file)->pMethods->xDeviceCharacteristics(REAL(file));
}
static int shim_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **map) {
  return REAL(file)->pMethods->xShmMap(REAL(file), page, size, extend, map);
}
static int shim_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  /* The first of the lock bytes is the writer's. */
  if ((flags & SQLITE_SHM_LOCK) && (flags & SQLITE_SHM_EXCLUSIVE) && offset == 0) {
    int step = shim_step(SHIM_LOCK);
    if (step == SHIM_BUSY) return SQLITE_BUSY;
  }
  return REAL(file)->pMethods->xShmLock(REAL(file), offset, count, flags);
}
static void shim_shm_barrier(sqlite3_file *file) {
  REAL(file)->pMethods->xShmBarrier(REAL(file));
}
static int shim_shm_unmap(sqlite3_file *file, int erase) {
  return REAL(file)->pMethods->xShmUnmap(REAL(file), erase);
}

static const sqlite3_io_methods shim_methods = {
    2, shim_close, shim_read, shim_write, shim_truncate, shim_sync, shim_file_size, shim_lock,
    shim_unlock, shim_check_lock, shim_control, shim_sector, shim_traits, shim_shm_map,
    shim_shm_lock, shim_shm_barrier, shim_shm_unmap, NULL, NULL};

static int shim_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags,
                     int *out_flags) {
  ShimFile *shim = (ShimFile *)file;
  (void)vfs;
  memset(shim, 0, sizeof(*shim));
  shim->real = (sqlite3_file *)&shim[1];
  int exists = 1;
  if (path != NULL && (flags & SQLITE_OPEN_CREATE)) {
    system_vfs->xAccess(system_vfs, path, SQLITE_ACCESS_EXISTS, &exists);
  }
  int step = shim_step(SHIM_CREATE);
  if (step != SHIM_GO_ON) return refusal(step, SQLITE_CANTOPEN);
  int status = system_vfs->xOpen(system_vfs, path, shim->real, flags, out_flags);
  if (status != SQLITE_OK) return status;
  if (path != NULL) shim->path = strdup(path);
  shim->base.pMethods = &shim_methods;
  if (!exists) shim_note(SHIM_CREATE, path, 0, 0, NULL);
  return SQLITE_OK;
}

static int shim_delete(sqlite3_vfs *vfs, const char *path, int sync_folder) {
  (void)vfs;
  int step = shim_step(SHIM_DELETE);
  if (step != SHIM_GO_ON) return refusal(step, SQLITE_IOERR_DELETE);
  int status = system_vfs->xDelete(system_vfs, path, skips_syncs ? 0 : sync_folder);
  if (status == SQLITE_OK) {
    shim_note(SHIM_DELETE, path, 0, 0, NULL);
    if (sync_folder) shim_note(SHIM_SYNC_FOLDER, path, 0, 2, NULL);
  }
  return status;
}

/* Nobody holds a lock here that could be waited for: a refused one stays refused, so that the long
 * waits of a log's recovery would only cost time. */
static int shim_sleep(sqlite3_vfs *vfs, int microseconds) {
  (void)vfs;
  return microseconds;
}

static int shim_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
  (void)vfs;
  return system_vfs->xAccess(system_vfs, path, flags, result);
}

static int shim_full_path(sqlite3_vfs *vfs, const char *path, int size, char *full) {
  (void)vfs;
  return system_vfs->xFullPathname(system_vfs, path, size, full);
}

void shim_use_memory(int use) {
  if (shim_register() == SQLITE_OK) system_vfs = use ? in_memory_vfs : disk_vfs;
}

void shim_single_thread(void) {
  enum { PAGES = 2048, SLOTS = 400, SLOT_BYTES = 1200 };
  int header = 0;
  sqlite3_shutdown();
  sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  sqlite3_config(SQLITE_CONFIG_LOOKASIDE, SLOT_BYTES, SLOTS);
  sqlite3_config(SQLITE_CONFIG_PCACHE_HDRSZ, &header);
  int page = (4096 + header + 7) & ~7;
  void *room = malloc((size_t)page * PAGES);
  if (room != NULL) sqlite3_config(SQLITE_CONFIG_PAGECACHE, room, page, PAGES);
}

int shim_register(void) {
  if (system_vfs != NULL) return SQLITE_OK;
  disk_vfs = sqlite3_vfs_find(NULL);
  if (disk_vfs == NULL) return SQLITE_ERROR;
  in_memory_vfs = memory_vfs(disk_vfs);
  system_vfs = disk_vfs;
  shim_vfs = *system_vfs;
  shim_vfs.iVersion = 1;
  shim_vfs.pNext = NULL;
  shim_vfs.zName = "shim";
  int file_size = disk_vfs->szOsFile;
  if (in_memory_vfs->szOsFile > file_size) file_size = in_memory_vfs->szOsFile;
  shim_vfs.szOsFile = (int)sizeof(ShimFile) + file_size;
  shim_vfs.xOpen = shim_open;
  shim_vfs.xDelete = shim_delete;
  shim_vfs.xAccess = shim_access;
  shim_vfs.xFullPathname = shim_full_path;
  shim_vfs.xSleep = shim_sleep;
  return sqlite3_vfs_register(&shim_vfs, 0);
}

/* Looks at the needle's ends first, in a loop that compilers turn into vector instructions: images
 * are searched by the gigabyte. */
int shim_contains(const void *bytes, int64_t count, const void *needle, int64_t needle_count) {
  enum { BLOCK = 256 };
  const uint8_t *text = bytes, *word = needle;
  const uint8_t first = word[0], last = word[needle_count - 1];
  const uint8_t *ends = text + needle_count - 1;
  int64_t places = count - needle_count + 1, at = 0;
  for (; at + BLOCK <= places; at += BLOCK) {
    uint8_t found = 0;
    for (int i = 0; i < BLOCK; i++) found |= (text[at + i] == first) & (ends[at + i] == last);
    if (found && memmem(text + at, (size_t)(BLOCK + needle_count - 1), needle,
                        (size_t)needle_count) != NULL)
      return 1;
  }
  return at < places &&
         memmem(text + at, (size_t)(count - at), needle, (size_t)needle_count) != NULL;
}
