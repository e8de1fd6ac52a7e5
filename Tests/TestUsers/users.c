// What another user's process would do, done by one thread of a process of root's: the system keeps users for each thread, and
// only the functions of the C library change those of all threads.
#define _GNU_SOURCE
#include "test_users.h"
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static int become(unsigned int user) { return (int)syscall(SYS_setresuid, -1, user, -1); }

static void become_root(void) {
    become(0);
    // The system takes that away from a process that changes its user.
    prctl(PR_SET_DUMPABLE, 1);
}

static int address_of(const char *path, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) return -1;
    strcpy(address->sun_path, path);
    return 0;
}

int test_users_listen(const char *path, unsigned int user) {
    struct sockaddr_un address;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    if (address_of(path, &address) == 0 && bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0
        && become(user) == 0) {
        int result = listen(descriptor, 16);
        become_root();
        if (result == 0) return descriptor;
    }
    close(descriptor);
    return -1;
}

int test_users_connect(const char *path, unsigned int user) {
    struct sockaddr_un address;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    if (address_of(path, &address) == 0 && become(user) == 0) {
        int result = connect(descriptor, (struct sockaddr *)&address, sizeof address);
        become_root();
        if (result == 0) return descriptor;
    }
    close(descriptor);
    return -1;
}
