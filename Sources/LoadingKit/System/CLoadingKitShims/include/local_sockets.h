// Sockets between processes of one machine: descriptors that are sent with bytes, and the credentials of the other end.
// Swift cannot import the macros for control messages.
#pragma once
#include <stdint.h>
#include <sys/types.h>

// The largest number of descriptors that one call receives.
#define LK_MAXIMUM_DESCRIPTORS 16

// Sends bytes, and descriptors with the first of them. Does not raise SIGPIPE. -1 with errno.
ssize_t lk_send_with_descriptors(int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count);

// Receives bytes, and the descriptors that were sent with them, which are closed on exec. `descriptors` has room for
// LK_MAXIMUM_DESCRIPTORS. -1 with errno: EMSGSIZE if there were more descriptors; none is returned then.
ssize_t lk_receive_with_descriptors(int socket, void *buffer, size_t count, int *descriptors, size_t *descriptor_count);

// The user and the process at the other end when it connected or listened: 0, or -1 with errno.
int lk_peer_credentials(int socket, uint32_t *user, int32_t *process);

// Accepts the next connection, nonblocking and closed on exec.
int lk_accept(int listener);

// Makes a pipe whose ends are closed on exec. 0, or -1 with errno.
int lk_pipe(int *reading, int *writing);
