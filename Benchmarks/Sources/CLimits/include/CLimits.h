// The limits that the benchmark rows stand next to: the same work in plain C calls of the same
// libraries, without any of our code. Every function returns seconds, or a negative number on error.
#ifndef CLIMITS_H
#define CLIMITS_H
#include <stddef.h>
#include <stdint.h>

// One thread: `count` events of `size` bytes, each sealed with AES-256-GCM (reused context) and
// inserted by a prepared statement in a transaction of its own; WAL, synchronous=NORMAL, rowid
// table, no automatic checkpoint on the caller (the WAL is restarted every 2 MB). Into `p999` goes
// what 99.9 % of the inserts, restarts apart, did not exceed, in seconds.
double limit_record(const char *folder, int count, size_t size, double *p999);
// The same by `threads` threads on one connection; up to 64 waiting callers share one commit.
double limit_record_threads(const char *folder, int count, size_t size, int threads);
// synchronous=FULL, 64 sealed events per commit.
double limit_power_loss(const char *folder, int count, size_t size, int per_commit);
// Opens `count` sealed events of `size` bytes and deflates them, joined in bodies of `batch` bytes,
// at zlib level 6, gzip form.
double limit_drain(int count, size_t size, size_t batch);
// Inflates a gzip body `times` times.
double limit_inflate(const unsigned char *gzip, size_t length, int times);
// gzip of `length` bytes at level 6; returns the length written, 0 on error.
size_t limit_gzip(const unsigned char *bytes, size_t length, unsigned char *out, size_t room);
// Text that compresses like telemetry: JSON with words and numbers from a small generator.
void limit_fill(unsigned char *bytes, size_t length, uint32_t seed);
// Gives all threads of this process but the calling one a nice value (Linux: each has its own, and
// threads that it starts take it over). Raising needs no privilege.
void limit_nice_others(int value);
#endif
