#define _GNU_SOURCE
#include "CTestNetworks.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/in.h>
#include <sched.h>
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

int lk_test_set_wire_address(const char *interface, unsigned address) {
    int result = lk_test_set_address(interface, address);
    if (result != 0) return result;
    struct ifreq request = {0};
    struct sockaddr_in value = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xff000000)};
    memcpy(&request.ifr_netmask, &value, sizeof value);
    return with_interface(interface, SIOCSIFNETMASK, &request);
}

int lk_test_rename(const char *interface, const char *name) {
    struct ifreq request = {0};
    strncpy(request.ifr_newname, name, IFNAMSIZ - 1);
    return with_interface(interface, SIOCSIFNAME, &request);
}

int lk_test_add_ipv6(const char *interface, const char *address) {
    // As in <linux/ipv6.h>, which cannot be included beside the C library's headers.
    struct {
        struct in6_addr address;
        unsigned prefix;
        int interface;
    } request = {.prefix = 64, .interface = (int)if_nametoindex(interface)};
    if (inet_pton(AF_INET6, address, &request.address) != 1) return EINVAL;
    int descriptor = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return errno;
    int result = ioctl(descriptor, SIOCSIFADDR, &request) == 0 ? 0 : errno;
    close(descriptor);
    return result;
}

static int change_route(const char *interface, unsigned network, unsigned long call) {
    struct rtentry route = {.rt_flags = RTF_UP, .rt_dev = (char *)interface};
    struct sockaddr_in destination = {.sin_family = AF_INET, .sin_addr.s_addr = network};
    struct sockaddr_in mask = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xff000000)};
    memcpy(&route.rt_dst, &destination, sizeof destination);
    memcpy(&route.rt_genmask, &mask, sizeof mask);
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return errno;
    int result = ioctl(descriptor, call, &route) == 0 ? 0 : errno;
    close(descriptor);
    return result;
}

int lk_test_add_route(const char *interface, unsigned network) {
    return change_route(interface, network, SIOCADDRT);
}

int lk_test_remove_route(const char *interface, unsigned network) {
    return change_route(interface, network, SIOCDELRT);
}

int lk_test_leave_network(void) { return unshare(CLONE_NEWNET) == 0 ? 0 : errno; }

int lk_test_open_tun(const char *interface) {
    int descriptor = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return -errno;
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
    if (ioctl(descriptor, TUNSETIFF, &request) == 0) return descriptor;
    int code = errno;
    close(descriptor);
    return -code;
}
