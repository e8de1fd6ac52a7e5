// What the parts of the simulated system share.
#pragma once
#include "CSimulatedSystem.h"
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <deque>
#include <functional>
#include <map>
#include <pthread.h>
#include <set>
#include <string>
#include <vector>

namespace sim {

constexpr uint64_t never = UINT64_MAX;
constexpr uint64_t second = 1'000'000'000;

/// SplitMix64.
struct Random {
    uint64_t state = 0;
    uint64_t next();
    uint64_t below(uint64_t bound) { return bound == 0 ? 0 : next() % bound; }
    uint64_t between(uint64_t least, uint64_t greatest) { return least + below(greatest - least + 1); }
    bool happens(uint64_t probability, uint64_t of = 1000) { return probability != 0 && below(of) < probability; }
};

/// Whether the simulation has begun, and the calling thread belongs to it.
bool isSimulated();

// MARK: Threads (Scheduler.cpp)

/// Lets another thread go on in the caller's place, if the seed says so. Time passes.
void maySwitch();
/// Waits until the key is woken. False where the deadline has passed before.
bool waitFor(const void *key, uint64_t deadline = never);
/// Lets threads that wait for the key go on; which ones, if there are more than `count`, the seed decides. Returns how many.
int wake(const void *key, int count = INT_MAX);
int currentThread();
bool isServersThread();
/// Whether the function of the C library that runs now was called by the program itself, not by a library.
bool isCalledByProgram();
/// Whether the thread with this number, as the system gives it, has something to do.
bool isRunning(int systemNumber);
/// The thread's number as the system gives it.
int systemNumber();
/// Does work at a time, in whichever thread calls the scheduler then. It must not wait.
void schedule(uint64_t time, std::function<void()> work);
uint64_t now();
/// The time for a deadline of one of the system's clocks.
uint64_t deadline(clockid_t clock, const timespec &time);
uint64_t deadlineAfter(const timespec &time);
uint64_t inNanoseconds(const timespec &time);

/// Sequences of their own, so that a change of one part leaves the others' decisions as they are.
extern Random schedulingRandom, networkRandom, systemRandom, programRandom, faultRandom;

void trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool isTracing();

/// Counts a call. The error that it shall fail with, or 0.
int fault(const char *name, bool isFile = false);
/// A call of files may take some time, in which other threads go on.
void mayTakeTime();
/// The address to which the function of the C library that runs now returns.
extern thread_local const void *caller;

/// The C library whose allocations fail on purpose, by an address in its code; or null.
const char *allocator(const void *address);

// MARK: Objects (Objects.cpp)

/// Counts memory that a C library has got. Returns the memory.
void *watchAllocation(void *memory, const void *caller);
void forgetAllocation(void *memory);

// MARK: Descriptors (Descriptors.cpp)

struct Poll;

/// What a descriptor stands for.
struct Object {
    int references = 0;
    bool isNonblocking = false;
    /// Grows with each change, for edge-triggered events.
    uint64_t changes = 1;
    /// The pollers in which it is registered.
    std::vector<Poll *> pollers;

    virtual ~Object() = default;
    /// EPOLLIN and others that hold now.
    virtual uint32_t events() = 0;
    virtual ssize_t read(void *, size_t, int) { return -EINVAL; }
    virtual ssize_t write(const void *, size_t, int) { return -EINVAL; }
    /// The last descriptor was closed.
    virtual void closed() {}
    /// Lets those that wait for the object look again.
    void changed();
};

/// The object of a descriptor, or null where the descriptor is the real system's.
Object *object(int descriptor);
/// The new descriptor, or a negated error.
int add(Object *object, bool isNonblocking);
int closeDescriptor(int descriptor);
/// Repeats `body` until it is not EAGAIN, unless the object or the call is nonblocking.
ssize_t blocking(Object *object, bool isNonblocking, uint64_t deadline, const std::function<ssize_t()> &body);
uint32_t openDescriptors();

/// Sets `errno` from a negated error.
template <typename Number> Number result(Number value) {
    if (value >= 0) return value;
    errno = int(-value);
    return -1;
}

// MARK: Sockets (Sockets.cpp)

uint32_t openConnections();

// MARK: The real system

long realCall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0);
void fillRandom(void *buffer, size_t count);

} // namespace sim

/// Stands first in functions whose calls may fail on purpose.
#define CALLED sim::caller = __builtin_return_address(0)

/// The C library's own function of this name, which a function of the same name here replaces.
#define REAL(name) (sim_real_##name ? sim_real_##name : (sim_real_##name = (decltype(&name))dlsym(RTLD_NEXT, #name)))
#define DECLARE_REAL(name) static decltype(&name) sim_real_##name
