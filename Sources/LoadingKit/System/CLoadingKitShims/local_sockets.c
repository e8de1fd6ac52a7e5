#define _GNU_SOURCE
#include "local_sockets.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t lk_send_with_descriptors(
    int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count) {
    if (descriptor_count > LK_MAXIMUM_DESCRIPTORS) {
        errno = EINVAL;
        return -1;
    }
    struct iovec vector = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    union {
        char bytes[CMSG_SPACE(sizeof(int) * LK_MAXIMUM_DESCRIPTORS)];
        struct cmsghdr alignment;
    } control;
    if (descriptor_count > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptor_count);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * descriptor_count);
        memcpy(CMSG_DATA(header), descriptors, sizeof(int) * descriptor_count);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t lk_receive_with_descriptors(
    int socket, void *buffer, size_t count, int *descriptors, size_t *descriptor_count) {
    struct iovec vector = {.iov_base = buffer, .iov_len = count};
    union {
        char bytes[CMSG_SPACE(sizeof(int) * LK_MAXIMUM_DESCRIPTORS)];
        struct cmsghdr alignment;
    } control;
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    *descriptor_count = 0;
    ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (received < 0) return received;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t number = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t index = 0; index < number; index++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(header) + index * sizeof(int), sizeof(int));
            if (*descriptor_count < LK_MAXIMUM_DESCRIPTORS) {
                descriptors[(*descriptor_count)++] = descriptor;
            } else {
                close(descriptor);
                message.msg_flags |= MSG_CTRUNC;
            }
        }
    }
    if (message.msg_flags & MSG_CTRUNC) {
        while (*descriptor_count > 0) close(descriptors[--*descriptor_count]);
        errno = EMSGSIZE;
        return -1;
    }
    return received;
}

int lk_peer_credentials(int socket, uint32_t *user, int32_t *process) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
    *user = credentials.uid;
    *process = credentials.pid;
    return 0;
}

int lk_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

int lk_pipe(int *reading, int *writing) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    *reading = ends[0];
    *writing = ends[1];
    return 0;
}
