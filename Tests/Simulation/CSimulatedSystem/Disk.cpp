// What is left of files when the process is killed, and when the power is lost.
#include "Disk.h"
#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sim {

namespace {

/// The status of a process that was ended on purpose.
constexpr int endedOnPurpose = 75;
/// What a disk writes at once.
constexpr size_t sectorSize = 512;

using FileNumber = uint64_t;

/// Bytes that are not synchronized.
struct Write {
    FileNumber file;
    off_t offset, lengthBefore;
    std::vector<uint8_t> before, after;
    /// Whether the file was cut off at the offset.
    bool truncates = false;
};

/// A change of names that is not synchronized.
struct NameChange {
    NameChangeKind kind;
    std::string path, target;
    /// A link to the file that was removed, or was at the target; empty where there was none.
    std::string kept;
    FileNumber file;
};

/// The folder whose files are lost; empty where nothing is.
std::string disk;
std::string keptFiles;
uint64_t keptCount = 0;
std::vector<Write> writes;
std::vector<NameChange> changes;
/// Descriptors by which files are written that have no name any more.
std::map<FileNumber, int> descriptors;
uint64_t changesLeft = never;
bool losesPower = false;

bool isOnDisk(const std::string &path) { return !disk.empty() && path.compare(0, disk.size(), disk) == 0; }

FileNumber numberOf(const char *path) {
    struct stat status{};
    return realCall(SYS_newfstatat, AT_FDCWD, long(path), long(&status), AT_SYMLINK_NOFOLLOW) == 0 ? status.st_ino : 0;
}

bool exists(const std::string &path) { return numberOf(path.c_str()) != 0; }

std::string pathOf(int descriptor) {
    char link[40], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    auto count = realCall(SYS_readlinkat, AT_FDCWD, long(link), long(path), sizeof path);
    return count > 0 ? std::string(path, size_t(count)) : "";
}

std::string folderOf(const std::string &path) { return path.substr(0, path.rfind('/')); }

std::string keep(const std::string &path) {
    auto kept = keptFiles + "/" + std::to_string(keptCount++);
    return realCall(SYS_linkat, AT_FDCWD, long(path.c_str()), AT_FDCWD, long(kept.c_str()), 0) == 0 ? kept : "";
}

void removeFile(const std::string &path) { realCall(SYS_unlinkat, AT_FDCWD, long(path.c_str()), 0); }

void moveFile(const std::string &from, const std::string &to) {
    realCall(SYS_renameat2, AT_FDCWD, long(from.c_str()), AT_FDCWD, long(to.c_str()), 0);
}

// MARK: Losing

void undo(const Write &write) {
    auto descriptor = descriptors[write.file];
    realCall(SYS_pwrite64, descriptor, long(write.before.data()), long(write.before.size()), write.offset);
    realCall(SYS_ftruncate, descriptor, write.lengthBefore);
}

/// Sectors are written or not, in any order.
void redoInPart(const Write &write) {
    auto descriptor = descriptors[write.file];
    for (size_t place = 0; place < write.after.size(); place += sectorSize)
        if (faultRandom.below(2) == 0) {
            auto count = std::min(sectorSize, write.after.size() - place);
            realCall(SYS_pwrite64, descriptor, long(write.after.data() + place), long(count), write.offset + off_t(place));
        }
}

void redo(const Write &write) {
    if (write.truncates) realCall(SYS_ftruncate, descriptors[write.file], write.offset);
    realCall(SYS_pwrite64, descriptors[write.file], long(write.after.data()), long(write.after.size()), write.offset);
}

void loseWrites() {
    for (auto write = writes.rbegin(); write != writes.rend(); ++write) undo(*write);
    for (auto &write : writes) switch (faultRandom.below(3)) {
        case 0: break;
        case 1: redo(write); break;
        default: write.truncates ? redo(write) : redoInPart(write);
        }
}

void undo(const NameChange &change) {
    switch (change.kind) {
    case NameChangeKind::making: removeFile(change.path); break;
    case NameChangeKind::makingFolder: realCall(SYS_unlinkat, AT_FDCWD, long(change.path.c_str()), AT_REMOVEDIR); break;
    case NameChangeKind::removing: break;
    case NameChangeKind::removingFolder: realCall(SYS_mkdirat, AT_FDCWD, long(change.path.c_str()), 0700); break;
    case NameChangeKind::moving: moveFile(change.target, change.path); break;
    }
    if (!change.kept.empty()) moveFile(change.kept, change.kind == NameChangeKind::moving ? change.target : change.path);
}

/// Names change in the order in which the program has changed them: file systems have a journal of them.
void loseNames() {
    auto left = faultRandom.below(changes.size() + 1);
    while (changes.size() > left) {
        undo(changes.back());
        changes.pop_back();
    }
}

// MARK: The system's memory

/// What a process that ends leaves unsynchronized is in the system's memory, and may be lost in one that follows.
std::string memoryPath() { return keptFiles + "/memory"; }
std::string linkPath(FileNumber file) { return keptFiles + "/file-" + std::to_string(file); }

struct Archive {
    std::string bytes;
    size_t place = 0;

