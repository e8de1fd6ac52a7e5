#define _GNU_SOURCE
#include "CLoadingKitShims.h"
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <errno.h>
#include <sys/syscall.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

_Thread_local struct lk_thread_state lk_thread_state_storage;

int lk_is_forked_storage;

static void child_was_forked(void) { lk_is_forked_storage = 1; }

static void watch_forks(void) { pthread_atfork(NULL, NULL, child_was_forked); }

void lk_watch_forks(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
}

void lk_set_thread_timer_slack(unsigned long nanoseconds) { prctl(PR_SET_TIMERSLACK, nanoseconds); }

ssize_t lk_read_from_memory(int descriptor, void *buffer, size_t count, int64_t offset) {
    struct iovec part = {.iov_base = buffer, .iov_len = count};
    return preadv2(descriptor, &part, 1, offset, RWF_NOWAIT);
}

// SIGPIPE, blocked for the calling thread during a call that has no flag which keeps it from raising the signal.
struct broken_pipe {
    sigset_t signal, before;
    int was_pending;
};

static struct broken_pipe block_broken_pipe(void) {
    struct broken_pipe blocked;
    sigset_t pending;
    sigemptyset(&blocked.signal);
    sigaddset(&blocked.signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &blocked.signal, &blocked.before);
    sigpending(&pending);
    blocked.was_pending = sigismember(&pending, SIGPIPE);
    return blocked;
}

// Removes the signal that the call has raised. Keeps errno.
static void unblock_broken_pipe(const struct broken_pipe *blocked, ssize_t result) {
    int error = errno;
    if (result < 0 && error == EPIPE && !blocked->was_pending)
        sigtimedwait(&blocked->signal, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &blocked->before, NULL);
    errno = error;
}

ssize_t lk_send_file(int socket, int file, int64_t offset, size_t count) {
    struct broken_pipe blocked = block_broken_pipe();
    off_t position = offset;
    ssize_t sent = sendfile(socket, file, &position, count);
    unblock_broken_pipe(&blocked, sent);
    return sent;
}

ssize_t lk_write_to_pipe(int descriptor, const void *bytes, size_t count) {
    struct broken_pipe blocked = block_broken_pipe();
    ssize_t written = write(descriptor, bytes, count);
    unblock_broken_pipe(&blocked, written);
    return written;
}

int lk_reserve(int descriptor, int64_t offset, int64_t count) {
    return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, offset, count);
}

int lk_unacknowledged_bytes(int socket) {
    int count = 0;
    return ioctl(socket, SIOCOUTQ, &count) == 0 ? count : -1;
}

int lk_clone_file(int target, int source) { return ioctl(target, FICLONE, source); }

int64_t lk_file_system_type(const char *path) {
    struct statfs status;
    return statfs(path, &status) == 0 ? (int64_t)(uint32_t)status.f_type : -1;
}

int lk_set_modification_time(int descriptor, int64_t seconds, int64_t nanoseconds) {
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = seconds, .tv_nsec = nanoseconds}};
    return futimens(descriptor, times);
}

unsigned long lk_program_entry(void) { return getauxval(AT_ENTRY); }

int lk_is_set_id(void) { return getauxval(AT_SECURE) != 0; }

void lk_set_thread_name(const char *name) { pthread_setname_np(pthread_self(), name); }

int lk_route_socket(void) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE,
    };
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

int lk_rename_without_replacing(const char *old_name, const char *new_name) {
    // Not every C library has a function for this call.
    return (int)syscall(SYS_renameat2, AT_FDCWD, old_name, AT_FDCWD, new_name, 1 /* RENAME_NOREPLACE */);
}

static volatile int signal_descriptor = -1;

static void signal_arrived(int number) {
    (void)number;
    int error = errno;
    uint64_t one = 1;
    // It fails only where the thread that reads has 2^64 - 1 signals before it.
    ssize_t written = write(signal_descriptor, &one, sizeof one);
    (void)written;
    errno = error;
}

int lk_write_on_signal(int number, int descriptor) {
    signal_descriptor = descriptor;
    struct sigaction action = {.sa_handler = signal_arrived, .sa_flags = SA_RESTART};
    return sigaction(number, &action, NULL);
}

size_t lk_matching_places(const void *first, size_t count, size_t stride, int32_t value, uint32_t *places) {
    size_t found = 0;
    const char *bytes = first;
    if (bytes == NULL || places == NULL) return 0;
    for (size_t place = 0; place < count; place++) {
        int32_t number;
        memcpy(&number, bytes + place * stride, sizeof number);
        if (number == value) places[found++] = (uint32_t)place;
    }
    return found;
}
