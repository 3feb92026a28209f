#ifndef STORAGE_MEMORY_H
#define STORAGE_MEMORY_H

#include <stdint.h>

/* Files in memory under the storage shim: as many crash images as a processor can judge need no
 * system call. For one thread; folders are implied by the paths. */

typedef struct memory_file memory_file;

/* Takes all names away. Nothing may be open. */
void memory_clear(void);
/* Makes the file where it is missing. */
void memory_write(const char *path, int64_t offset, int64_t count, const void *bytes);
/* -1 where there is no such file; likewise below. */
int memory_truncate(const char *path, int64_t size);
int64_t memory_size(const char *path);
int memory_remove(const char *path);
int memory_rename(const char *from, const char *to);
/* Valid until the file changes. */
const uint8_t *memory_bytes(const char *path);
/* The path of the file with this index, in no order; NULL behind the last. */
const char *memory_name(long index);

/* As flock on an opened file, which is made where it is missing. NULL where another has it. */
memory_file *memory_lock(const char *path);
void memory_unlock(memory_file *file);
void memory_file_write(memory_file *file, int64_t count, const void *bytes);
const uint8_t *memory_file_bytes(memory_file *file, int64_t *count);

struct sqlite3_vfs;
/* The VFS over these files; what has nothing to do with files is the given one's. */
struct sqlite3_vfs *memory_vfs(const struct sqlite3_vfs *system);

#endif
