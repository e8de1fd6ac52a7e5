// The few C functions that Swift cannot express: epoll, which Glibc's module does not export, thread-local pointers,
// and SIMD move-masks.
#pragma once
#include <malloc.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/types.h>

// The state of the calling thread: the event loop that it runs, the fault plan that a test attached to it, and whether
// it is borrowed and runs other work.
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

// Whether fork() has made this process of one that had event loops. It has neither their threads nor sockets of its own.
extern int lk_is_forked_storage;
static inline int lk_is_forked(void) { return lk_is_forked_storage; }

// From now on, `lk_is_forked()` returns 1 in the children that fork() makes of this process.
void lk_watch_forks(void);

// A socket that receives changes of interfaces, addresses and routes; -1 with errno.
int lk_route_socket(void);

// The entry address of the program in memory. Unlike /proc's links, it belongs to the program even if that was started
// through the dynamic linker.
unsigned long lk_program_entry(void);

// Whether the program has other rights than the process that started it, by its set-user-ID or set-group-ID bit or by
// capabilities. Swift does not import `secure_getenv`.
int lk_is_set_id(void);

// Sets the name of the calling thread; at most 15 bytes.
void lk_set_thread_name(const char *name);

// Sets the tolerance for the end of the calling thread's sleeps, in nanoseconds.
void lk_set_thread_timer_slack(unsigned long nanoseconds);

// Swift imports only the structure of the same name.
static inline int lk_flock(int descriptor, int operation) { return flock(descriptor, operation); }

// Renames a file if the new name does not exist. -1 with errno: EEXIST if it exists, and EINVAL or ENOSYS if the file
// system or the system does not support the call.
int lk_rename_without_replacing(const char *old_name, const char *new_name);

// C libraries other than glibc keep less freed memory, and have no such call.
static inline void lk_release_free_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

// Reads bytes of a file that the system has in memory, without waiting for a disk or a network. -1 with errno: EAGAIN if
// the next bytes are not in memory, and EOPNOTSUPP or ENOSYS if the file system or the system cannot tell.
ssize_t lk_read_from_memory(int descriptor, void *buffer, size_t count, int64_t offset);

// Sends bytes of a file to a socket without copying them into the program's memory. Does not raise SIGPIPE. The number of
// bytes that the socket took, 0 at the file's end, or -1 with errno.
ssize_t lk_send_file(int socket, int file, int64_t offset, size_t count);

// The number of bytes that a socket has taken and the peer's system has not acknowledged. -1 with errno if the system
// does not say.
int lk_unacknowledged_bytes(int socket);

// Writes to a file that may be a pipe. Does not raise SIGPIPE. The number of bytes that were written, or -1 with errno: EPIPE
// if a pipe has no reader.
ssize_t lk_write_to_pipe(int descriptor, const void *bytes, size_t count);

// Reserves space in the file system for a file's bytes; the file's size does not change. -1 with errno if there is no
// space.
int lk_reserve(int descriptor, int64_t offset, int64_t count);

// Gives a file the contents of another one. Both share them until one is written to. -1 with errno if the file system
// does not support this.
int lk_clone_file(int target, int source);

// The type of the file system in which a file is, a number of linux/magic.h. -1 with errno.
int64_t lk_file_system_type(const char *path);

// Sets the time of a file's last modification. -1 with errno.
int lk_set_modification_time(int descriptor, int64_t seconds, int64_t nanoseconds);

/// Installs a handler for the signal that adds 1 to the eventfd, and nothing else. One signal in a process. As `sigaction`.
int lk_write_on_signal(int number, int descriptor);

/// The places among `count` numbers, `stride` bytes apart, that have the value, in `places`, which has room for all. Returns
/// how many there are.
size_t lk_matching_places(const void *first, size_t count, size_t stride, int32_t value, uint32_t *places);

#include "checksum.h"
#include "chunk_line.h"
#include "field_lines.h"
#include "http_scan.h"
#include "local_sockets.h"
#include "validated_lookup.h"