    void put(uint64_t number) { bytes.append(reinterpret_cast<const char *>(&number), sizeof number); }
    template <typename Bytes> void putAll(const Bytes &all) {
        put(all.size());
        bytes.append(reinterpret_cast<const char *>(all.data()), all.size());
    }
    uint64_t take() {
        uint64_t number = 0;
        memcpy(&number, bytes.data() + place, sizeof number);
        place += sizeof number;
        return number;
    }
    template <typename Bytes> void takeAll(Bytes &all) {
        auto count = take();
        all.assign(bytes.data() + place, bytes.data() + place + count);
        place += count;
    }
};

void saveMemory() {
    Archive archive;
    archive.put(keptCount);
    // A file that has no name any more cannot come back.
    auto isGone = [](auto &write) {
        char link[40];
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptors[write.file]);
        auto code = realCall(SYS_linkat, AT_FDCWD, long(link), AT_FDCWD, long(linkPath(write.file).c_str()), AT_SYMLINK_FOLLOW);
        return code < 0 && code != -EEXIST;
    };
    writes.erase(std::remove_if(writes.begin(), writes.end(), isGone), writes.end());
    archive.put(writes.size());
    for (auto &write : writes) {
        for (auto number : {write.file, uint64_t(write.offset), uint64_t(write.lengthBefore), uint64_t(write.truncates)}) archive.put(number);
        archive.putAll(write.before);
        archive.putAll(write.after);
    }
    archive.put(changes.size());
    for (auto &change : changes) {
        for (auto number : {uint64_t(change.kind), change.file}) archive.put(number);
        for (auto text : {&change.path, &change.target, &change.kept}) archive.putAll(*text);
    }
    auto file = int(realCall(SYS_openat, AT_FDCWD, long(memoryPath().c_str()), O_WRONLY | O_CREAT | O_TRUNC, 0600));
    for (size_t place = 0; place < archive.bytes.size();) {
        auto count = realCall(SYS_write, file, long(archive.bytes.data() + place), long(archive.bytes.size() - place));
        if (count <= 0) _exit(74);
        place += size_t(count);
    }
}

void loadMemory() {
    auto file = int(realCall(SYS_openat, AT_FDCWD, long(memoryPath().c_str()), O_RDONLY));
    if (file < 0) return;
    Archive archive;
    char part[65536];
    for (long count; (count = realCall(SYS_read, file, long(part), sizeof part)) > 0;) archive.bytes.append(part, size_t(count));
    realCall(SYS_close, file);
    removeFile(memoryPath());
    keptCount = archive.take();
    writes.resize(archive.take());
    for (auto &write : writes) {
        write.file = archive.take();
        write.offset = off_t(archive.take());
        write.lengthBefore = off_t(archive.take());
        write.truncates = archive.take();
        archive.takeAll(write.before);
        archive.takeAll(write.after);
        auto link = linkPath(write.file);
        auto &held = descriptors[write.file];
        if (held == 0) held = int(realCall(SYS_openat, AT_FDCWD, long(link.c_str()), O_RDWR | O_CLOEXEC));
        removeFile(link);
    }
    changes.resize(archive.take());
    for (auto &change : changes) {
        change.kind = NameChangeKind(archive.take());
        change.file = archive.take();
        for (auto text : {&change.path, &change.target, &change.kept}) archive.takeAll(*text);
    }
    trace("%zu writes and %zu changes of names are in memory alone", writes.size(), changes.size());
}

[[noreturn]] void endProcess() {
    trace(losesPower ? "the power is lost" : "the process is killed");
    if (losesPower) {
        loseWrites();
        loseNames();
        for (auto &change : changes)
            if (!change.kept.empty()) removeFile(change.kept);
    } else {
        saveMemory();
    }
    _exit(endedOnPurpose);
}

/// Called before the program changes a file.
void mayEnd() {
    if (changesLeft != never && changesLeft-- == 0) endProcess();
}

void synchronizeNames(size_t count) {
    for (size_t index = 0; index < count; index++)
        if (!changes[index].kept.empty()) removeFile(changes[index].kept);
    changes.erase(changes.begin(), changes.begin() + long(count));
}

} // namespace

