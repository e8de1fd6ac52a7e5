// What threads wait for: mutexes, conditions, semaphores, futexes.
//
// A lock's state is the C library's own, which a thread only tries to take: since one thread runs at a time, it has the lock or
// waits here.
#include "World.h"
#include <dlfcn.h>
#include <linux/futex.h>
#include <semaphore.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace sim;

DECLARE_REAL(pthread_mutex_lock);
DECLARE_REAL(pthread_mutex_trylock);
DECLARE_REAL(pthread_mutex_unlock);
DECLARE_REAL(pthread_rwlock_rdlock);
DECLARE_REAL(pthread_rwlock_wrlock);
DECLARE_REAL(pthread_rwlock_tryrdlock);
DECLARE_REAL(pthread_rwlock_trywrlock);
DECLARE_REAL(pthread_rwlock_unlock);
DECLARE_REAL(pthread_once);
DECLARE_REAL(sem_trywait);
DECLARE_REAL(sem_post);
DECLARE_REAL(sem_wait);
DECLARE_REAL(sem_timedwait);

/// Tries until it succeeds, or until the deadline.
template <typename Try> static int take(const void *key, uint64_t deadline, Try attempt) {
    int code;
    while ((code = attempt()) == EBUSY)
        if (!waitFor(key, deadline)) return ETIMEDOUT;
    return code;
}

extern "C" {

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    if (!isSimulated()) return REAL(pthread_mutex_lock)(mutex);
    maySwitch();
    return take(mutex, never, [&] { return REAL(pthread_mutex_trylock)(mutex); });
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const timespec *time) {
    return take(mutex, deadline(CLOCK_REALTIME, *time), [&] { return REAL(pthread_mutex_trylock)(mutex); });
}

int pthread_mutex_trylock(pthread_mutex_t *mutex) {
    if (isSimulated()) maySwitch();
    return REAL(pthread_mutex_trylock)(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    int code = REAL(pthread_mutex_unlock)(mutex);
    if (isSimulated()) wake(mutex, 1);
    return code;
}

// MARK: Locks for readers and writers

int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
    if (!isSimulated()) return REAL(pthread_rwlock_rdlock)(lock);
    return take(lock, never, [&] { return REAL(pthread_rwlock_tryrdlock)(lock); });
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
    if (!isSimulated()) return REAL(pthread_rwlock_wrlock)(lock);
    return take(lock, never, [&] { return REAL(pthread_rwlock_trywrlock)(lock); });
}

int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
    int code = REAL(pthread_rwlock_unlock)(lock);
    if (isSimulated()) wake(lock);
    return code;
}

// MARK: Conditions

/// The clocks of conditions that do not use the usual one. Other libraries make conditions before this file's values exist.
static std::map<pthread_cond_t *, clockid_t> &conditionClocks() {
    static auto &clocks = *new std::map<pthread_cond_t *, clockid_t>;
    return clocks;
}

int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes) {
    clockid_t clock = CLOCK_REALTIME;
    if (attributes) pthread_condattr_getclock(attributes, &clock);
    if (clock == CLOCK_REALTIME) conditionClocks().erase(condition);
    else conditionClocks()[condition] = clock;
    memset(condition, 0, sizeof *condition);
    return 0;
}

int pthread_cond_destroy(pthread_cond_t *condition) {
    conditionClocks().erase(condition);
    return 0;
}

static int waitFor(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t deadline) {
    pthread_mutex_unlock(mutex);
    bool isWoken = waitFor(static_cast<const void *>(condition), deadline);
    take(mutex, never, [&] { return REAL(pthread_mutex_trylock)(mutex); });
    return isWoken ? 0 : ETIMEDOUT;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) { return waitFor(condition, mutex, never); }

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const timespec *time) {
    auto clock = conditionClocks().find(condition);
    return waitFor(condition, mutex, deadline(clock == conditionClocks().end() ? CLOCK_REALTIME : clock->second, *time));
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const timespec *time) {
    return waitFor(condition, mutex, deadline(clock, *time));
}

int pthread_cond_signal(pthread_cond_t *condition) {
    wake(condition, 1);
    if (isSimulated()) maySwitch();
    return 0;
}

int pthread_cond_broadcast(pthread_cond_t *condition) {
    wake(condition);
    if (isSimulated()) maySwitch();
    return 0;
}

// MARK: Once

int pthread_once(pthread_once_t *control, void (*body)(void)) {
    // The C library's numbers: 2 when it is done, 1 while a thread does it.
    if (*control & 2) return 0;
    if (!isSimulated()) return REAL(pthread_once)(control, body);
    while (*control & 1) sim::waitFor(control);
    if (*control & 2) return 0;
    *control = 1;
    body();
    *control = 2;
    wake(control);
    return 0;
}

// MARK: Semaphores

static int take(sem_t *semaphore, uint64_t deadline) {
    return take(semaphore, deadline, [&] { return REAL(sem_trywait)(semaphore) == 0 ? 0 : EBUSY; });
}

