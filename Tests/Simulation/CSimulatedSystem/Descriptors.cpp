// Descriptors of the simulated system, waiting for them, and the objects without a network: counters, timers, pipes.
#include "World.h"
#include <algorithm>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace sim {

namespace {

/// Above the real system's descriptors, which stand for files, and below the size of `fd_set`.
constexpr int firstDescriptor = 512;
constexpr size_t descriptorLimit = 4096;
std::vector<Object *> descriptors;
/// What threads in `poll` and `select` wait for: any object.
char pollers;

} // namespace

Object *object(int descriptor) {
    auto place = descriptor - firstDescriptor;
    return isSimulated() && place >= 0 && place < int(descriptors.size()) ? descriptors[size_t(place)] : nullptr;
}

static int place(Object *object) {
    auto free = std::find(descriptors.begin(), descriptors.end(), nullptr);
    if (free == descriptors.end()) {
        descriptors.push_back(nullptr);
        free = descriptors.end() - 1;
    }
    *free = object;
    object->references++;
    return firstDescriptor + int(free - descriptors.begin());
}

int add(Object *object, bool isNonblocking) {
    if (openDescriptors() >= descriptorLimit) {
        delete object;
        return -EMFILE;
    }
    object->isNonblocking = isNonblocking;
    return place(object);
}

uint32_t openDescriptors() {
    return uint32_t(descriptors.size() - size_t(std::count(descriptors.begin(), descriptors.end(), nullptr)));
}

ssize_t blocking(Object *object, bool isNonblocking, uint64_t deadline, const std::function<ssize_t()> &body) {
    maySwitch();
    object->references++;
    ssize_t value;
    while ((value = body()) == -EAGAIN && !isNonblocking && !object->isNonblocking)
        if (!waitFor(object, deadline)) break;
    if (--object->references == 0) delete object;
    return value;
}

// MARK: Pollers

struct Poll : Object {
    struct Registration {
        Object *object;
        epoll_event event;
        /// The changes that were reported.
        uint64_t reported = 0;
        bool isDisabled = false;
    };
    std::map<int, Registration> registrations;

    uint32_t ready(Registration &registration) {
        if (registration.isDisabled) return 0;
        uint32_t events = registration.object->events() & (registration.event.events | EPOLLERR | EPOLLHUP);
        if (registration.event.events & EPOLLET && registration.reported == registration.object->changes) return 0;
        return events;
    }

    uint32_t events() override {
        for (auto &entry : registrations)
            if (ready(entry.second)) return EPOLLIN;
        return 0;
    }

    /// In an order that the seed decides.
    int collect(epoll_event *events, int limit) {
        std::vector<Registration *> found;
        for (auto &entry : registrations)
            if (ready(entry.second)) found.push_back(&entry.second);
        int count = 0;
        while (count < limit && !found.empty()) {
            auto place = schedulingRandom.below(found.size());
            auto registration = found[place];
            found.erase(found.begin() + long(place));
            events[count].events = ready(*registration);
            events[count++].data = registration->event.data;
            registration->reported = registration->object->changes;
            if (registration->event.events & EPOLLONESHOT) registration->isDisabled = true;
        }
        return count;
    }

    void remove(std::map<int, Registration>::iterator entry) {
        auto &list = entry->second.object->pollers;
        list.erase(std::find(list.begin(), list.end(), this));
        registrations.erase(entry);
    }

    void remove(Object *object) {
        for (auto entry = registrations.begin(); entry != registrations.end();) {
            auto following = std::next(entry);
            if (entry->second.object == object) remove(entry);
            entry = following;
        }
    }

    void closed() override {
        while (!registrations.empty()) remove(registrations.begin());
    }
};

void Object::changed() {
    changes++;
    wake(this);
    wake(&sim::pollers);
    for (auto poller : pollers) poller->changed();
}

int closeDescriptor(int descriptor) {
    auto closing = object(descriptor);
    if (!closing) return -EBADF;
    descriptors[size_t(descriptor - firstDescriptor)] = nullptr;
    bool isLast = std::find(descriptors.begin(), descriptors.end(), closing) == descriptors.end();
    if (isLast) {
        while (!closing->pollers.empty()) closing->pollers.front()->remove(closing);
        closing->closed();
    }
    if (--closing->references == 0) delete closing;
    return 0;
}

// MARK: Objects

