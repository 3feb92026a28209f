#include "StorageMemory.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Files in memory, for one thread. An inode lives while it has a name or somebody has it open. */

#define MAX_NAMES 256
#define REGION_BYTES 32768
#define MAX_REGIONS 8
#define SHM_LOCKS 8

typedef struct MemFile MemFile;

struct memory_file {
  uint8_t *bytes;
  int64_t size, space;
  int is_named, opens;
  int is_locked; /* as by flock */
  /* SQLite's locks on the database file */
  int readers;
  MemFile *writer;
  /* what is mapped as shared memory stays in place: it has its own room */
  uint8_t *regions;
  int region_count, mappings;
  int slots[SHM_LOCKS]; /* readers, or -1 for one writer */
  memory_file *next_free;
};

static struct {
  char *path;
  memory_file *inode;
} names[MAX_NAMES];
static int name_count;
/* Inodes without a use, with their room: large buffers are costly to get from the system. */
static memory_file *free_inodes;

static int index_of_name(const char *path) {
  for (int i = 0; i < name_count; i++)
    if (strcmp(names[i].path, path) == 0) return i;
  return -1;
}

static memory_file *find(const char *path) {
  int index = index_of_name(path);
  return index < 0 ? NULL : names[index].inode;
}

static memory_file *new_inode(void) {
  memory_file *inode = free_inodes;
  if (inode != NULL) {
    free_inodes = inode->next_free;
    uint8_t *bytes = inode->bytes, *regions = inode->regions;
    int64_t space = inode->space;
    memset(inode, 0, sizeof(*inode));
    inode->bytes = bytes;
    inode->space = space;
    inode->regions = regions;
    return inode;
  }
  inode = calloc(1, sizeof(*inode));
  if (inode == NULL) abort();
  return inode;
}

static void let_go(memory_file *inode) {
  if (inode->is_named || inode->opens > 0) return;
  inode->next_free = free_inodes;
  free_inodes = inode;
}

static memory_file *make(const char *path) {
  memory_file *inode = find(path);
  if (inode != NULL) return inode;
  if (name_count == MAX_NAMES) abort();
  inode = new_inode();
  inode->is_named = 1;
  names[name_count].path = strdup(path);
  names[name_count++].inode = inode;
  return inode;
}

static void drop_name(int index) {
  memory_file *inode = names[index].inode;
  free(names[index].path);
  names[index] = names[--name_count];
  inode->is_named = 0;
  let_go(inode);
}

static void reserve(memory_file *inode, int64_t size) {
  if (size <= inode->space) return;
  int64_t space = inode->space ? inode->space : 4096;
  while (space < size) space *= 2;
  inode->bytes = realloc(inode->bytes, (size_t)space);
  if (inode->bytes == NULL) abort();
  inode->space = space;
}

static void write_at(memory_file *inode, int64_t offset, int64_t count, const void *bytes) {
  reserve(inode, offset + count);
  if (offset > inode->size) memset(inode->bytes + inode->size, 0, (size_t)(offset - inode->size));
  if (count > 0) memcpy(inode->bytes + offset, bytes, (size_t)count);
  if (offset + count > inode->size) inode->size = offset + count;
}

static void set_size(memory_file *inode, int64_t size) {
  reserve(inode, size);
  if (size > inode->size) memset(inode->bytes + inode->size, 0, (size_t)(size - inode->size));
  inode->size = size;
}

/* ---- for the files that are not SQLite's ---- */

void memory_clear(void) {
  while (name_count > 0) drop_name(name_count - 1);
}

void memory_write(const char *path, int64_t offset, int64_t count, const void *bytes) {
  write_at(make(path), offset, count, bytes);
}

int memory_truncate(const char *path, int64_t size) {
  memory_file *inode = find(path);
  if (inode == NULL) return -1;
  set_size(inode, size);
  return 0;
}

int64_t memory_size(const char *path) {
  memory_file *inode = find(path);
  if (inode == NULL) return -1;
  return inode->region_count > 0 ? (int64_t)inode->region_count * REGION_BYTES : inode->size;
}

const uint8_t *memory_bytes(const char *path) {
  memory_file *inode = find(path);
  if (inode == NULL) return NULL;
  return inode->region_count > 0 ? inode->regions : inode->bytes;
}

int memory_remove(const char *path) {
  int index = index_of_name(path);
  if (index < 0) return -1;
  drop_name(index);
  return 0;
}

int memory_rename(const char *from, const char *to) {
  int index = index_of_name(from);
  if (index < 0) return -1;
  if (strcmp(from, to) == 0) return 0;
  int target = index_of_name(to);
  if (target >= 0) {
    drop_name(target);
    index = index_of_name(from);
  }
  free(names[index].path);
  names[index].path = strdup(to);
  return 0;
}

const char *memory_name(long index) { return index < name_count ? names[index].path : NULL; }

