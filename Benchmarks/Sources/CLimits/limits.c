#define _GNU_SOURCE
#include "CLimits.h"
#include <dirent.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void limit_fill(unsigned char *bytes, size_t length, uint32_t seed) {
  static const char *words[] = {"Orders", "screen", "navigation", "timing", "duration", "retry",
                                "session", "battery", "network", "offline", "submit", "error"};
  size_t at = 0;
  uint32_t state = seed * 2654435761u + 1;
  while (at < length) {
    state = state * 1664525u + 1013904223u;
    char piece[48];
    int n = snprintf(piece, sizeof piece, "\"%s\":%u,", words[(state >> 16) % 12], state % 100000u);
    for (int i = 0; i < n && at < length; i++) bytes[at++] = (unsigned char)piece[i];
  }
}

typedef struct {
  EVP_CIPHER_CTX *context;
  unsigned char key[32], nonces[12 * 256];
  int next;
} sealer;

static int sealer_open(sealer *s) {
  s->context = EVP_CIPHER_CTX_new();
  s->next = 256;
  return s->context && RAND_bytes(s->key, 32) == 1 &&
         EVP_EncryptInit_ex(s->context, EVP_aes_256_gcm(), NULL, s->key, NULL) == 1;
}

static int seal(sealer *s, const unsigned char *in, int size, unsigned char *out) {
  int n;
  if (s->next == 256) {
    if (RAND_bytes(s->nonces, sizeof s->nonces) != 1) return 0;
    s->next = 0;
  }
  memcpy(out, s->nonces + 12 * s->next++, 12);
  return EVP_EncryptInit_ex(s->context, NULL, NULL, NULL, out) == 1 &&
         EVP_EncryptUpdate(s->context, out + 12, &n, in, size) == 1 &&
         EVP_EncryptFinal_ex(s->context, out + 12 + size, &n) == 1 &&
         EVP_CIPHER_CTX_ctrl(s->context, EVP_CTRL_GCM_GET_TAG, 16, out + 12 + size) == 1;
}

static sqlite3 *open_database(const char *folder, const char *synchronous) {
  char path[4096], pragma[64];
  sqlite3 *db = NULL;
  snprintf(path, sizeof path, "%s/limit.sqlite", folder);
  remove(path);
  snprintf(path, sizeof path, "%s/limit.sqlite-wal", folder);
  remove(path);
  snprintf(path, sizeof path, "%s/limit.sqlite-shm", folder);
  remove(path);
  snprintf(path, sizeof path, "%s/limit.sqlite", folder);
  if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                      NULL) != SQLITE_OK)
    return NULL;
  snprintf(pragma, sizeof pragma, "PRAGMA synchronous=%s", synchronous);
  if (sqlite3_exec(db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL) != SQLITE_OK ||
      sqlite3_exec(db, pragma, NULL, NULL, NULL) != SQLITE_OK ||
      sqlite3_exec(db, "PRAGMA wal_autocheckpoint=0; PRAGMA secure_delete=OFF;"
                       "CREATE TABLE e(seq INTEGER PRIMARY KEY, body BLOB NOT NULL)",
                   NULL, NULL, NULL) != SQLITE_OK) {
    sqlite3_close(db);
    return NULL;
  }
  return db;
}

// Restarts the WAL every 2 MB: a bounded queue has to, so the limit does as well.
static int restart_wal(sqlite3 *db, size_t *written, size_t size) {
  *written += (size / 4096 + 2) * 4120;
  if (*written < 2000000) return 1;
  *written = 0;
  return sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_RESTART, NULL, NULL) == SQLITE_OK;
}

