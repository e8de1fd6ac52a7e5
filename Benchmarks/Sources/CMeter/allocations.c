#include "CMeter.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

// Counts allocations, and leaves them to glibc's own functions. Each thread counts for itself, which costs about a
// nanosecond: so every client counts in every run, and all of them pay the same.

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

enum { max_threads = 256 };

/// One thread's count, in a cache line of its own. Threads beyond the most share the last, and may miss some.
static struct {
    _Alignas(64) atomic_long count;
} counters[max_threads];
static atomic_int threads;
static _Thread_local atomic_long *counter;

static inline void count(void) {
    if (!counter) {
        int index = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed);
        counter = &counters[index < max_threads ? index : max_threads - 1].count;
    }
    long before = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, before + 1, memory_order_relaxed);
}

long allocations_count(void) {
    long sum = 0;
    for (int index = 0; index < max_threads; index++)
        sum += atomic_load_explicit(&counters[index].count, memory_order_relaxed);
    return sum;
}

void *malloc(size_t size) {
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    count();
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
    count();
    void *memory = __libc_memalign(alignment, size);
    if (!memory) return ENOMEM;
    *result = memory;
    return 0;
}
