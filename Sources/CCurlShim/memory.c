/* libcurl's memory, and that of Swift's objects. A transfer makes and frees some sixty small blocks, always of the same
   sizes; on the thread that runs transfers they are kept in lists by size instead of going through malloc each time.
   Every block is malloc's own, and malloc knows its size, so that any other thread (libcurl resolves names in some) may
   free it. */
#include "CCurlShim.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Blocks of the class n have room for 16 n - 8 bytes or more, as malloc's have, whose smallest are of the class 2. */
enum { STEP = 16, SLACK = 8, SMALLEST = 24, LARGEST = 4096, CLASSES = LARGEST / STEP + 1, KEPT_BYTES = 4 * 1024 * 1024 };

typedef struct block {
  struct block *next;
} block;

/* Of the thread. (Of all models, this one lets code with the variable in it do without a stack frame.) */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
  /* How many bytes more are kept: none on a thread that runs no transfers. */
  long room;
  block *lists[CLASSES];
} store;

static void *make(size_t size) {
  if (size < SMALLEST) size = SMALLEST;
  size_t index = size + SLACK <= LARGEST ? (size + SLACK + STEP - 1) / STEP : 0;
  block *made = store.lists[index];
  if (!made) return malloc(size);
  store.lists[index] = made->next;
  store.room += index * STEP;
  return made;
}

__attribute__((noinline)) static void put_back(void *memory) {
  size_t index = store.room > 0 ? (malloc_usable_size(memory) + SLACK) / STEP : CLASSES;
  if (index >= CLASSES) {
    free(memory);
    return;
  }
  block *freed = memory;
  freed->next = store.lists[index];
  store.lists[index] = freed;
  store.room -= index * STEP;
}

/* Most of what libcurl lets go of is not there. */
static void unmake(void *memory) {
  if (memory) put_back(memory);
}

static void *remake(void *memory, size_t size) {
  if (!memory) return make(size);
  size_t room = malloc_usable_size(memory);
  if (size <= room) return memory;
  if (room >= LARGEST) return realloc(memory, size);
  void *moved = make(size);
  if (!moved) return NULL;
  memcpy(moved, memory, room);
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

/* Swift's runtime makes and frees all objects by these two; in the release executable the linker leads them here
   (`--wrap`, build_release in scripts/packages.sh). Alignment beyond malloc's own, as masks of all bits ask for it, and
   what to do without memory is the runtime's business. */
enum { USUAL_MASK = 15 };
void *__real_swift_slowAlloc(size_t size, size_t alignment_mask) __attribute__((weak));
void __real_swift_slowDealloc(void *memory, size_t size, size_t alignment_mask) __attribute__((weak));

__attribute__((used)) void *__wrap_swift_slowAlloc(size_t size, size_t alignment_mask) {
  void *made = alignment_mask <= USUAL_MASK ? make(size) : NULL;
  return made ? made : __real_swift_slowAlloc(size, alignment_mask);
}

__attribute__((used)) void __wrap_swift_slowDealloc(void *memory, size_t size, size_t alignment_mask) {
  if (alignment_mask <= USUAL_MASK) {
    /* The size is not to be trusted: of an object with a tail it may be told without. */
    unmake(memory);
  } else {
    __real_swift_slowDealloc(memory, size, alignment_mask);
  }
}

CURLcode hs_global_init(void) { return curl_global_init_mem(CURL_GLOBAL_DEFAULT, make, unmake, remake, copy, clear); }

void hs_keep_memory(void) {
  /* valgrind is to see what is used after it has been freed. */
  const char *preloaded = getenv("LD_PRELOAD");
  if (preloaded && strstr(preloaded, "vgpreload_memcheck")) return;
  if (store.room == 0) store.room = KEPT_BYTES;
}

void hs_release_pages(const void *start, size_t count) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t begin = ((uintptr_t)start + page - 1) & ~(page - 1), end = ((uintptr_t)start + count) & ~(page - 1);
  if (end > begin) madvise((void *)begin, end - begin, MADV_DONTNEED);
}

void hs_trim_memory(void) { malloc_trim(0); }