struct Counter : Object {
    uint64_t value = 0;

    uint32_t events() override { return (value > 0 ? EPOLLIN : 0) | EPOLLOUT; }

    ssize_t read(void *buffer, size_t count, int) override {
        if (count < 8) return -EINVAL;
        if (value == 0) return -EAGAIN;
        memcpy(buffer, &value, 8);
        value = 0;
        changed();
        return 8;
    }

    ssize_t write(const void *buffer, size_t count, int) override {
        if (count < 8) return -EINVAL;
        uint64_t more;
        memcpy(&more, buffer, 8);
        if (value > UINT64_MAX - 1 - more) return -EAGAIN;
        value += more;
        changed();
        return 8;
    }
};

struct Timer : Object {
    clockid_t clock;
    uint64_t due = never, interval = 0, expirations = 0, setting = 0;

    explicit Timer(clockid_t clock) : clock(clock) {}

    uint32_t events() override { return expirations > 0 ? EPOLLIN : 0; }

    ssize_t read(void *buffer, size_t count, int) override {
        if (count < 8) return -EINVAL;
        if (expirations == 0) return -EAGAIN;
        memcpy(buffer, &expirations, 8);
        expirations = 0;
        return 8;
    }

    void set(uint64_t time, uint64_t interval) {
        setting++;
        due = time;
        this->interval = interval;
        expirations = 0;
        await();
    }

    void await() {
        if (due == never) return;
        references++;
        schedule(due, [this, setting = setting] {
            if (setting == this->setting && references > 1) expire();
            if (--references == 0) delete this;
        });
    }

    void expire() {
        expirations++;
        due = interval ? due + interval : never;
        changed();
        await();
    }

    void closed() override { setting++; }
};

/// One end of a pipe: the bytes are with the one that reads.
struct PipeEnd : Object {
    PipeEnd *other = nullptr;
    bool reads;
    std::deque<uint8_t> bytes;
    static constexpr size_t limit = 65536;

    explicit PipeEnd(bool reads) : reads(reads) {}

    uint32_t events() override {
        if (reads) return (bytes.empty() ? 0 : EPOLLIN) | (other ? 0 : EPOLLHUP);
        return other && other->bytes.size() < limit ? EPOLLOUT : other ? 0 : EPOLLOUT | EPOLLERR;
    }

    ssize_t read(void *buffer, size_t count, int) override {
        if (!reads) return -EBADF;
        if (bytes.empty()) return other ? -EAGAIN : 0;
        count = std::min(count, bytes.size());
        std::copy_n(bytes.begin(), count, static_cast<uint8_t *>(buffer));
        bytes.erase(bytes.begin(), bytes.begin() + long(count));
        if (other) other->changed();
        return ssize_t(count);
    }

    ssize_t write(const void *buffer, size_t count, int) override {
        if (reads) return -EBADF;
        if (!other) return -EPIPE;
        count = std::min(count, limit - other->bytes.size());
        if (count == 0) return -EAGAIN;
        auto first = static_cast<const uint8_t *>(buffer);
        other->bytes.insert(other->bytes.end(), first, first + count);
        other->changed();
        return ssize_t(count);
    }

    void closed() override {
        if (!other) return;
        other->other = nullptr;
        other->changed();
    }
};

/// A source of signals, of which there are none.
struct Signals : Object {
    uint32_t events() override { return 0; }
    ssize_t read(void *, size_t, int) override { return -EAGAIN; }
};

} // namespace sim

using namespace sim;