memory_file *memory_lock(const char *path) {
  memory_file *inode = make(path);
  if (inode->is_locked) return NULL;
  inode->is_locked = 1;
  inode->opens++;
  return inode;
}

void memory_unlock(memory_file *inode) {
  inode->is_locked = 0;
  inode->opens--;
  let_go(inode);
}

void memory_file_write(memory_file *inode, int64_t count, const void *bytes) {
  write_at(inode, 0, count, bytes);
}

const uint8_t *memory_file_bytes(memory_file *inode, int64_t *count) {
  *count = inode->size;
  return inode->bytes;
}

/* ---- the VFS ---- */

struct MemFile {
  sqlite3_file base;
  char *path;
  memory_file *inode;
  memory_file *shared;
  int level;
  unsigned shared_mask, exclusive_mask;
  int deletes;
};

static int mem_close(sqlite3_file *file);

static int mem_read(sqlite3_file *file, void *buffer, int count, sqlite3_int64 offset) {
  memory_file *inode = ((MemFile *)file)->inode;
  if (offset + count <= inode->size) {
    memcpy(buffer, inode->bytes + offset, (size_t)count);
    return SQLITE_OK;
  }
  int64_t found = offset < inode->size ? inode->size - offset : 0;
  if (found > 0) memcpy(buffer, inode->bytes + offset, (size_t)found);
  memset((uint8_t *)buffer + found, 0, (size_t)(count - found));
  return SQLITE_IOERR_SHORT_READ;
}

static int mem_write(sqlite3_file *file, const void *data, int count, sqlite3_int64 offset) {
  write_at(((MemFile *)file)->inode, offset, count, data);
  return SQLITE_OK;
}

static int mem_truncate(sqlite3_file *file, sqlite3_int64 size) {
  set_size(((MemFile *)file)->inode, size);
  return SQLITE_OK;
}

static int mem_sync(sqlite3_file *file, int flags) {
  (void)file, (void)flags;
  return SQLITE_OK;
}

static int mem_file_size(sqlite3_file *file, sqlite3_int64 *size) {
  *size = ((MemFile *)file)->inode->size;
  return SQLITE_OK;
}

static int mem_lock(sqlite3_file *file, int level) {
  MemFile *mine = (MemFile *)file;
  memory_file *inode = mine->inode;
  if (mine->level >= level) return SQLITE_OK;
  if (level == SQLITE_LOCK_SHARED) {
    if (inode->writer != NULL && inode->writer->level >= SQLITE_LOCK_PENDING) return SQLITE_BUSY;
    inode->readers++;
    mine->level = SQLITE_LOCK_SHARED;
    return SQLITE_OK;
  }
  if (inode->writer != NULL && inode->writer != mine) return SQLITE_BUSY;
  inode->writer = mine;
  if (level == SQLITE_LOCK_RESERVED) {
    mine->level = SQLITE_LOCK_RESERVED;
    return SQLITE_OK;
  }
  mine->level = SQLITE_LOCK_PENDING;
  if (inode->readers > 1) return SQLITE_BUSY;
  mine->level = SQLITE_LOCK_EXCLUSIVE;
  return SQLITE_OK;
}

static int mem_unlock(sqlite3_file *file, int level) {
  MemFile *mine = (MemFile *)file;
  memory_file *inode = mine->inode;
  if (mine->level <= level) return SQLITE_OK;
  if (inode->writer == mine) inode->writer = NULL;
  if (level == SQLITE_LOCK_NONE) inode->readers--;
  mine->level = level;
  return SQLITE_OK;
}

static int mem_check_lock(sqlite3_file *file, int *result) {
  *result = ((MemFile *)file)->inode->writer != NULL;
  return SQLITE_OK;
}

static int mem_control(sqlite3_file *file, int operation, void *argument) {
  (void)file, (void)operation, (void)argument;
  return SQLITE_NOTFOUND;
}

/* As the system's own: sectors of a page, and a write that dies leaves its neighbours alone. */
static int mem_sector(sqlite3_file *file) {
  (void)file;
  return 4096;
}
static int mem_traits(sqlite3_file *file) {
  (void)file;
  return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int mem_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **map) {
  MemFile *mine = (MemFile *)file;
  *map = NULL;
  if (size != REGION_BYTES || page >= MAX_REGIONS) return SQLITE_IOERR_SHMMAP;
  if (mine->shared == NULL) {
    char name[1024];
    if (snprintf(name, sizeof(name), "%s-shm", mine->path) >= (int)sizeof(name))
      return SQLITE_IOERR_SHMOPEN;
    memory_file *shared = make(name);
    if (shared->regions == NULL) shared->regions = malloc(MAX_REGIONS * REGION_BYTES);
    if (shared->regions == NULL) return SQLITE_NOMEM;
    /* Who comes first does not trust what another process may have left. */
    if (shared->mappings++ == 0) shared->region_count = 0;
    shared->opens++;
    mine->shared = shared;
  }
  memory_file *shared = mine->shared;
  if (page >= shared->region_count) {
    if (!extend) return SQLITE_OK;
    memset(shared->regions + shared->region_count * REGION_BYTES, 0,
           (size_t)(page + 1 - shared->region_count) * REGION_BYTES);
    shared->region_count = page + 1;
  }
  *map = shared->regions + page * REGION_BYTES;
  return SQLITE_OK;
}

