// The few C functions that Swift cannot express: epoll, which Glibc's module does not export, thread-local pointers, and
// SIMD move-masks.
#pragma once
#include <malloc.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>

// What the calling thread is: the event loop that it runs, the fault plan that a test attached to it, and whether it
// runs what another's work borrowed it for.
struct lk_thread_state {
    void *event_loop;
    void *fault_plan;
    int is_borrowed;
};

extern _Thread_local struct lk_thread_state lk_thread_state_storage;

static inline void *lk_thread_event_loop(void) { return lk_thread_state_storage.event_loop; }
static inline void lk_set_thread_event_loop(void *loop) { lk_thread_state_storage.event_loop = loop; }
static inline void *lk_thread_fault_plan(void) { return lk_thread_state_storage.fault_plan; }
static inline void lk_set_thread_fault_plan(void *plan) { lk_thread_state_storage.fault_plan = plan; }

static inline int lk_thread_is_borrowed(void) { return lk_thread_state_storage.is_borrowed; }
static inline void lk_set_thread_is_borrowed(int is_borrowed) { lk_thread_state_storage.is_borrowed = is_borrowed; }

// A socket that is told of changes to interfaces, addresses and routes; -1 with errno.
int lk_route_socket(void);

// Where the program begins in memory. Unlike what /proc says, this is the program where the dynamic linker was started with
// it, too.
unsigned long lk_program_entry(void);

// Names the calling thread; at most 15 bytes.
void lk_set_thread_name(const char *name);

// How late the calling thread's sleeps may end, in nanoseconds.
void lk_set_thread_timer_slack(unsigned long nanoseconds);

// Swift sees the structure of the same name alone.
static inline int lk_flock(int descriptor, int operation) { return flock(descriptor, operation); }

// Renames a file where nothing has the new name; -1 with errno, which is EEXIST where something has, and EINVAL or ENOSYS where
// the file system or the system cannot do that.
int lk_rename_without_replacing(const char *old_name, const char *new_name);

// Other C libraries than glibc keep less, and have no such call.
static inline void lk_release_free_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

// Has the file system set aside room for a file's bytes; the file's size stays what it is. -1 and errno where it has none.
int lk_reserve(int descriptor, int64_t offset, int64_t count);

// Gives a file the content of another one, which both have in common until one is written to; -1 and errno where the file system
// has no such thing.
int lk_clone_file(int target, int source);

// Copies from where both files are read and written next. How many bytes, 0 at the end; -1 and errno.
int64_t lk_copy_range(int source, int target, size_t count);

// Says when a file was last written to. -1 and errno.
int lk_set_modification_time(int descriptor, int64_t seconds, int64_t nanoseconds);

#include "checksum.h"
#include "chunk_line.h"
#include "field_lines.h"
#include "http_scan.h"
#include "local_sockets.h"
#include "validated_lookup.h"
