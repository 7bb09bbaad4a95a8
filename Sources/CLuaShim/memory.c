// Lua's memory: small blocks from free lists by size, which costs a fraction of malloc and keeps what is used next in
// the cache. Lua tells the size of what it frees, so blocks have no header.
#include "internal.h"
#include <stdlib.h>

enum { STEP = 16, LARGEST = 2048, CLASSES = LARGEST / STEP, CHUNK = 32 * 1024 };

typedef struct free_block {
    struct free_block *next;
} free_block;

typedef struct chunk {
    struct chunk *next;
    // Keeps what follows aligned.
    size_t padding;
} chunk;

struct clua_heap {
    free_block *free[CLASSES];
    /// What is left of the newest chunk.
    unsigned char *start, *end;
    chunk *chunks;
};

static bool is_small(size_t size) { return size - 1 < LARGEST; }
static size_t class_of(size_t size) { return (size - 1) / STEP; }

static void give(clua_heap *heap, void *block, size_t size) {
    free_block *freed = block;
    freed->next = heap->free[class_of(size)];
    heap->free[class_of(size)] = freed;
}

static bool add_chunk(clua_heap *heap) {
    chunk *added = malloc(CHUNK);
    if (added == NULL) return false;
    // The rest of the last one serves for smaller blocks.
    size_t left = (size_t)(heap->end - heap->start);
    if (left > 0) give(heap, heap->start, left);
    added->next = heap->chunks;
    heap->chunks = added;
    heap->start = (unsigned char *)(added + 1);
    heap->end = (unsigned char *)added + CHUNK;
    return true;
}

static void *take(clua_heap *heap, size_t size) {
    size_t index = class_of(size);
    free_block *found = heap->free[index];
    if (found != NULL) {
        heap->free[index] = found->next;
        return found;
    }
    size_t length = (index + 1) * STEP;
    if ((size_t)(heap->end - heap->start) < length && !add_chunk(heap)) return NULL;
    void *block = heap->start;
    heap->start += length;
    return block;
}

static void *allocate(clua_heap *heap, size_t size) { return is_small(size) ? take(heap, size) : malloc(size); }

static void release(clua_heap *heap, void *block, size_t size) {
    if (is_small(size)) give(heap, block, size);
    else free(block);
}

// lua_Alloc. Making a block smaller must not fail: then it stays where it is, as a block of the smaller size.
void *clua_reallocate(void *context, void *block, size_t old, size_t size) {
    clua_heap *heap = context;
    if (block == NULL) return size == 0 ? NULL : allocate(heap, size);
    if (size == 0) {
        release(heap, block, old);
        return NULL;
    }
    if (is_small(old) ? is_small(size) && class_of(old) == class_of(size) : !is_small(size))
        return is_small(old) ? block : realloc(block, size);
    void *moved = allocate(heap, size);
    if (moved == NULL) return size < old ? block : NULL;
    memcpy(moved, block, old < size ? old : size);
    release(heap, block, old);
    return moved;
}

clua_heap *clua_heap_create(void) { return calloc(1, sizeof(clua_heap)); }

void clua_heap_destroy(clua_heap *heap) {
    while (heap != NULL && heap->chunks != NULL) {
        chunk *gone = heap->chunks;
        heap->chunks = gone->next;
        free(gone);
    }
    free(heap);
}
