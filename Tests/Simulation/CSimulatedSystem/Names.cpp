// The resolver, and what the system says of itself.
#include "World.h"
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sched.h>
#include <unistd.h>

using namespace sim;

struct Name {
    std::vector<std::string> addresses;
    uint64_t time;
};
static std::map<std::string, Name> names;
/// The processors that Dispatch and Swift's runtime see.
static const int processors = 4;

DECLARE_REAL(getaddrinfo);
DECLARE_REAL(freeaddrinfo);
DECLARE_REAL(sysconf);

static addrinfo *entry(const std::string &text, int family, int type) {
    in_addr four;
    in6_addr six;
    auto info = static_cast<addrinfo *>(calloc(1, sizeof(addrinfo) + sizeof(sockaddr_storage)));
    auto storage = reinterpret_cast<sockaddr *>(info + 1);
    info->ai_addr = storage;
    info->ai_socktype = type;
    if (family != AF_INET6 && inet_pton(AF_INET, text.c_str(), &four) == 1) {
        info->ai_family = AF_INET;
        info->ai_addrlen = sizeof(sockaddr_in);
        reinterpret_cast<sockaddr_in *>(storage)->sin_addr = four;
    } else if (family != AF_INET && inet_pton(AF_INET6, text.c_str(), &six) == 1) {
        info->ai_family = AF_INET6;
        info->ai_addrlen = sizeof(sockaddr_in6);
        reinterpret_cast<sockaddr_in6 *>(storage)->sin6_addr = six;
    } else {
        free(info);
        return nullptr;
    }
    storage->sa_family = sa_family_t(info->ai_family);
    return info;
}

extern "C" {

void sim_add_name(const char *name, const char *addresses, uint64_t microseconds) {
    Name entry{{}, microseconds * 1000};
    std::string text(addresses);
    for (size_t start = 0; start < text.size();) {
        auto end = std::min(text.find(',', start), text.size());
        entry.addresses.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    names[name] = entry;
}

int getaddrinfo(const char *name, const char *service, const addrinfo *hints, addrinfo **list) {
    CALLED;
    if (!isSimulated()) return REAL(getaddrinfo)(name, service, hints, list);
    *list = nullptr;
    if (int error = fault("getaddrinfo")) {
        errno = error;
        return EAI_SYSTEM;
    }
    int family = hints ? hints->ai_family : AF_UNSPEC;
    auto known = name ? names.find(name) : names.end();
    trace("%s is looked up", name ? name : "");
    std::vector<std::string> addresses{name ? name : ""};
    if (known != names.end()) {
        waitFor(&names, now() + known->second.time);
        addresses = known->second.addresses;
    }
    addrinfo **last = list;
    for (auto &address : addresses)
        if ((*last = entry(address, family, hints && hints->ai_socktype ? hints->ai_socktype : SOCK_STREAM)))
            last = &(*last)->ai_next;
    return *list ? 0 : EAI_NONAME;
}

void freeaddrinfo(addrinfo *list) {
    if (!isSimulated()) return REAL(freeaddrinfo)(list);
    while (list) {
        auto following = list->ai_next;
        free(list);
        list = following;
    }
}

long sysconf(int name) {
    if (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF) return processors;
    return REAL(sysconf)(name);
}

static int describeProcessors(size_t size, cpu_set_t *set) {
    CPU_ZERO_S(size, set);
    for (int number = 0; number < processors; number++) CPU_SET_S(size_t(number), size, set);
    return 0;
}

int sched_getaffinity(pid_t, size_t size, cpu_set_t *set) { return describeProcessors(size, set); }
int pthread_getaffinity_np(pthread_t, size_t size, cpu_set_t *set) { return describeProcessors(size, set); }

} // extern "C"
