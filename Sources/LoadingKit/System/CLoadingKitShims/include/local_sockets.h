// Sockets between processes of one machine: descriptors that go with bytes, and whose the other end is. Swift does not see the
// macros for control messages.
#pragma once
#include <stdint.h>
#include <sys/types.h>

// The most descriptors that are taken with one call.
#define LK_MAXIMUM_DESCRIPTORS 16

// Sends bytes, and descriptors with the first of them. Does not raise SIGPIPE. -1 and errno.
ssize_t lk_send_with_descriptors(int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count);

// Receives bytes, and the descriptors that came with them, which are closed on exec. `descriptors` has room for
// LK_MAXIMUM_DESCRIPTORS. -1 and errno: EMSGSIZE where there were more descriptors; then none is given.
ssize_t lk_receive_with_descriptors(int socket, void *buffer, size_t count, int *descriptors, size_t *descriptor_count);

// Whose the other end's process is, when it connected or listened: 0, or -1 and errno.
int lk_peer_credentials(int socket, uint32_t *user, int32_t *process);

// The next connection, which does not block and is closed on exec.
int lk_accept(int listener);

// A pipe whose ends are closed on exec. 0, or -1 and errno.
int lk_pipe(int *reading, int *writing);