static int ascending(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

double limit_record(const char *folder, int count, size_t size, double *p999) {
  sqlite3 *db = open_database(folder, "NORMAL");
  if (!db) return -1;
  sealer s;
  sqlite3_stmt *insert;
  if (!sealer_open(&s) ||
      sqlite3_prepare_v3(db, "INSERT INTO e(body) VALUES(?1)", -1, SQLITE_PREPARE_PERSISTENT, &insert,
                         NULL) != SQLITE_OK)
    return -1;
  unsigned char *in = malloc(size), *out = malloc(size + 28);
  limit_fill(in, size, 1);
  size_t written = 0;
  double *calls = malloc((size_t)count * sizeof *calls);
  double start = now(), before = start;
  for (int i = 0; i < count; i++) {
    if (!seal(&s, in, (int)size, out)) return -1;
    sqlite3_bind_blob(insert, 1, out, (int)size + 28, SQLITE_STATIC);
    if (sqlite3_step(insert) != SQLITE_DONE) return -1;
    sqlite3_reset(insert);
    calls[i] = now() - before;
    if (!restart_wal(db, &written, size)) return -1;
    before = now();
  }
  double took = now() - start;
  qsort(calls, (size_t)count, sizeof *calls, ascending);
  *p999 = calls[(long)count * 999 / 1000];
  free(calls);
  sqlite3_finalize(insert);
  sqlite3_close(db);
  EVP_CIPHER_CTX_free(s.context);
  free(in);
  free(out);
  return took;
}

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t arrived, done;
  unsigned char *slots[64];
  int waiting, finished;
  long round;
  size_t size;
  int each;
} group;

static void *caller(void *argument) {
  group *g = argument;
  sealer s;
  unsigned char *in = malloc(g->size), *out = malloc(g->size + 28);
  if (!sealer_open(&s)) return (void *)1;
  limit_fill(in, g->size, 2);
  for (int i = 0; i < g->each; i++) {
    if (!seal(&s, in, (int)g->size, out)) return (void *)1;
    pthread_mutex_lock(&g->lock);
    g->slots[g->waiting++] = out;
    long mine = g->round;
    pthread_cond_signal(&g->arrived);
    while (g->round == mine) pthread_cond_wait(&g->done, &g->lock);
    pthread_mutex_unlock(&g->lock);
  }
  pthread_mutex_lock(&g->lock);
  g->finished++;
  pthread_cond_signal(&g->arrived);
  pthread_mutex_unlock(&g->lock);
  EVP_CIPHER_CTX_free(s.context);
  free(in);
  free(out);
  return NULL;
}

double limit_record_threads(const char *folder, int count, size_t size, int threads) {
  sqlite3 *db = open_database(folder, "NORMAL");
  sqlite3_stmt *insert;
  if (!db || threads > 64) return -1;
  if (sqlite3_prepare_v3(db, "INSERT INTO e(body) VALUES(?1)", -1, SQLITE_PREPARE_PERSISTENT, &insert,
                         NULL) != SQLITE_OK)
    return -1;
  group g = {.lock = PTHREAD_MUTEX_INITIALIZER, .arrived = PTHREAD_COND_INITIALIZER,
             .done = PTHREAD_COND_INITIALIZER, .size = size, .each = count / threads};
  pthread_t ids[64];
  size_t written = 0;
  int failed = 0;
  double start = now();
  for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, caller, &g);
  pthread_mutex_lock(&g.lock);
  for (;;) {
    while (g.waiting == 0 && g.finished < threads) pthread_cond_wait(&g.arrived, &g.lock);
    if (g.waiting == 0) break;
    failed |= sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK;
    for (int i = 0; i < g.waiting; i++) {
      sqlite3_bind_blob(insert, 1, g.slots[i], (int)size + 28, SQLITE_STATIC);
      failed |= sqlite3_step(insert) != SQLITE_DONE;
      sqlite3_reset(insert);
    }
    failed |= sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK;
    failed |= !restart_wal(db, &written, size * (size_t)g.waiting);
    g.waiting = 0;
    g.round++;
    pthread_cond_broadcast(&g.done);
  }
  pthread_mutex_unlock(&g.lock);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  double took = now() - start;
  sqlite3_finalize(insert);
  sqlite3_close(db);
  return failed ? -1 : took;
}

double limit_power_loss(const char *folder, int count, size_t size, int per_commit) {
  sqlite3 *db = open_database(folder, "FULL");
  if (!db) return -1;
  sealer s;
  sqlite3_stmt *insert;
  if (!sealer_open(&s) ||
      sqlite3_prepare_v3(db, "INSERT INTO e(body) VALUES(?1)", -1, SQLITE_PREPARE_PERSISTENT, &insert,
                         NULL) != SQLITE_OK)
    return -1;
  unsigned char *in = malloc(size), *out = malloc(size + 28);
  limit_fill(in, size, 3);
  size_t written = 0;
  double start = now();
  for (int i = 0; i < count; i += per_commit) {
    if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK) return -1;
    for (int j = 0; j < per_commit && i + j < count; j++) {
      if (!seal(&s, in, (int)size, out)) return -1;
      sqlite3_bind_blob(insert, 1, out, (int)size + 28, SQLITE_STATIC);
      if (sqlite3_step(insert) != SQLITE_DONE) return -1;
      sqlite3_reset(insert);
    }
    if (sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) return -1;
    if (!restart_wal(db, &written, size * (size_t)per_commit)) return -1;
  }
  double took = now() - start;
  sqlite3_finalize(insert);
  sqlite3_close(db);
  EVP_CIPHER_CTX_free(s.context);
  free(in);
  free(out);
  return took;
}

