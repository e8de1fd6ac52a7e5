// Connections with a latency, a bandwidth, losses and ends that the seed decides.
#include "World.h"
#include <algorithm>
#include <utility>
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

namespace sim {

namespace {

sim_network network{50, 200, 100'000, 1'000'000, 0, 0, 0, 0, 0, 0, 0};
/// Until then nothing travels.
uint64_t stillUntil = 0;
/// The bytes that are on their way or unread, in one direction.
constexpr size_t windowSize = 262'144;
constexpr size_t segmentSize = 16'384;
/// How long the system tries to connect.
constexpr uint64_t connectLimit = 127 * second;

using Address = std::vector<uint8_t>;

struct Socket;
std::map<Address, Socket *> listeners;
std::set<Socket *> connections;
std::vector<Socket *> routeSockets;
uint16_t lastPort = 40'000;
uint64_t connectionCount = 0;

/// What a connection does at a number of bytes, in one direction.
enum class Fate { none, reset, end, silence };

struct Socket : Object {
    enum State { idle, listening, connecting, connected, ended };

    int family, type;
    State state = idle;
    Address local, remote;
    uint64_t number = 0;

    // A listener's.
    std::deque<Socket *> waiting;
    size_t backlog = 0;

    // A connection's.
    Socket *peer = nullptr;
    std::deque<uint8_t> received;
    bool hasEnd = false, readsNoMore = false, writesNoMore = false;
    int error = 0;
    uint64_t latency = 0, bandwidth = 1, lastArrival = 0;
    size_t underway = 0;
    Fate fate = Fate::none;
    uint64_t fateAfter = 0, sent = 0;
    bool isSilent = false;
    /// Whether nothing happens to it: it is local, or a server's own, as a proxy's.
    bool isFaultless = false;
    /// Descriptors that come with the byte at a place in the stream (`SCM_RIGHTS`).
    std::deque<std::pair<uint64_t, std::vector<int>>> passed;
    uint64_t taken = 0;

    Socket(int family, int type) : family(family), type(type) {}

    ~Socket() override {
        for (auto &entry : passed)
            for (auto descriptor : entry.second) realCall(SYS_close, descriptor);
    }

    bool isLocal() const { return family == AF_UNIX; }

    static void release(Socket *socket) {
        if (--socket->references == 0) delete socket;
    }

    uint32_t events() override {
        if (type == SOCK_DGRAM) return EPOLLOUT;
        uint32_t events = 0;
        switch (state) {
        case idle: return isRoute() ? (received.empty() ? 0 : EPOLLIN) : EPOLLOUT | EPOLLHUP;
        case listening: return waiting.empty() ? 0 : EPOLLIN;
        case connecting: return 0;
        case connected:
        case ended: break;
        }
        if (!received.empty() || hasEnd || error || readsNoMore) events |= EPOLLIN;
        if (hasEnd || readsNoMore || error) events |= EPOLLRDHUP;
        if (error) events |= EPOLLERR;
        if (error || state == ended || ((hasEnd || readsNoMore) && writesNoMore)) events |= EPOLLHUP;
        if (error || writesNoMore || !peer || room() > windowSize / 4) events |= EPOLLOUT;
        return events;
    }

    bool isRoute() const { return family == AF_NETLINK; }

    size_t room() const {
        size_t taken = underway + (peer ? peer->received.size() : 0);
        return taken < windowSize ? windowSize - taken : 0;
    }

    // MARK: Bytes

    /// As if the rest came, or had room, a moment later: a short transfer says that there is no more (epoll(7)).
    size_t shortened(size_t count) {
        if (count < 2 || !networkRandom.happens(network.short_transfers)) return count;
        references++;
        schedule(now() + networkRandom.below(1'000'000), [this] {
            changed();
            release(this);
        });
        return networkRandom.between(1, count);
    }

    ssize_t read(void *buffer, size_t count, int flags) override {
        if (isRoute()) return readRoute(buffer, count);
        if (state == connecting || state == idle) return state == idle ? -ENOTCONN : -EAGAIN;
        if (received.empty()) {
            if (error) {
                int code = error;
                if (!(flags & MSG_PEEK)) error = 0;
                return -code;
            }
            return hasEnd || readsNoMore ? 0 : -EAGAIN;
        }
        count = std::min(count, received.size());
        if (!(flags & MSG_PEEK)) count = shortened(count);
        // One call takes descriptors of one place.
        for (auto &entry : passed)
            if (entry.first > taken) {
                count = std::min<size_t>(count, entry.first - taken);
                break;
            }
        if (buffer) std::copy_n(received.begin(), count, static_cast<uint8_t *>(buffer));
        if (flags & MSG_PEEK) return ssize_t(count);
        received.erase(received.begin(), received.begin() + long(count));
        taken += count;
        trace("connection %llu: %zu bytes are read", (unsigned long long)number, count);
        if (peer) peer->changed();
        return ssize_t(count);
    }

    ssize_t readRoute(void *buffer, size_t count) {
        if (received.empty()) return -EAGAIN;
        count = std::min(count, received.size());
        std::copy_n(received.begin(), count, static_cast<uint8_t *>(buffer));
        received.clear();
        return ssize_t(count);
    }

    ssize_t write(const void *buffer, size_t count, int) override {
        if (state == connecting) return -EAGAIN;
        if (error) {
            int code = error;
            error = 0;
            return -code;
        }
        if (state == idle) return -ENOTCONN;
        if (state == ended || writesNoMore) return -EPIPE;
        count = std::min(count, room());
        if (count == 0) return -EAGAIN;
        count = shortened(count);
        auto bytes = static_cast<const uint8_t *>(buffer);
        trace("connection %llu: %zu bytes are sent", (unsigned long long)number, count);
        for (size_t sent = 0; sent < count;) {
            size_t length = std::min(count - sent, networkRandom.between(1, segmentSize));
            deliver(std::vector<uint8_t>(bytes + sent, bytes + sent + length));
            sent += length;
        }
        return ssize_t(count);
    }

    /// The time at which a segment arrives that is sent now.
    uint64_t arrival(size_t length) {
        uint64_t travel = latency + uint64_t(length) * second / bandwidth;
        if (networkRandom.happens(network.loss)) travel += std::max<uint64_t>(2 * latency, 200'000'000);
        auto departure = isLocal() ? now() : std::max(now(), stillUntil);
        return lastArrival = std::max(lastArrival + uint64_t(length) * second / bandwidth, departure + travel);
    }

    /// Does work for the other end when what was sent before has arrived there.
    void later(uint64_t time, std::function<void(Socket *)> work) {
        auto target = peer;
        if (!target) return;
        references++;
        target->references++;
        schedule(time, [this, target, work] {
            work(target);
            release(target);
            release(this);
        });
    }

    void deliver(std::vector<uint8_t> bytes) {
        if (fate != Fate::none && sent + bytes.size() >= fateAfter) {
            bytes.resize(std::min<size_t>(bytes.size(), fateAfter > sent ? fateAfter - sent : 0));
            if (!bytes.empty()) send(bytes);
            auto what = fate;
            fate = Fate::none;
            meet(what);
        } else if (!isSilent) {
            send(bytes);
        }
    }

    void send(const std::vector<uint8_t> &bytes) {
        sent += bytes.size();
        underway += bytes.size();
        later(arrival(bytes.size()), [this, bytes](Socket *target) {
            underway -= bytes.size();
            // An end that is closed answers with a reset.
            if (target->state == ended || target->readsNoMore) return fail(ECONNRESET);
            target->received.insert(target->received.end(), bytes.begin(), bytes.end());
            target->changed();
        });
    }

    void meet(Fate fate) {
        switch (fate) {
        case Fate::none: break;
        case Fate::silence:
            trace("connection %llu falls silent", (unsigned long long)number);
            isSilent = true;
            break;
        case Fate::end:
            trace("connection %llu ends", (unsigned long long)number);
            sendEnd();
            isSilent = true;
            break;
        case Fate::reset:
            trace("connection %llu is reset", (unsigned long long)number);
            isSilent = true;
            later(arrival(0), [this](Socket *target) {
                target->fail(ECONNRESET);
                fail(ECONNRESET);
            });
        }
    }

    void sendEnd() {
        if (isSilent) return;
        later(arrival(0), [](Socket *target) {
            target->hasEnd = true;
            target->changed();
        });
    }

    void fail(int code) {
        if (state == ended || error) return;
        error = code;
        hasEnd = true;
        writesNoMore = true;
        changed();
    }

    // MARK: Connections

    void pair(Socket *other, bool isFaultless) {
        number = other->number = ++connectionCount;
        auto latency = networkRandom.between(network.least_latency, network.greatest_latency) * 1000;
        auto bandwidth = std::max<uint64_t>(1, networkRandom.between(network.least_bandwidth, network.greatest_bandwidth)) * 1000;
        for (auto end : {this, other}) {
            end->latency = isLocal() ? 1000 : latency;
            end->bandwidth = isLocal() ? second : bandwidth;
            end->peer = end == this ? other : this;
            end->references++;
            connections.insert(end);
            end->isFaultless = isFaultless;
            if (isFaultless) continue;
            end->fate = chosenFate();
            end->fateAfter = 1 + networkRandom.below(networkRandom.happens(500) ? 400 : 200'000);
        }
    }

    static Fate chosenFate() {
        auto number = networkRandom.below(1000);
        if (number < network.resets) return Fate::reset;
        if (number < network.resets + network.ends) return Fate::end;
        if (number < network.resets + network.ends + network.silences) return Fate::silence;
        return Fate::none;
    }

    static Socket *listener(const Address &address);

    int connect(const Address &address) {
        if (type == SOCK_DGRAM) {
            remote = address;
            if (local.empty()) bindToFree();
            return 0;
        }
        if (state == connecting) return -EALREADY;
        if (state == connected) return -EISCONN;
        if (local.empty()) bindToFree();
        remote = address;
        state = connecting;
        auto latency = isLocal() ? 0 : networkRandom.between(network.least_latency, network.greatest_latency) * 1000;
        bool isFaultless = isLocal() || isServersThread();
        auto fate = networkRandom.below(1000);
        if (!isFaultless && fate < network.unanswered) latency = connectLimit;
        bool isRefused = !isFaultless && fate >= network.unanswered && fate < network.unanswered + network.refusals;
        references++;
        schedule(now() + 2 * latency, [this, latency, isRefused, isFaultless] {
            if (state == connecting) arrive(latency == connectLimit ? ETIMEDOUT : isRefused ? ECONNREFUSED : 0, isFaultless);
            release(this);
        });
        if (!isLocal()) return -EINPROGRESS;
        arrive(0, true);
        return -std::exchange(error, 0);
    }

    void arrive(int code, bool isFaultless) {
        auto target = code == 0 ? listener(remote) : nullptr;
        if (!target || target->waiting.size() > target->backlog) {
            trace("a connection is refused: %d", code ? code : ECONNREFUSED);
            state = ended;
            error = code ? code : ECONNREFUSED;
            changed();
            return;
        }
        auto accepted = new Socket(family, type);
        accepted->local = remote;
        accepted->remote = local;
        accepted->state = state = connected;
        pair(accepted, isFaultless);
        trace("connection %llu is opened", (unsigned long long)number);
        auto place = target->waiting.empty() ? 0 : networkRandom.below(target->waiting.size() + 1);
        target->waiting.insert(target->waiting.begin() + long(place), accepted);
        target->changed();
        changed();
    }

    /// Ports are not used again, as none is within a minute.
    void bindToFree() {
        if (family == AF_INET) {
            sockaddr_in address{};
            address.sin_family = AF_INET;
            address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            local = bytes(&address, sizeof address);
        } else if (family == AF_INET6) {
            sockaddr_in6 address{};
            address.sin6_family = AF_INET6;
            address.sin6_addr = in6addr_loopback;
            local = bytes(&address, sizeof address);
        } else {
            sa_family_t unixFamily = AF_UNIX;
            local = bytes(&unixFamily, sizeof unixFamily);
            return;
        }
        setPort(++lastPort);
    }

    void setPort(uint16_t port) {
        port = htons(port);
        memcpy(local.data() + 2, &port, 2);
    }

    static Address bytes(const void *address, size_t count) {
        auto first = static_cast<const uint8_t *>(address);
        return {first, first + count};
    }

    void closed() override {
        trace("connection %llu is closed", (unsigned long long)number);
        connections.erase(this);
        if (state == listening) {
            listeners.erase(key(local));
            for (auto other : waiting) {
                other->references++;
                other->closed();
                release(other);
            }
            waiting.clear();
        }
        routeSockets.erase(std::remove(routeSockets.begin(), routeSockets.end(), this), routeSockets.end());
        state = ended;
        if (!peer) return;
        if (!received.empty()) {
            later(arrival(0), [](Socket *target) { target->fail(ECONNRESET); });
        } else if (!writesNoMore) {
            sendEnd();
        }
        if (peer->state == ended) separate();
    }

    /// Both ends are closed.
    void separate() {
        auto other = std::exchange(peer, nullptr);
        other->peer = nullptr;
        references--;
        release(other);
    }

    /// By which listeners are found: all of an interface's addresses are one.
    static Address key(const Address &address) {
        sa_family_t family;
        memcpy(&family, address.data(), sizeof family);
        if (family == AF_UNIX) {
            auto end = std::find(address.begin() + 3, address.end(), 0);
            return {address.begin(), std::max(end, address.begin() + 3)};
        }
        return {address.begin(), address.begin() + (family == AF_INET ? 8 : 24)};
    }
};

Socket *Socket::listener(const Address &address) {
    auto entry = listeners.find(key(address));
    return entry == listeners.end() ? nullptr : entry->second;
}

Socket *socketOf(int descriptor) { return dynamic_cast<Socket *>(object(descriptor)); }

void copyAddress(const Address &address, sockaddr *place, socklen_t *length) {
    if (!place || !length) return;
    memcpy(place, address.data(), std::min<size_t>(*length, address.size()));
    *length = socklen_t(address.size());
}

} // namespace

uint32_t openConnections() { return uint32_t(connections.size()); }

} // namespace sim

using namespace sim;

extern "C" {

void sim_set_network(const sim_network *value) { network = *value; }

void sim_stop_networks(uint64_t nanoseconds) {
    trace("the networks are still for %llu ms", (unsigned long long)nanoseconds / 1'000'000);
    stillUntil = std::max(stillUntil, now() + nanoseconds);
}

void sim_change_networks(uint32_t silenced) {
    trace("the networks change");
    for (auto connection : connections)
        if (!connection->isFaultless && networkRandom.happens(silenced)) connection->isSilent = true;
    for (auto socket : routeSockets) {
        // What is changed is read from the system, whatever the message says.
        nlmsghdr message{};
        message.nlmsg_len = sizeof message + sizeof(ifaddrmsg);
        message.nlmsg_type = RTM_NEWADDR;
        auto bytes = reinterpret_cast<const uint8_t *>(&message);
        socket->received.assign(bytes, bytes + sizeof message);
        socket->received.resize(message.nlmsg_len);
        socket->changed();
    }
}

int socket(int family, int type, int protocol) {
    CALLED;
    if (!isSimulated()) return result(int(realCall(SYS_socket, family, type, protocol)));
    if (int error = fault("socket")) return result(-error);
    auto created = new Socket(family, type & 0xF);
    if (created->isRoute()) routeSockets.push_back(created);
    return result(add(created, type & SOCK_NONBLOCK));
}

int socketpair(int family, int type, int protocol, int descriptors[2]) {
    if (!isSimulated()) return result(int(realCall(SYS_socketpair, family, type, protocol, long(descriptors))));
    auto one = new Socket(AF_UNIX, SOCK_STREAM), other = new Socket(AF_UNIX, SOCK_STREAM);
    one->state = other->state = Socket::connected;
    one->bindToFree();
    one->remote = other->remote = other->local = one->local;
    one->pair(other, true);
    descriptors[0] = add(one, type & SOCK_NONBLOCK);
    descriptors[1] = add(other, type & SOCK_NONBLOCK);
    return 0;
}

/// The file that stays when the listener is gone.
static int makeSocketFile(const sockaddr *address, socklen_t length) {
    auto descriptor = int(realCall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (descriptor < 0) return descriptor;
    auto code = int(realCall(SYS_bind, descriptor, long(address), length));
    realCall(SYS_close, descriptor);
    return code;
}

int bind(int descriptor, const sockaddr *address, socklen_t length) {
    CALLED;
    auto found = socketOf(descriptor);
    if (!found) return result(int(realCall(SYS_bind, descriptor, long(address), length)));
    if (int error = fault("bind")) return result(-error);
    if (found->isRoute()) return 0;
    found->local = Socket::bytes(address, length);
    bool isInternet = found->family != AF_UNIX;
    if (isInternet && found->local[2] == 0 && found->local[3] == 0) found->setPort(++lastPort);
    if (Socket::listener(found->local)) return result(-EADDRINUSE);
    return isInternet ? 0 : result(makeSocketFile(address, length));
}

int listen(int descriptor, int backlog) {
    CALLED;
    auto found = socketOf(descriptor);
    if (!found) return result(int(realCall(SYS_listen, descriptor, backlog)));
    if (int error = fault("listen")) return result(-error);
    if (found->local.empty()) found->bindToFree();
    found->state = Socket::listening;
    found->backlog = size_t(std::max(backlog, 1));
    listeners[Socket::key(found->local)] = found;
    return 0;
}

int accept4(int descriptor, sockaddr *address, socklen_t *length, int flags) {
    CALLED;
    auto found = socketOf(descriptor);
    if (!found) return result(int(realCall(SYS_accept4, descriptor, long(address), long(length), flags)));
    if (int error = fault("accept")) return result(-error);
    return result(int(blocking(found, false, never, [&]() -> ssize_t {
        if (found->state != Socket::listening || found->readsNoMore) return -EINVAL;
        if (found->waiting.empty()) return -EAGAIN;
        auto accepted = found->waiting.front();
        found->waiting.pop_front();
        copyAddress(accepted->remote, address, length);
        return add(accepted, flags & SOCK_NONBLOCK);
    })));
}

int accept(int descriptor, sockaddr *address, socklen_t *length) { return accept4(descriptor, address, length, 0); }

int connect(int descriptor, const sockaddr *address, socklen_t length) {
    CALLED;
    auto found = socketOf(descriptor);
    if (!found) return result(int(realCall(SYS_connect, descriptor, long(address), length)));
    if (int error = fault("connect")) return result(-error);
    if (found->family == AF_UNIX) {
        struct stat status{};
        auto path = reinterpret_cast<const sockaddr_un *>(address)->sun_path;
        auto code = int(realCall(SYS_newfstatat, AT_FDCWD, long(path), long(&status), 0));
        if (code < 0) return result(code);
    }
    int code = found->connect(Socket::bytes(address, length));
    if (code != -EINPROGRESS || found->isNonblocking) return result(code);
    blocking(found, false, never, [&]() -> ssize_t { return found->state == Socket::connecting ? -EAGAIN : 0; });
    return result(-std::exchange(found->error, 0));
}

int shutdown(int descriptor, int how) {
    CALLED;
    auto found = socketOf(descriptor);
    if (!found) return result(int(realCall(SYS_shutdown, descriptor, how)));
    if (int error = fault("shutdown")) return result(-error);
    maySwitch();
    if (how != SHUT_WR) found->readsNoMore = true;
    if (how != SHUT_RD && !found->writesNoMore && found->state == Socket::connected) {
        found->writesNoMore = true;
        found->sendEnd();
    }
    found->changed();
    return 0;
}

// MARK: Bytes

static ssize_t transfer(const char *name, Object *found, bool reads, void *buffer, size_t count, int flags) {
    if (int error = fault(name)) return -error;
    return blocking(found, flags & MSG_DONTWAIT, never, [&] {
        return reads ? found->read(buffer, count, flags) : found->write(buffer, count, flags);
    });
}

ssize_t recv(int descriptor, void *buffer, size_t count, int flags) {
    CALLED;
    auto found = object(descriptor);
    if (!found) return result(realCall(SYS_recvfrom, descriptor, long(buffer), long(count), flags));
    return result(transfer("recv", found, true, buffer, count, flags));
}

ssize_t recvfrom(int descriptor, void *buffer, size_t count, int flags, sockaddr *address, socklen_t *length) {
    auto found = socketOf(descriptor);
    if (!found) return result(realCall(SYS_recvfrom, descriptor, long(buffer), long(count), flags, long(address), long(length)));
    copyAddress(found->remote, address, length);
    return recv(descriptor, buffer, count, flags);
}

ssize_t send(int descriptor, const void *buffer, size_t count, int flags) {
    CALLED;
    auto found = object(descriptor);
    if (!found) return result(realCall(SYS_sendto, descriptor, long(buffer), long(count), flags));
    if (found->isNonblocking || flags & MSG_DONTWAIT)
        return result(transfer("send", found, false, const_cast<void *>(buffer), count, flags));
    // A blocking call sends all.
    size_t sent = 0;
    while (sent < count) {
        auto code = transfer("send", found, false, (uint8_t *)const_cast<void *>(buffer) + sent, count - sent, flags);
        if (code < 0) return sent > 0 ? ssize_t(sent) : result(code);
        sent += size_t(code);
    }
    return ssize_t(sent);
}

ssize_t sendto(int descriptor, const void *buffer, size_t count, int flags, const sockaddr *, socklen_t) {
    return send(descriptor, buffer, count, flags);
}

/// The other end gets descriptors of its own.
static void pass(const msghdr *message, Socket *from) {
    for (auto header = CMSG_FIRSTHDR(message); header && from->peer; header = CMSG_NXTHDR(const_cast<msghdr *>(message), header)) {
        if (header->cmsg_type != SCM_RIGHTS) continue;
        std::vector<int> copies((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(copies.data(), CMSG_DATA(header), copies.size() * sizeof(int));
        for (auto &descriptor : copies) descriptor = int(realCall(SYS_dup, descriptor));
        from->peer->passed.push_back({from->sent, copies});
    }
}

/// Descriptors that come with the bytes that are read next.
static void take(msghdr *message, Socket *socket, size_t room) {
    if (socket->passed.empty() || socket->passed.front().first != socket->taken || socket->received.empty()) return;
    auto descriptors = socket->passed.front().second;
    socket->passed.pop_front();
    msghdr reply = *message;
    reply.msg_controllen = room;
    auto header = CMSG_FIRSTHDR(&reply);
    if (!header || room < CMSG_SPACE(descriptors.size() * sizeof(int))) return;
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size() * sizeof(int));
    message->msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
}

ssize_t sendmsg(int descriptor, const msghdr *message, int flags) {
    CALLED;
    auto found = socketOf(descriptor);
    if (!found) return result(realCall(SYS_sendmsg, descriptor, long(message), flags));
    std::vector<uint8_t> bytes;
    for (size_t index = 0; index < message->msg_iovlen; index++) {
        auto first = static_cast<const uint8_t *>(message->msg_iov[index].iov_base);
        bytes.insert(bytes.end(), first, first + message->msg_iov[index].iov_len);
    }
    auto before = found->sent;
    auto count = transfer("sendmsg", found, false, bytes.data(), bytes.size(), flags);
    if (count > 0 && message->msg_controllen > 0) {
        auto after = std::exchange(found->sent, before);
        pass(message, found);
        found->sent = after;
    }
    return result(count);
}

/// The file is read at once: in a simulation, all of it is in memory.
ssize_t sendfile(int descriptor, int file, off_t *offset, size_t count) {
    CALLED;
    auto found = object(descriptor);
    if (!found) return result(realCall(SYS_sendfile, descriptor, file, long(offset), long(count)));
    std::vector<uint8_t> bytes(std::min(count, size_t(1) << 16));
    auto read = realCall(SYS_pread64, file, long(bytes.data()), long(bytes.size()), *offset);
    auto sent = read > 0 ? transfer("sendfile", found, false, bytes.data(), size_t(read), 0) : read;
    if (sent > 0) *offset += sent;
    return result(sent);
}

ssize_t recvmsg(int descriptor, msghdr *message, int flags) {
    CALLED;
    auto found = socketOf(descriptor);
    if (!found) return result(realCall(SYS_recvmsg, descriptor, long(message), flags));
    auto room = std::exchange(message->msg_controllen, 0);
    message->msg_flags = 0;
    if (message->msg_iovlen == 0) return 0;
    take(message, found, room);
    return result(transfer("recvmsg", found, true, message->msg_iov[0].iov_base, message->msg_iov[0].iov_len, flags));
}

// MARK: Options

int getsockopt(int descriptor, int level, int option, void *value, socklen_t *length) {
    CALLED;
    auto found = socketOf(descriptor);
    if (!found) return result(int(realCall(SYS_getsockopt, descriptor, level, option, long(value), long(length))));
    if (int error = fault("getsockopt")) return result(-error);
    if (level == SOL_SOCKET && option == SO_PEERCRED) {
        ucred credentials{getpid(), geteuid(), getegid()};
        memcpy(value, &credentials, std::min<size_t>(*length, sizeof credentials));
        return 0;
    }
    memset(value, 0, *length);
    if (level != SOL_SOCKET || *length < sizeof(int)) return 0;
    int number = option == SO_ERROR ? std::exchange(found->error, 0) : option == SO_TYPE ? found->type : 65536;
    memcpy(value, &number, sizeof number);
    return 0;
}

int setsockopt(int descriptor, int level, int option, const void *value, socklen_t length) {
    CALLED;
    if (!socketOf(descriptor)) return result(int(realCall(SYS_setsockopt, descriptor, level, option, long(value), length)));
    return result(-fault("setsockopt"));
}

int getsockname(int descriptor, sockaddr *address, socklen_t *length) {
    CALLED;
    auto found = socketOf(descriptor);
    if (!found) return result(int(realCall(SYS_getsockname, descriptor, long(address), long(length))));
    if (int error = fault("getsockname")) return result(-error);
    copyAddress(found->local, address, length);
    return 0;
}

int getpeername(int descriptor, sockaddr *address, socklen_t *length) {
    auto found = socketOf(descriptor);
    if (!found) return result(int(realCall(SYS_getpeername, descriptor, long(address), long(length))));
    if (found->remote.empty()) return result(-ENOTCONN);
    copyAddress(found->remote, address, length);
    return 0;
}

// MARK: Interfaces

static void addInterface(ifaddrs **list, const char *name, const char *text, unsigned flags) {
    auto entry = new ifaddrs{};
    auto address = new sockaddr_in{};
    address->sin_family = AF_INET;
    inet_pton(AF_INET, text, &address->sin_addr);
    entry->ifa_name = strdup(name);
    entry->ifa_flags = flags;
    entry->ifa_addr = reinterpret_cast<sockaddr *>(address);
    entry->ifa_next = *list;
    *list = entry;
}

DECLARE_REAL(getifaddrs);
DECLARE_REAL(freeifaddrs);

int getifaddrs(ifaddrs **list) {
    if (!isSimulated()) return REAL(getifaddrs)(list);
    *list = nullptr;
    addInterface(list, "eth0", "10.0.0.2", IFF_UP | IFF_RUNNING | IFF_BROADCAST);
    addInterface(list, "lo", "127.0.0.1", IFF_UP | IFF_RUNNING | IFF_LOOPBACK);
    return 0;
}

void freeifaddrs(ifaddrs *list) {
    if (!isSimulated()) return REAL(freeifaddrs)(list);
    while (list) {
        auto following = list->ifa_next;
        free(list->ifa_name);
        delete reinterpret_cast<sockaddr_in *>(list->ifa_addr);
        delete list;
        list = following;
    }
}

} // extern "C"
