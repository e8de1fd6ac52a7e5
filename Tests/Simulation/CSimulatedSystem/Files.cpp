// Files of the real system that fail, and descriptors that are read and written.
#include "Disk.h"
#include <atomic>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

using namespace sim;

extern "C" {

// MARK: Opening and closing

/// Random bytes, as a file.
struct RandomFile : Object {
    uint32_t events() override { return 1; }
    ssize_t read(void *buffer, size_t count, int) override {
        fillRandom(buffer, count);
        return ssize_t(count);
    }
};

/// What the system says of a thread, by which Dispatch counts those that run.
struct ThreadFile : Object {
    std::string text;

    explicit ThreadFile(const char *path) {
        int number = atoi(path + 6);
        text = std::to_string(number) + " (thread) " + (isRunning(number) ? "R" : "S") + " 1 1 1 0 -1";
    }

    uint32_t events() override { return 1; }

    ssize_t read(void *buffer, size_t count, int) override {
        count = std::min(count, text.size());
        memcpy(buffer, text.data(), count);
        text.erase(0, count);
        return ssize_t(count);
    }
};

/// Paths that stand for other files.
static std::map<std::string, std::string> replacements;

/// As opening a file with O_TRUNC does.
static void emptyFile(const char *path) {
    auto descriptor = int(realCall(SYS_openat, AT_FDCWD, long(path), O_RDWR | O_CLOEXEC));
    if (descriptor < 0) return;
    willTruncate(descriptor, 0);
    realCall(SYS_close, descriptor);
}

static int openFile(int folder, const char *path, int flags, mode_t mode) {
    if (isSimulated() && path) {
        if (strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/random") == 0) return result(add(new RandomFile, false));
        if (strncmp(path, "/proc/", 6) == 0 && isdigit(path[6]) && strstr(path, "/stat")) return result(add(new ThreadFile(path), false));
    }
    if (int error = fault("open", true)) return result(-error);
    auto replacement = path ? replacements.find(path) : replacements.end();
    if (replacement != replacements.end()) path = replacement->second.c_str();
    auto openIt = [&] { return int(realCall(SYS_openat, folder, long(path), flags, mode)); };
    bool isEmptied = flags & O_TRUNC && path;
    if (isEmptied) emptyFile(path);
    return result(flags & O_CREAT ? changingNames(path, openIt, NameChangeKind::making) : openIt());
}

#define OPEN_MODE(flags)                                                                                                           \
    mode_t mode = 0;                                                                                                               \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                                                         \
        va_list list;                                                                                                              \
        va_start(list, flags);                                                                                                     \
        mode = va_arg(list, mode_t);                                                                                               \
        va_end(list);                                                                                                              \
    }

int open(const char *path, int flags, ...) {
    CALLED;
    OPEN_MODE(flags)
    return openFile(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    CALLED;
    OPEN_MODE(flags)
    return openFile(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    CALLED;
    OPEN_MODE(flags)
    return openFile(folder, path, flags, mode);
}

/// How many times the program has closed a descriptor that was not open: at another time it would have been another file's.
static std::atomic<uint32_t> wrongCloses = 0;

int close(int descriptor) {
    CALLED;
    if (object(descriptor)) {
        int error = fault("close");
        int code = closeDescriptor(descriptor);
        return result(error ? -error : code);
    }
    if (isSimulated()) maySwitch();
    mayTakeTime();
    auto code = int(realCall(SYS_close, descriptor));
    if (code == -EBADF && descriptor >= 0 && isSimulated() && isCalledByProgram()) wrongCloses++;
    return result(code);
}

uint32_t sim_wrong_closes(void) { return wrongCloses; }

// MARK: Bytes

ssize_t read(int descriptor, void *buffer, size_t count) {
    CALLED;
    if (auto found = object(descriptor)) {
        return result(blocking(found, false, never, [&] { return found->read(buffer, count, 0); }));
    }
    if (int error = fault("read", true)) return result(-error);
    return result(realCall(SYS_read, descriptor, long(buffer), long(count)));
}

ssize_t write(int descriptor, const void *buffer, size_t count) {
    CALLED;
    if (auto found = object(descriptor)) {
        return result(blocking(found, false, never, [&] { return found->write(buffer, count, 0); }));
    }
    if (int error = fault("write", true)) return result(-error);
    willWrite(descriptor, buffer, count, -1);
    return result(realCall(SYS_write, descriptor, long(buffer), long(count)));
}

static ssize_t readAt(int descriptor, void *buffer, size_t count, off_t offset) {
    if (int error = fault("pread", true)) return result(-error);
    return result(realCall(SYS_pread64, descriptor, long(buffer), long(count), offset));
}

static ssize_t writeAt(int descriptor, const void *buffer, size_t count, off_t offset) {
    if (int error = fault("pwrite", true)) return result(-error);
    willWrite(descriptor, buffer, count, offset);
    return result(realCall(SYS_pwrite64, descriptor, long(buffer), long(count), offset));
}

ssize_t pread(int descriptor, void *buffer, size_t count, off_t offset) {
    CALLED;
    return readAt(descriptor, buffer, count, offset);
}
ssize_t pread64(int descriptor, void *buffer, size_t count, off64_t offset) {
    CALLED;
    return readAt(descriptor, buffer, count, offset);
}
ssize_t pwrite(int descriptor, const void *buffer, size_t count, off_t offset) {
    CALLED;
    return writeAt(descriptor, buffer, count, offset);
}
ssize_t pwrite64(int descriptor, const void *buffer, size_t count, off64_t offset) {
    CALLED;
    return writeAt(descriptor, buffer, count, offset);
}

/// In a simulation, all of a file is in memory: what really is differs from run to run.
ssize_t preadv2(int descriptor, const iovec *list, int count, off_t offset, int flags) {
    CALLED;
    if (int error = fault("preadv2", true)) return result(-error);
    if (isSimulated()) flags &= ~RWF_NOWAIT;
    return result(realCall(SYS_preadv2, descriptor, long(list), count, offset, 0, flags));
}

ssize_t readv(int descriptor, const iovec *list, int count) {
    if (!object(descriptor)) return result(realCall(SYS_readv, descriptor, long(list), count));
    return count > 0 ? read(descriptor, list[0].iov_base, list[0].iov_len) : 0;
}

ssize_t writev(int descriptor, const iovec *list, int count) {
    if (!object(descriptor)) {
        auto place = realCall(SYS_lseek, descriptor, 0, SEEK_CUR);
        for (int index = 0; index < count; index++) {
            willWrite(descriptor, list[index].iov_base, list[index].iov_len, place);
            place += long(list[index].iov_len);
        }
        return result(realCall(SYS_writev, descriptor, long(list), count));
    }
    return count > 0 ? write(descriptor, list[0].iov_base, list[0].iov_len) : 0;
}

// MARK: Locks

/// A thread that waits for another one of the process lets that go on.
int flock(int descriptor, int operation) {
    CALLED;
    auto code = realCall(SYS_flock, descriptor, isSimulated() ? operation | LOCK_NB : operation);
    while (code == -EWOULDBLOCK && !(operation & LOCK_NB)) {
        usleep(1000);
        code = realCall(SYS_flock, descriptor, operation | LOCK_NB);
    }
    return result(int(code));
}

// MARK: Devices

static int synchronize(long call, const char *name, int descriptor) {
    if (int error = fault(name, true)) return result(-error);
    auto code = int(realCall(call, descriptor));
    if (code == 0) didSynchronize(descriptor);
    return result(code);
}

int fsync(int descriptor) {
    CALLED;
    return synchronize(SYS_fsync, "fsync", descriptor);
}
int fdatasync(int descriptor) {
    CALLED;
    return synchronize(SYS_fdatasync, "fsync", descriptor);
}

static int truncate(int descriptor, off_t length) {
    if (int error = fault("ftruncate", true)) return result(-error);
    willTruncate(descriptor, length);
    return result(int(realCall(SYS_ftruncate, descriptor, length)));
}

int ftruncate(int descriptor, off_t length) {
    CALLED;
    return truncate(descriptor, length);
}
int ftruncate64(int descriptor, off64_t length) {
    CALLED;
    return truncate(descriptor, length);
}

// MARK: Status

/// Numbers and times have as many digits on each machine, so that what is written of them is as long.
static int evenedOut(long code, struct stat *status) {
    if (code != 0 || !isSimulated() || !usesDisk()) return int(code);
    constexpr long digits = 1'000'000'000;
    status->st_dev = 1;
    if (status->st_ino < digits) status->st_ino += digits;
    for (auto time : {&status->st_atim, &status->st_mtim, &status->st_ctim})
        if (time->tv_nsec < digits / 10) time->tv_nsec += digits / 10;
    return int(code);
}

int fstatat(int folder, const char *path, struct stat *status, int flags) {
    return result(evenedOut(realCall(SYS_newfstatat, folder, long(path), long(status), flags), status));
}

int fstat(int descriptor, struct stat *status) { return result(evenedOut(realCall(SYS_fstat, descriptor, long(status)), status)); }
int stat(const char *path, struct stat *status) { return fstatat(AT_FDCWD, path, status, 0); }
int lstat(const char *path, struct stat *status) { return fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW); }

// MARK: Names

static int moveFile(const char *old, const char *name, unsigned flags) {
    return movingFile(old, name, [&] { return int(realCall(SYS_renameat2, AT_FDCWD, long(old), AT_FDCWD, long(name), flags)); });
}

int rename(const char *old, const char *name) {
    CALLED;
    if (int error = fault("rename", true)) return result(-error);
    return result(moveFile(old, name, 0));
}

int renameat2(int, const char *old, int, const char *name, unsigned flags) { return result(moveFile(old, name, flags)); }

int link(const char *old, const char *name) {
    CALLED;
    if (int error = fault("link", true)) return result(-error);
    auto body = [&] { return int(realCall(SYS_linkat, AT_FDCWD, long(old), AT_FDCWD, long(name), 0)); };
    return result(changingNames(name, body, NameChangeKind::making));
}

int unlink(const char *path) {
    CALLED;
    if (int error = fault("unlink")) return result(-error);
    auto body = [&] { return int(realCall(SYS_unlinkat, AT_FDCWD, long(path), 0)); };
    return result(changingNames(path, body, NameChangeKind::removing));
}

int rmdir(const char *path) {
    auto body = [&] { return int(realCall(SYS_unlinkat, AT_FDCWD, long(path), AT_REMOVEDIR)); };
    return result(changingNames(path, body, NameChangeKind::removingFolder));
}

int mkdir(const char *path, mode_t mode) {
    CALLED;
    if (int error = fault("mkdir", true)) return result(-error);
    auto body = [&] { return int(realCall(SYS_mkdirat, AT_FDCWD, long(path), mode)); };
    return result(changingNames(path, body, NameChangeKind::makingFolder));
}

void sim_replace_file(const char *path, const char *other) { replacements[path] = other; }

} // extern "C"
