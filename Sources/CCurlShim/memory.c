/* libcurl's memory. A transfer makes and frees some fifty small blocks, always of the same sizes; on the thread that
   runs transfers they are kept in lists by size instead of going through malloc each time. Every block is malloc's own,
   with a header that tells its class, so that any other thread (libcurl resolves names in some) may free it. */
#include "CCurlShim.h"

#include <stdlib.h>
#include <string.h>

enum { STEP = 16, LARGEST = 4096, CLASSES = LARGEST / STEP + 1, KEPT_BYTES = 4 * 1024 * 1024 };

typedef struct block {
  /* Its place in `lists`, 0 for a block that is too large for any. */
  size_t index;
  union {
    struct block *next;
    /* Of a large block. */
    size_t size;
  } is;
} block;

static _Thread_local bool keeps;
static _Thread_local size_t kept;
static _Thread_local block *lists[CLASSES];

static void *make(size_t size) {
  size_t index = size <= LARGEST ? (size + STEP - 1) / STEP : 0;
  block *made = keeps ? lists[index] : NULL;
  if (made) {
    lists[index] = made->is.next;
    kept -= index * STEP;
    return made + 1;
  }
  if (size > (size_t)-1 - sizeof *made - STEP) return NULL;
  made = malloc(sizeof *made + (index ? index * STEP : size));
  if (!made) return NULL;
  made->index = index;
  made->is.size = size;
  return made + 1;
}

static void unmake(void *memory) {
  if (!memory) return;
  block *freed = (block *)memory - 1;
  if (!keeps || !freed->index || kept > KEPT_BYTES) {
    free(freed);
    return;
  }
  kept += freed->index * STEP;
  freed->is.next = lists[freed->index];
  lists[freed->index] = freed;
}

static void *remake(void *memory, size_t size) {
  if (!memory) return make(size);
  block *old = (block *)memory - 1;
  size_t room = old->index ? old->index * STEP : old->is.size;
  if (old->index && size <= room) return memory;
  if (!old->index && size > LARGEST) {
    if (size > (size_t)-1 - sizeof *old) return NULL;
    block *grown = realloc(old, sizeof *old + size);
    if (!grown) return NULL;
    grown->is.size = size;
    return grown + 1;
  }
  void *moved = make(size);
  if (!moved) return NULL;
  memcpy(moved, memory, size < room ? size : room);
  unmake(memory);
  return moved;
}

static char *copy(const char *text) {
  size_t size = strlen(text) + 1;
  char *made = make(size);
  return made ? memcpy(made, text, size) : NULL;
}

static void *clear(size_t count, size_t size) {
  size_t total;
  if (__builtin_mul_overflow(count, size, &total)) return NULL;
  void *made = make(total);
  return made ? memset(made, 0, total) : NULL;
}

CURLcode hs_global_init(void) { return curl_global_init_mem(CURL_GLOBAL_DEFAULT, make, unmake, remake, copy, clear); }

void hs_keep_memory(void) { keeps = true; }