static int mem_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  MemFile *mine = (MemFile *)file;
  memory_file *shared = mine->shared;
  unsigned mask = ((1u << count) - 1) << offset;
  if (shared == NULL) return SQLITE_IOERR_SHMLOCK;
  if (flags & SQLITE_SHM_UNLOCK) {
    for (int slot = offset; slot < offset + count; slot++) {
      if (mine->exclusive_mask & (1u << slot)) shared->slots[slot] = 0;
      else if (mine->shared_mask & (1u << slot)) shared->slots[slot]--;
    }
    mine->exclusive_mask &= ~mask;
    mine->shared_mask &= ~mask;
  } else if (flags & SQLITE_SHM_SHARED) {
    if ((mine->shared_mask & mask) == mask) return SQLITE_OK;
    if (shared->slots[offset] < 0) return SQLITE_BUSY;
    shared->slots[offset]++;
    mine->shared_mask |= mask;
  } else {
    for (int slot = offset; slot < offset + count; slot++)
      if (shared->slots[slot] != 0 && !(mine->exclusive_mask & (1u << slot))) return SQLITE_BUSY;
    for (int slot = offset; slot < offset + count; slot++) shared->slots[slot] = -1;
    mine->exclusive_mask |= mask;
  }
  return SQLITE_OK;
}

static void mem_shm_barrier(sqlite3_file *file) { (void)file; }

static int mem_shm_unmap(sqlite3_file *file, int erase) {
  MemFile *mine = (MemFile *)file;
  memory_file *shared = mine->shared;
  if (shared == NULL) return SQLITE_OK;
  mem_shm_lock(file, 0, SHM_LOCKS, SQLITE_SHM_UNLOCK);
  mine->shared = NULL;
  shared->opens--;
  if (--shared->mappings == 0 && erase) {
    for (int i = 0; i < name_count; i++) {
      if (names[i].inode != shared) continue;
      drop_name(i);
      return SQLITE_OK;
    }
  }
  let_go(shared);
  return SQLITE_OK;
}

static const sqlite3_io_methods mem_methods = {
    2, mem_close, mem_read, mem_write, mem_truncate, mem_sync, mem_file_size, mem_lock,
    mem_unlock, mem_check_lock, mem_control, mem_sector, mem_traits, mem_shm_map,
    mem_shm_lock, mem_shm_barrier, mem_shm_unmap, NULL, NULL};

static int mem_close(sqlite3_file *file) {
  MemFile *mine = (MemFile *)file;
  mem_shm_unmap(file, 0);
  mem_unlock(file, SQLITE_LOCK_NONE);
  mine->inode->opens--;
  if (mine->deletes && mine->path != NULL) memory_remove(mine->path);
  let_go(mine->inode);
  free(mine->path);
  mine->path = NULL;
  return SQLITE_OK;
}

static int mem_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags,
                    int *out_flags) {
  MemFile *mine = (MemFile *)file;
  (void)vfs;
  memset(mine, 0, sizeof(*mine));
  if (path != NULL && !(flags & SQLITE_OPEN_CREATE) && find(path) == NULL) return SQLITE_CANTOPEN;
  mine->inode = path == NULL ? new_inode() : make(path);
  mine->inode->opens++;
  mine->path = path == NULL ? NULL : strdup(path);
  mine->deletes = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
  mine->base.pMethods = &mem_methods;
  if (out_flags != NULL) *out_flags = flags;
  return SQLITE_OK;
}

static int mem_delete(sqlite3_vfs *vfs, const char *path, int sync_folder) {
  (void)vfs, (void)sync_folder;
  return memory_remove(path) == 0 ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT;
}

/* As the system's own: an empty file does not count as one that exists. */
static int mem_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
  (void)vfs;
  *result = flags == SQLITE_ACCESS_EXISTS ? memory_size(path) > 0 : find(path) != NULL;
  return SQLITE_OK;
}

static int mem_full_path(sqlite3_vfs *vfs, const char *path, int size, char *full) {
  (void)vfs;
  return snprintf(full, (size_t)size, "%s", path) < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

sqlite3_vfs *memory_vfs(const sqlite3_vfs *system) {
  static sqlite3_vfs vfs;
  vfs = *system;
  vfs.iVersion = 1;
  vfs.pNext = NULL;
  vfs.zName = "memory";
  vfs.szOsFile = (int)sizeof(MemFile);
  vfs.xOpen = mem_open;
  vfs.xDelete = mem_delete;
  vfs.xAccess = mem_access;
  vfs.xFullPathname = mem_full_path;
  return &vfs;
}