int sem_wait(sem_t *semaphore) {
    if (!isSimulated()) return REAL(sem_wait)(semaphore);
    maySwitch();
    return take(semaphore, never);
}

int sem_timedwait(sem_t *semaphore, const timespec *time) {
    if (!isSimulated()) return REAL(sem_timedwait)(semaphore, time);
    return result(-take(semaphore, deadline(CLOCK_REALTIME, *time)));
}

int sem_post(sem_t *semaphore) {
    int code = REAL(sem_post)(semaphore);
    if (isSimulated()) {
        wake(semaphore, 1);
        maySwitch();
    }
    return code;
}

} // extern "C"

// MARK: Futexes

static uint32_t ownNumber() { return uint32_t(systemNumber()); }

/// The threads that wait for a lock with priority inheritance, in their order.
static std::map<uint32_t *, std::deque<uint32_t>> lockWaiters;

static long lockFutex(uint32_t *word, uint64_t deadline, bool waits) {
    if ((*word & FUTEX_TID_MASK) == 0) {
        *word |= ownNumber();
        return 0;
    }
    if (!waits) return -EAGAIN;
    *word |= FUTEX_WAITERS;
    lockWaiters[word].push_back(ownNumber());
    while ((*word & FUTEX_TID_MASK) != ownNumber())
        if (!waitFor(word, deadline)) return -ETIMEDOUT;
    return 0;
}

static long unlockFutex(uint32_t *word) {
    auto entry = lockWaiters.find(word);
    if (entry == lockWaiters.end()) {
        *word = 0;
        return 0;
    }
    auto place = schedulingRandom.below(entry->second.size());
    auto following = entry->second[place];
    entry->second.erase(entry->second.begin() + long(place));
    bool hasMore = !entry->second.empty();
    if (!hasMore) lockWaiters.erase(entry);
    *word = following | (hasMore ? FUTEX_WAITERS : 0);
    wake(word);
    return 0;
}

static long callFutex(uint32_t *word, int operation, uint32_t value, const timespec *time) {
    bool isWall = operation & FUTEX_CLOCK_REALTIME;
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT: {
        if (*word != value) return -EAGAIN;
        return waitFor(word, time ? deadlineAfter(*time) : never) ? 0 : -ETIMEDOUT;
    }
    case FUTEX_WAIT_BITSET: {
        if (*word != value) return -EAGAIN;
        auto end = time ? deadline(isWall ? CLOCK_REALTIME : CLOCK_MONOTONIC, *time) : never;
        return waitFor(word, end) ? 0 : -ETIMEDOUT;
    }
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET: {
        int count = wake(word, int(value));
        maySwitch();
        return count;
    }
    case FUTEX_LOCK_PI: return lockFutex(word, time ? deadline(CLOCK_REALTIME, *time) : never, true);
    case FUTEX_LOCK_PI2: return lockFutex(word, time ? deadline(CLOCK_MONOTONIC, *time) : never, true);
    case FUTEX_TRYLOCK_PI: return lockFutex(word, 0, false);
    case FUTEX_UNLOCK_PI: return unlockFutex(word);
    default: return -ENOSYS;
    }
}

void sim::fillRandom(void *buffer, size_t count) {
    auto bytes = static_cast<uint8_t *>(buffer);
    for (size_t index = 0; index < count; index++) bytes[index] = uint8_t(systemRandom.next());
}

extern "C" {

long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long);
    long d = va_arg(list, long), e = va_arg(list, long), f = va_arg(list, long);
    va_end(list);
    if (isSimulated()) switch (number) {
        case SYS_futex: return result(callFutex((uint32_t *)a, int(b), uint32_t(c), (const timespec *)d));
        case SYS_gettid: return ownNumber();
        case SYS_getrandom: fillRandom((void *)a, size_t(b)); return b;
        case SYS_renameat2: return renameat2(int(a), (const char *)b, int(c), (const char *)d, unsigned(e));
        default: break;
        }
    return result(realCall(number, a, b, c, d, e, f));
}

ssize_t getrandom(void *buffer, size_t count, unsigned flags) {
    if (!isSimulated()) return result(realCall(SYS_getrandom, long(buffer), long(count), flags));
    fillRandom(buffer, count);
    return ssize_t(count);
}

int getentropy(void *buffer, size_t count) { return getrandom(buffer, count, 0) == ssize_t(count) ? 0 : -1; }

void arc4random_buf(void *buffer, size_t count) { getrandom(buffer, count, 0); }

uint32_t arc4random(void) {
    uint32_t value;
    arc4random_buf(&value, sizeof value);
    return value;
}

uint32_t arc4random_uniform(uint32_t bound) { return bound == 0 ? 0 : arc4random() % bound; }

pid_t getpid(void) { return isSimulated() ? 4242 : pid_t(realCall(SYS_getpid)); }

pid_t gettid(void) { return isSimulated() ? pid_t(ownNumber()) : pid_t(realCall(SYS_gettid)); }

} // extern "C"