extern "C" {

DECLARE_REAL(fcntl);
DECLARE_REAL(fcntl64);
DECLARE_REAL(ioctl);

int epoll_create1(int flags) {
    CALLED;
    if (!isSimulated()) return result(int(realCall(SYS_epoll_create1, flags)));
    if (int error = fault("epoll_create1")) return result(-error);
    return result(add(new Poll, true));
}

int epoll_create(int) { return epoll_create1(0); }

int epoll_ctl(int poller, int operation, int descriptor, epoll_event *event) {
    CALLED;
    if (!isSimulated()) return result(int(realCall(SYS_epoll_ctl, poller, operation, descriptor, long(event))));
    if (int error = fault("epoll_ctl")) return result(-error);
    auto poll = dynamic_cast<Poll *>(object(poller));
    if (!poll) return result(-EBADF);
    auto target = object(descriptor);
    if (!target) return result(-EPERM);
    auto entry = poll->registrations.find(descriptor);
    bool isThere = entry != poll->registrations.end();
    switch (operation) {
    case EPOLL_CTL_ADD:
        if (isThere) return result(-EEXIST);
        poll->registrations[descriptor] = {target, *event};
        target->pollers.push_back(poll);
        break;
    case EPOLL_CTL_MOD:
        if (!isThere) return result(-ENOENT);
        entry->second = {target, *event};
        break;
    default:
        if (!isThere) return result(-ENOENT);
        poll->remove(entry);
        return 0;
    }
    if (poll->events()) poll->changed();
    return 0;
}

static int waitForEvents(int poller, epoll_event *events, int limit, uint64_t deadline) {
    if (int error = fault("epoll_wait")) return result(-error);
    auto poll = dynamic_cast<Poll *>(object(poller));
    if (!poll) return result(-EBADF);
    maySwitch();
    poll->references++;
    int count;
    while ((count = poll->collect(events, limit)) == 0 && deadline > now())
        if (!waitFor(poll, deadline)) break;
    if (--poll->references == 0) delete poll;
    return count;
}

static uint64_t deadlineAfterMilliseconds(int milliseconds) {
    return milliseconds < 0 ? never : now() + uint64_t(milliseconds) * 1'000'000;
}

int epoll_wait(int poller, epoll_event *events, int limit, int milliseconds) {
    CALLED;
    if (!isSimulated())
        return result(int(realCall(SYS_epoll_pwait, poller, long(events), limit, milliseconds, 0, 8)));
    return waitForEvents(poller, events, limit, deadlineAfterMilliseconds(milliseconds));
}

int epoll_pwait(int poller, epoll_event *events, int limit, int milliseconds, const sigset_t *) {
    return epoll_wait(poller, events, limit, milliseconds);
}

// MARK: poll and select

static int pollAll(pollfd *list, nfds_t count, uint64_t deadline) {
    maySwitch();
    while (true) {
        int ready = 0;
        for (nfds_t index = 0; index < count; index++) {
            list[index].revents = 0;
            if (list[index].fd < 0) continue;
            auto found = object(list[index].fd);
            // Files of the real system are ready; EPOLLIN and POLLIN are the same numbers.
            uint32_t events = found ? found->events() : POLLIN | POLLOUT;
            list[index].revents = short(events & (uint32_t(list[index].events) | POLLERR | POLLHUP));
            ready += list[index].revents != 0;
        }
        if (ready > 0 || deadline <= now() || !waitFor(&pollers, deadline)) return ready;
    }
}

int poll(pollfd *list, nfds_t count, int milliseconds) {
    CALLED;
    if (!isSimulated()) {
        timespec time{milliseconds / 1000, milliseconds % 1000 * 1'000'000L};
        return result(int(realCall(SYS_ppoll, long(list), long(count), milliseconds < 0 ? 0 : long(&time), 0, 8)));
    }
    if (int error = fault("poll")) return result(-error);
    return pollAll(list, count, deadlineAfterMilliseconds(milliseconds));
}

int ppoll(pollfd *list, nfds_t count, const timespec *time, const sigset_t *) {
    CALLED;
    if (!isSimulated()) {
        timespec copy = time ? *time : timespec{};
        return result(int(realCall(SYS_ppoll, long(list), long(count), time ? long(&copy) : 0, 0, 8)));
    }
    return pollAll(list, count, time ? deadlineAfter(*time) : never);
}

int select(int count, fd_set *reading, fd_set *writing, fd_set *failing, timeval *time) {
    if (!isSimulated())
        return result(int(realCall(SYS_select, count, long(reading), long(writing), long(failing), long(time))));
    std::vector<pollfd> list;
    for (int number = 0; number < count; number++) {
        short events = 0;
        if (reading && FD_ISSET(number, reading)) events |= POLLIN;
        if (writing && FD_ISSET(number, writing)) events |= POLLOUT;
        if (events) list.push_back({number, events, 0});
    }
    timespec precise{time ? time->tv_sec : 0, time ? time->tv_usec * 1000 : 0};
    pollAll(list.data(), list.size(), time ? deadlineAfter(precise) : never);
    if (failing) FD_ZERO(failing);
    int ready = 0;
    for (auto &entry : list) {
        bool reads = entry.revents & (POLLIN | POLLHUP | POLLERR), writes = entry.revents & (POLLOUT | POLLERR);
        if (reading && !reads) FD_CLR(entry.fd, reading);
        if (writing && !writes) FD_CLR(entry.fd, writing);
        ready += (entry.events & POLLIN && reads) + (entry.events & POLLOUT && writes);
    }
    return ready;
}

// MARK: Objects

int eventfd(unsigned value, int flags) {
    CALLED;
    if (!isSimulated()) return result(int(realCall(SYS_eventfd2, value, flags)));
    if (int error = fault("eventfd")) return result(-error);
    auto counter = new Counter;
    counter->value = value;
    return result(add(counter, flags & EFD_NONBLOCK));
}

int eventfd_read(int descriptor, eventfd_t *value) { return read(descriptor, value, 8) == 8 ? 0 : -1; }
int eventfd_write(int descriptor, eventfd_t value) { return write(descriptor, &value, 8) == 8 ? 0 : -1; }

int timerfd_create(clockid_t clock, int flags) {
    if (!isSimulated()) return result(int(realCall(SYS_timerfd_create, clock, flags)));
    return result(add(new Timer(clock), flags & TFD_NONBLOCK));
}

int timerfd_settime(int descriptor, int flags, const itimerspec *time, itimerspec *old) {
    if (!isSimulated()) return result(int(realCall(SYS_timerfd_settime, descriptor, flags, long(time), long(old))));
    auto timer = dynamic_cast<Timer *>(object(descriptor));
    if (!timer) return result(-EBADF);
    if (old) *old = {};
    auto value = inNanoseconds(time->it_value);
    uint64_t due = value == 0 ? never : flags & TFD_TIMER_ABSTIME ? deadline(timer->clock, time->it_value) : now() + value;
    timer->set(due, inNanoseconds(time->it_interval));
    return 0;
}

int signalfd(int descriptor, const sigset_t *, int flags) {
    return descriptor >= 0 ? descriptor : result(add(new Signals, flags & SFD_NONBLOCK));
}

int pipe2(int descriptors[2], int flags) {
    CALLED;
    if (!isSimulated()) return result(int(realCall(SYS_pipe2, long(descriptors), flags)));
    if (int error = fault("pipe")) return result(-error);
    auto reading = new PipeEnd(true), writing = new PipeEnd(false);
    reading->other = writing;
    writing->other = reading;
    descriptors[0] = add(reading, flags & O_NONBLOCK);
    descriptors[1] = add(writing, flags & O_NONBLOCK);
    return 0;
}

int pipe(int descriptors[2]) { return pipe2(descriptors, 0); }

// MARK: All descriptors

static int duplicate(int descriptor) {
    if (auto found = object(descriptor)) return place(found);
    return result(int(realCall(SYS_dup, descriptor)));
}

int dup(int descriptor) { return duplicate(descriptor); }

static int controlFlags(int descriptor, int command, long argument) {
    auto found = object(descriptor);
    switch (command) {
    case F_GETFL: return O_RDWR | (found->isNonblocking ? O_NONBLOCK : 0);
    case F_SETFL: found->isNonblocking = argument & O_NONBLOCK; return 0;
    case F_DUPFD:
    case F_DUPFD_CLOEXEC: return duplicate(descriptor);
    case F_GETFD: return FD_CLOEXEC;
    default: return 0;
    }
}

int fcntl(int descriptor, int command, ...) {
    va_list list;
    va_start(list, command);
    long argument = va_arg(list, long);
    va_end(list);
    if (object(descriptor)) return controlFlags(descriptor, command, argument);
    return REAL(fcntl)(descriptor, command, argument);
}

int fcntl64(int descriptor, int command, ...) {
    va_list list;
    va_start(list, command);
    long argument = va_arg(list, long);
    va_end(list);
    if (object(descriptor)) return controlFlags(descriptor, command, argument);
    return REAL(fcntl64)(descriptor, command, argument);
}

int ioctl(int descriptor, unsigned long request, ...) {
    va_list list;
    va_start(list, request);
    long argument = va_arg(list, long);
    va_end(list);
    if (!object(descriptor)) return REAL(ioctl)(descriptor, request, argument);
    if (request != FIONBIO) return result(-EINVAL);
    object(descriptor)->isNonblocking = *(int *)argument != 0;
    return 0;
}

} // extern "C"
