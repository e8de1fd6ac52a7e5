// Threads that take turns, and the clock.
#include "World.h"
#include <algorithm>
#include <atomic>
#include <dlfcn.h>
#include <linux/futex.h>
#include <malloc.h>
#include <queue>
#include <sched.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

namespace sim {

Random schedulingRandom, networkRandom, systemRandom, programRandom, faultRandom;

uint64_t Random::next() {
    uint64_t z = (state += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

long realCall(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
    register long r10 asm("r10") = d;
    register long r8 asm("r8") = e;
    register long r9 asm("r9") = f;
    long value;
    asm volatile("syscall"
                 : "=a"(value)
                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    return value;
#elif defined(__aarch64__)
    register long x8 asm("x8") = number;
    register long x0 asm("x0") = a;
    register long x1 asm("x1") = b;
    register long x2 asm("x2") = c;
    register long x3 asm("x3") = d;
    register long x4 asm("x4") = e;
    register long x5 asm("x5") = f;
    asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#endif
}

namespace {

struct Thread {
    enum State { runnable, waiting, ended };

    int number = 0;
    /// 1 while it may run; a futex.
    std::atomic<uint32_t> turn{0};
    State state = runnable;
    const void *key = nullptr;
    uint64_t deadline = never;
    bool timedOut = false;
    pid_t realNumber = 0;
    pthread_t handle{};
    void *(*body)(void *) = nullptr;
    void *argument = nullptr;
    char name[16] = "";
    int rounds = 0;
    bool isServers = false;
};

struct Event {
    uint64_t time, number;
    std::function<void()> work;
    bool operator<(const Event &other) const {
        return std::make_pair(other.time, other.number) < std::make_pair(time, number);
    }
};

bool hasBegun = false;
thread_local Thread *self = nullptr;
std::vector<Thread *> threads;
std::priority_queue<Event> events;
uint64_t eventCount = 0;
uint64_t clockTime = second;
/// Timers that repeat go on for ever: after this time nothing else has happened, or will.
uint64_t timeLimit = 10 * 86'400 * second;
int threadCount = 0;
/// One of this many calls lets another thread go on.
uint64_t switchEvery = 4;
/// A thread that has ended, and may still be leaving the real system.
pid_t leaving = 0;
pthread_key_t endKey;
void (*standstill)(const char *) = nullptr;
uint64_t traceHash = 0xCBF29CE484222325;
bool printsTrace = false;

void giveTurn(Thread *thread) {
    thread->turn.store(1);
    realCall(SYS_futex, long(&thread->turn), FUTEX_WAKE_PRIVATE, 1);
}

void awaitTurn(Thread *thread) {
    while (thread->turn.load() == 0) realCall(SYS_futex, long(&thread->turn), FUTEX_WAIT_PRIVATE, 0, 0);
    thread->turn.store(0);
    // What an ended thread frees last, it frees before anybody else goes on.
    while (leaving != 0 && realCall(SYS_tgkill, realCall(SYS_getpid), leaving, 0) == 0) realCall(SYS_sched_yield);
    leaving = 0;
}

std::string description() {
    std::string text;
    for (auto thread : threads) {
        char line[160];
        Dl_info info{};
        dladdr(thread->key, &info);
        snprintf(line, sizeof line, "thread %d (%s): %s%s%s\n", thread->number, thread->name,
                 thread->state == Thread::waiting ? "waits" : "runs", info.dli_sname ? " for " : "",
                 info.dli_sname ? info.dli_sname : "");
        text += line;
    }
    return text;
}

void runEvents() {
    while (!events.empty() && events.top().time <= clockTime) {
        auto work = events.top().work;
        events.pop();
        work();
    }
    for (auto thread : threads) {
        if (thread->state != Thread::waiting || thread->deadline > clockTime) continue;
        thread->timedOut = true;
        thread->state = Thread::runnable;
    }
}

/// The thread that goes on. The clock advances where all wait.
Thread *next() {
    while (true) {
        runEvents();
        size_t count = 0;
        for (auto thread : threads) count += thread->state == Thread::runnable;
        if (count > 0) {
            auto place = schedulingRandom.below(count);
            for (auto thread : threads)
                if (thread->state == Thread::runnable && place-- == 0) return thread;
        }
        uint64_t time = events.empty() ? never : events.top().time;
        for (auto thread : threads) time = std::min(time, thread->deadline);
        if (time == never || time > timeLimit) {
            auto text = description();
            if (standstill) standstill(text.c_str());
            _exit(70);
        }
        clockTime = std::max(clockTime, time);
    }
}

/// Lets `next()` go on, and returns when it is the caller's turn again.
void switchThread() {
    auto thread = next();
    if (thread == self) return;
    giveTurn(thread);
    awaitTurn(self);
}

/// The last that a thread does: the destructors of other threads' values run before.
void threadDidEnd(void *value) {
    auto thread = static_cast<Thread *>(value);
    if (++thread->rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(endKey, value);
        return;
    }
    trace("thread %d ends", thread->number);
    thread->state = Thread::ended;
    threads.erase(std::find(threads.begin(), threads.end(), thread));
    wake(thread);
    leaving = thread->realNumber;
    self = nullptr;
    auto following = next();
    giveTurn(following);
}

void *threadMain(void *value) {
    auto thread = static_cast<Thread *>(value);
    thread->realNumber = pid_t(realCall(SYS_gettid));
    awaitTurn(thread);
    self = thread;
    pthread_setspecific(endKey, value);
    return thread->body(thread->argument);
}

std::map<pthread_t, Thread *> joinable;

} // namespace

bool isSimulated() { return hasBegun && self != nullptr; }

int currentThread() { return self ? self->number : 0; }

bool isServersThread() { return self && self->isServers; }

int systemNumber() { return 1000 + currentThread(); }

bool isRunning(int systemNumber) {
    for (auto thread : threads)
        if (thread->number + 1000 == systemNumber) return thread->state == Thread::runnable;
    return false;
}

void schedule(uint64_t time, std::function<void()> work) {
    events.push({std::max(time, clockTime), eventCount++, std::move(work)});
}

uint64_t now() { return clockTime; }

void maySwitch() {
    clockTime += 250;
    bool isLate = !events.empty() && events.top().time <= clockTime;
    if (isLate || schedulingRandom.below(switchEvery) == 0) switchThread();
}

bool waitFor(const void *key, uint64_t deadline) {
    self->state = Thread::waiting;
    self->key = key;
    self->deadline = deadline;
    self->timedOut = false;
    switchThread();
    self->deadline = never;
    self->key = nullptr;
    return !self->timedOut;
}

int wake(const void *key, int count) {
    std::vector<Thread *> waiting;
    for (auto thread : threads)
        if (thread->state == Thread::waiting && thread->key == key) waiting.push_back(thread);
    int woken = 0;
    while (woken < count && !waiting.empty()) {
        auto place = schedulingRandom.below(waiting.size());
        waiting[place]->state = Thread::runnable;
        waiting[place]->deadline = never;
        waiting.erase(waiting.begin() + long(place));
        woken++;
    }
    return woken;
}

uint64_t inNanoseconds(const timespec &time) {
    if (time.tv_sec < 0) return 0;
    if (uint64_t(time.tv_sec) > UINT64_MAX / second - 1) return never;
    return uint64_t(time.tv_sec) * second + uint64_t(time.tv_nsec);
}

bool isTracing() { return printsTrace; }

void trace(const char *format, ...) {
    char text[512];
    int length = snprintf(text, sizeof text, "%12.6f %2d ", double(clockTime - second) / 1e9, currentThread());
    va_list arguments;
    va_start(arguments, format);
    length += vsnprintf(text + length, sizeof text - size_t(length), format, arguments);
    va_end(arguments);
    length = std::min(length, int(sizeof text) - 2);
    for (int index = 0; index < length; index++) traceHash = (traceHash ^ uint8_t(text[index])) * 0x100000001B3;
    if (!printsTrace) return;
    text[length] = '\n';
    realCall(SYS_write, 2, long(text), length + 1);
}

} // namespace sim

using namespace sim;

extern "C" {

void sim_begin(uint64_t seed) {
    Random random{seed};
    for (auto sequence : {&schedulingRandom, &networkRandom, &systemRandom, &programRandom, &faultRandom})
        sequence->state = random.next();
    switchEvery = 1ull << random.below(7);
    pthread_key_create(&endKey, threadDidEnd);
    self = new Thread;
    self->realNumber = pid_t(realCall(SYS_gettid));
    strcpy(self->name, "main");
    threads.push_back(self);
    // One thread runs at a time: on one processor the turn passes without waking another.
    cpu_set_t processors;
    if (realCall(SYS_sched_getaffinity, 0, sizeof processors, long(&processors)) > 0)
        for (int number = 0; number < CPU_SETSIZE; number++)
            if (CPU_ISSET(number, &processors)) {
                CPU_ZERO(&processors);
                CPU_SET(number, &processors);
                realCall(SYS_sched_setaffinity, 0, sizeof processors, long(&processors));
                break;
            }
    hasBegun = true;
}

void sim_set_time(uint64_t nanoseconds) {
    clockTime += nanoseconds;
    timeLimit += nanoseconds;
}

uint64_t sim_time(void) { return clockTime - second; }
uint64_t sim_random(uint64_t bound) { return programRandom.below(bound); }
void sim_belong_to_server(void) { self->isServers = true; }
void sim_print_trace(bool prints) { printsTrace = prints; }
uint64_t sim_trace_hash(void) { return traceHash; }
void sim_trace(const char *line) {
    // Its name is another one in each run.
    static const std::string folder = getenv("LOADINGKIT_TEST_FOLDER") ?: "";
    std::string text = line;
    for (size_t place = 0; !folder.empty() && (place = text.find(folder, place)) != text.npos;)
        text.replace(place, folder.size(), "…");
    trace("%s", text.c_str());
}
void sim_on_standstill(void (*function)(const char *)) { standstill = function; }

sim_usage sim_current_usage(void) {
    return {uint32_t(threads.size()), openDescriptors(), openConnections(), mallinfo2().uordblks};
}

// MARK: Threads

DECLARE_REAL(pthread_create);
DECLARE_REAL(pthread_join);
DECLARE_REAL(pthread_detach);
DECLARE_REAL(pthread_setname_np);

int pthread_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    if (!isSimulated()) return REAL(pthread_create)(handle, attributes, body, argument);
    CALLED;
    if (int error = fault("pthread_create")) return error;
    auto thread = new Thread;
    thread->number = ++threadCount;
    thread->body = body;
    thread->argument = argument;
    thread->isServers = self->isServers && isCalledByProgram();
    int code = REAL(pthread_create)(&thread->handle, attributes, threadMain, thread);
    if (code != 0) {
        delete thread;
        return code;
    }
    int state = PTHREAD_CREATE_JOINABLE;
    if (attributes) pthread_attr_getdetachstate(attributes, &state);
    if (state == PTHREAD_CREATE_JOINABLE) joinable[thread->handle] = thread;
    *handle = thread->handle;
    threads.push_back(thread);
    trace("thread %d begins", thread->number);
    maySwitch();
    return 0;
}

int pthread_join(pthread_t handle, void **value) {
    if (!isSimulated()) return REAL(pthread_join)(handle, value);
    auto entry = joinable.find(handle);
    if (entry == joinable.end()) return ESRCH;
    auto thread = entry->second;
    joinable.erase(entry);
    while (thread->state != Thread::ended) waitFor(thread);
    delete thread;
    return REAL(pthread_join)(handle, value);
}

int pthread_detach(pthread_t handle) {
    if (isSimulated()) joinable.erase(handle);
    return REAL(pthread_detach)(handle);
}

int pthread_setname_np(pthread_t handle, const char *name) {
    if (isSimulated() && pthread_equal(handle, pthread_self())) {
        strncpy(self->name, name, sizeof self->name - 1);
        trace("is %s", name);
    }
    return REAL(pthread_setname_np)(handle, name);
}

int sched_yield(void) {
    if (!isSimulated()) return int(realCall(SYS_sched_yield));
    clockTime += 1000;
    switchThread();
    return 0;
}

// MARK: The clock

static void fill(timespec *time, uint64_t nanoseconds) {
    time->tv_sec = time_t(nanoseconds / second);
    time->tv_nsec = long(nanoseconds % second);
}

/// The beginning of 2026, which the clock on the wall shows at the beginning.
static const uint64_t wallOffset = 1'767'225'600ull * second;

static bool isWall(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI; }

int clock_gettime(clockid_t clock, timespec *time) {
    if (!isSimulated()) return result(int(realCall(SYS_clock_gettime, clock, long(time))));
    // A loop that waits for a time ends.
    clockTime += 50;
    fill(time, clockTime + (isWall(clock) ? wallOffset : 0));
    return 0;
}

int gettimeofday(timeval *time, void *) {
    timespec precise;
    int code = clock_gettime(CLOCK_REALTIME, &precise);
    time->tv_sec = precise.tv_sec;
    time->tv_usec = precise.tv_nsec / 1000;
    return code;
}

time_t time(time_t *place) {
    timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    if (place) *place = precise.tv_sec;
    return precise.tv_sec;
}

int clock_nanosleep(clockid_t clock, int flags, const timespec *time, timespec *rest) {
    if (!isSimulated()) return int(-realCall(SYS_clock_nanosleep, clock, flags, long(time), long(rest)));
    waitFor(&clockTime, flags & TIMER_ABSTIME ? deadline(clock, *time) : deadlineAfter(*time));
    return 0;
}

int nanosleep(const timespec *time, timespec *rest) {
    if (!isSimulated()) return result(int(realCall(SYS_nanosleep, long(time), long(rest))));
    return clock_nanosleep(CLOCK_MONOTONIC, 0, time, rest);
}

int usleep(useconds_t microseconds) {
    timespec time;
    fill(&time, uint64_t(microseconds) * 1000);
    return nanosleep(&time, nullptr);
}

unsigned sleep(unsigned seconds) {
    timespec time{time_t(seconds), 0};
    nanosleep(&time, nullptr);
    return 0;
}

} // extern "C"

namespace sim {

uint64_t deadline(clockid_t clock, const timespec &time) {
    auto value = inNanoseconds(time);
    if (value == never) return never;
    if (!isWall(clock)) return value;
    return value > wallOffset ? value - wallOffset : 0;
}

uint64_t deadlineAfter(const timespec &time) {
    auto value = inNanoseconds(time);
    return value > never - clockTime ? never : clockTime + value;
}

} // namespace sim