// MARK: What the program does

bool usesDisk() { return !disk.empty(); }

void willWrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    if (disk.empty() || !isOnDisk(pathOf(descriptor))) return;
    mayEnd();
    struct stat status{};
    if (realCall(SYS_fstat, descriptor, long(&status)) != 0 || !S_ISREG(status.st_mode)) return;
    if (realCall(SYS_fcntl, descriptor, F_GETFL) & O_APPEND) offset = status.st_size;
    if (offset < 0) offset = realCall(SYS_lseek, descriptor, 0, SEEK_CUR);
    auto &held = descriptors[status.st_ino];
    if (held == 0) {
        char link[40];
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        held = int(realCall(SYS_openat, AT_FDCWD, long(link), O_RDWR | O_CLOEXEC));
    }
    Write write{status.st_ino, offset, status.st_size, {}, {}, false};
    if (offset < status.st_size) {
        write.before.resize(size_t(std::min<off_t>(off_t(count), status.st_size - offset)));
        realCall(SYS_pread64, held, long(write.before.data()), long(write.before.size()), offset);
    }
    auto first = static_cast<const uint8_t *>(bytes);
    write.after.assign(first, first + count);
    writes.push_back(std::move(write));
}

void willTruncate(int descriptor, off_t length) {
    struct stat status{};
    if (disk.empty() || !isOnDisk(pathOf(descriptor))) return;
    // What is cut off can come back: then it is as if it were written.
    if (realCall(SYS_fstat, descriptor, long(&status)) == 0 && length < status.st_size) {
        std::vector<uint8_t> rest(size_t(status.st_size - length));
        auto count = realCall(SYS_pread64, descriptor, long(rest.data()), long(rest.size()), length);
        if (count <= 0) return;
        willWrite(descriptor, rest.data(), size_t(count), length);
        writes.back().after.clear();
        writes.back().truncates = true;
    } else {
        mayEnd();
    }
}

void didSynchronize(int descriptor) {
    if (disk.empty()) return;
    struct stat status{};
    if (realCall(SYS_fstat, descriptor, long(&status)) != 0) return;
    auto path = pathOf(descriptor);
    if (!isOnDisk(path)) return;
    writes.erase(std::remove_if(writes.begin(), writes.end(), [&](auto &write) { return write.file == status.st_ino; }), writes.end());
    auto held = descriptors.find(status.st_ino);
    if (held != descriptors.end()) {
        realCall(SYS_close, held->second);
        descriptors.erase(held);
    }
    size_t count = 0;
    for (size_t index = 0; index < changes.size(); index++) {
        auto &change = changes[index];
        bool isInFolder = S_ISDIR(status.st_mode) && (folderOf(change.path) == path || folderOf(change.target) == path);
        if (isInFolder || change.file == status.st_ino) count = index + 1;
    }
    synchronizeNames(count);
}

int changingNames(const char *path, const std::function<int()> &body, NameChangeKind kind) {
    if (disk.empty() || !path || !isOnDisk(path)) return body();
    mayEnd();
    bool was = exists(path);
    NameChange change{kind, path, "", "", numberOf(path)};
    if (kind == NameChangeKind::removing) change.kept = keep(path);
    int code = body();
    if (change.file == 0) change.file = numberOf(path);
    bool makes = kind == NameChangeKind::making || kind == NameChangeKind::makingFolder;
    if (code >= 0 && was != makes) changes.push_back(change);
    else if (!change.kept.empty()) removeFile(change.kept);
    return code;
}

int movingFile(const char *path, const char *target, const std::function<int()> &body) {
    if (disk.empty() || !path || !target || !isOnDisk(target)) return body();
    mayEnd();
    NameChange change{NameChangeKind::moving, path, target, exists(target) ? keep(target) : "", numberOf(path)};
    int code = body();
    if (code >= 0) changes.push_back(change);
    else if (!change.kept.empty()) removeFile(change.kept);
    return code;
}

} // namespace sim

using namespace sim;

extern "C" {

void sim_use_disk(const char *folder, const char *kept) {
    disk = std::string(folder) + "/";
    keptFiles = kept;
    loadMemory();
}

void sim_leave_disk(void) {
    if (!disk.empty()) endProcess();
}

void sim_end_process(uint64_t fileChanges, uint64_t nanoseconds, bool power) {
    losesPower = power;
    changesLeft = fileChanges;
    if (nanoseconds != never) schedule(now() + nanoseconds, [] { endProcess(); });
}

void sim_note(int descriptor, const char *line) {
    realCall(SYS_write, descriptor, long(line), long(strlen(line)));
}

} // extern "C"
