// Calls and allocations that fail on purpose.
#include "World.h"
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <unistd.h>

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
}

namespace sim {

thread_local const void *caller = nullptr;

namespace {

struct Library {
    std::string name;
    uintptr_t first, last;
    /// Its short name, if its allocations fail on purpose.
    const char *allocator;
};

std::vector<Library> libraries;
bool isCounting = false;
std::map<std::string, uint64_t> counts;
std::string failingName;
uint64_t failingNumber = 0;
int failingError = 0;
sim_faults faults;
bool hasChances = false;

int note(dl_phdr_info *info, size_t, void *) {
    Library library{info->dlpi_name, UINTPTR_MAX, 0, nullptr};
    for (auto part : {"libcrypto", "libssl", "libz", "libsqlite3"})
        if (library.name.find(part) != std::string::npos) library.allocator = part;
    for (int index = 0; index < info->dlpi_phnum; index++) {
        auto &part = info->dlpi_phdr[index];
        if (part.p_type != PT_LOAD) continue;
        library.first = std::min(library.first, uintptr_t(info->dlpi_addr + part.p_vaddr));
        library.last = std::max(library.last, uintptr_t(info->dlpi_addr + part.p_vaddr + part.p_memsz));
    }
    libraries.push_back(library);
    return 0;
}

/// The library with the address. The program itself has an empty name.
const Library &library(const void *address) {
    static const Library none{"none", 0, 0, nullptr};
    if (libraries.empty()) dl_iterate_phdr(note, nullptr);
    for (auto &library : libraries)
        if (uintptr_t(address) >= library.first && uintptr_t(address) < library.last) return library;
    return none;
}

} // namespace

const char *allocator(const void *address) { return library(address).allocator; }

namespace {

int count(const std::string &name) {
    auto number = ++counts[name];
    if (failingName != name || number != failingNumber) return 0;
    trace("%s fails: %d", name.c_str(), failingError);
    if (isTracing()) {
        void *frames[30];
        backtrace_symbols_fd(frames, backtrace(frames, 30), 2);
    }
    return failingError;
}

/// Whether an allocation fails. What is counted here allocates memory itself.
bool failsToAllocate(const void *address) {
    static thread_local bool isHere = false;
    if (!isCounting || isHere || !isSimulated() || isServersThread()) return false;
    isHere = true;
    auto name = allocator(address);
    bool fails = name && count(name) != 0;
    isHere = false;
    return fails;
}

} // namespace

bool isCalledByProgram() { return library(caller).name.empty(); }

/// By the seed: descriptors, threads and files that are not to be had.
static int chance(const std::string &name, bool isFile) {
    if (isFile && faultRandom.happens(faults.file_errors, 10'000)) {
        static const int errors[] = {EIO, ENOSPC, EDQUOT};
        return errors[faultRandom.below(name.find("read") == std::string::npos ? 3 : 1)];
    }
    bool isThread = name == "pthread_create";
    if (isThread) return faultRandom.happens(faults.no_threads, 10'000) ? EAGAIN : 0;
    bool opens = name == "socket" || name == "open" || name == "epoll_create1" || name == "eventfd" || name == "pipe";
    return opens && faultRandom.happens(faults.no_descriptors, 10'000) ? EMFILE : 0;
}

/// Dispatch and the runtime end the process where they cannot go on; the program's own files are left alone, too.
static bool isCalledByLibrary() { return isCalledByProgram() || library(caller).name.find("libsqlite3") != std::string::npos; }

void mayTakeTime() {
    if (!isSimulated() || isServersThread() || faults.slow_files == 0 || !isCalledByLibrary()) return;
    if (faultRandom.happens(faults.slow_files, 10'000)) usleep(useconds_t(faultRandom.below(500'000)));
}

int fault(const char *name, bool isFile) {
    if (isFile) mayTakeTime();
    if (!isSimulated() || isServersThread() || (!isCounting && !hasChances)) return 0;
    if (!isCalledByLibrary()) return 0;
    if (isCounting)
        if (int error = count(name)) return error;
    int error = hasChances ? chance(name, isFile) : 0;
    if (error) trace("%s fails: %d", name, error);
    return error;
}

} // namespace sim

using namespace sim;

extern "C" {

void sim_set_faults(const sim_faults *value) {
    faults = *value;
    hasChances = faults.file_errors + faults.no_descriptors + faults.no_threads > 0;
}

void sim_fail_call(const char *name, uint64_t number, int error) {
    isCounting = false;
    failingName = name;
    failingNumber = number;
    failingError = error;
    counts.clear();
    isCounting = true;
}

uint64_t sim_call_count(const char *name) {
    auto entry = counts.find(name);
    return entry == counts.end() ? 0 : entry->second;
}

/// The library that allocates is the one that calls.
void *malloc(size_t size) {
    auto caller = __builtin_return_address(0);
    return failsToAllocate(caller) ? nullptr : watchAllocation(__libc_malloc(size), caller);
}

void *calloc(size_t count, size_t size) {
    auto caller = __builtin_return_address(0);
    return failsToAllocate(caller) ? nullptr : watchAllocation(__libc_calloc(count, size), caller);
}

void *realloc(void *memory, size_t size) {
    auto caller = __builtin_return_address(0);
    if (failsToAllocate(caller)) return nullptr;
    forgetAllocation(memory);
    return watchAllocation(__libc_realloc(memory, size), caller);
}

} // extern "C"