size_t limit_gzip(const unsigned char *bytes, size_t length, unsigned char *out, size_t room) {
  z_stream z = {0};
  if (deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
  z.next_in = (unsigned char *)bytes;
  z.avail_in = (uInt)length;
  z.next_out = out;
  z.avail_out = (uInt)room;
  int status = deflate(&z, Z_FINISH);
  size_t written = room - z.avail_out;
  deflateEnd(&z);
  return status == Z_STREAM_END ? written : 0;
}

double limit_drain(int count, size_t size, size_t batch) {
  sealer s;
  if (!sealer_open(&s)) return -1;
  // A ring of distinct events, wider than deflate's window: one text over and over would compress
  // to nothing.
  enum { RING = 2048 };
  unsigned char *in = malloc(size), *ring = malloc(RING * (size + 28)), *body = malloc(batch + size);
  unsigned char *out = malloc(batch + 4096);
  EVP_CIPHER_CTX *opener = EVP_CIPHER_CTX_new();
  for (int i = 0; i < RING; i++) {
    limit_fill(in, size, (uint32_t)i + 7);
    if (!seal(&s, in, (int)size, ring + (size_t)i * (size + 28))) return -1;
  }
  if (EVP_DecryptInit_ex(opener, EVP_aes_256_gcm(), NULL, s.key, NULL) != 1) return -1;
  z_stream z = {0};
  if (deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK) return -1;
  size_t used = 0;
  double start = now();
  for (int i = 0; i < count; i++) {
    int n;
    unsigned char *sealed = ring + (size_t)(i % RING) * (size + 28);
    if (EVP_DecryptInit_ex(opener, NULL, NULL, NULL, sealed) != 1 ||
        EVP_DecryptUpdate(opener, body + used, &n, sealed + 12, (int)size) != 1 ||
        EVP_CIPHER_CTX_ctrl(opener, EVP_CTRL_GCM_SET_TAG, 16, sealed + 12 + size) != 1 ||
        EVP_DecryptFinal_ex(opener, body + used + size, &n) != 1)
      return -1;
    used += size;
    if (used + size > batch || i + 1 == count) {
      deflateReset(&z);
      z.next_in = body;
      z.avail_in = (uInt)used;
      z.next_out = out;
      z.avail_out = (uInt)(batch + 4096);
      if (deflate(&z, Z_FINISH) != Z_STREAM_END) return -1;
      used = 0;
    }
  }
  double took = now() - start;
  deflateEnd(&z);
  EVP_CIPHER_CTX_free(opener);
  EVP_CIPHER_CTX_free(s.context);
  free(in);
  free(ring);
  free(body);
  free(out);
  return took;
}

double limit_inflate(const unsigned char *gzip, size_t length, int times) {
  z_stream z = {0};
  static unsigned char out[65536];
  if (inflateInit2(&z, 31) != Z_OK) return -1;
  double start = now();
  for (int i = 0; i < times; i++) {
    inflateReset(&z);
    z.next_in = (unsigned char *)gzip;
    z.avail_in = (uInt)length;
    int status;
    do {
      z.next_out = out;
      z.avail_out = sizeof out;
      status = inflate(&z, Z_NO_FLUSH);
    } while (status == Z_OK);
    if (status != Z_STREAM_END) return -1;
  }
  double took = now() - start;
  inflateEnd(&z);
  return took;
}

void limit_nice_others(int value) {
#ifdef __linux__
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) return;
  struct dirent *entry;
  while ((entry = readdir(tasks))) {
    int task = atoi(entry->d_name);
    if (task > 0 && task != gettid()) setpriority(PRIO_PROCESS, (id_t)task, value);
  }
  closedir(tasks);
#endif
}
