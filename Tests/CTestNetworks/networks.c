#include "CTestNetworks.h"
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int with_interface(const char *interface, unsigned long call, struct ifreq *request) {
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return errno;
    strncpy(request->ifr_name, interface, IFNAMSIZ - 1);
    int result = ioctl(descriptor, call, request) == 0 ? 0 : errno;
    close(descriptor);
    return result;
}

int lk_test_bring_up(const char *interface) {
    struct ifreq request = {0};
    request.ifr_flags = IFF_UP;
    return with_interface(interface, SIOCSIFFLAGS, &request);
}

int lk_test_bring_down(const char *interface) {
    struct ifreq request = {0};
    return with_interface(interface, SIOCSIFFLAGS, &request);
}

int lk_test_set_address(const char *interface, unsigned address) {
    struct ifreq request = {0};
    struct sockaddr_in value = {.sin_family = AF_INET, .sin_addr.s_addr = address};
    memcpy(&request.ifr_addr, &value, sizeof value);
    return with_interface(interface, SIOCSIFADDR, &request);
}

int lk_test_rename(const char *interface, const char *name) {
    struct ifreq request = {0};
    strncpy(request.ifr_newname, name, IFNAMSIZ - 1);
    return with_interface(interface, SIOCSIFNAME, &request);
}
