import CLoadingKitShims
import Glibc

/// Every system call that the library makes.
///
/// A function returns the call's result, or the negated `errno` if the call failed. Interrupted calls are repeated.
/// With a ``FaultPlan``, a test can make the n-th call of a name fail or transfer fewer bytes. Without a plan, this
/// costs a load from thread-local memory.
package enum SystemCalls {
    /// The names by which a fault plan refers to calls.
    package enum Name: String, Sendable, CaseIterable {
        case socket, connect, recv, send, sendmsg, sendfile, shutdown, close, getsockopt, setsockopt, getsockname
        case epollCreate, epollControl, epollWait, eventfd
        case open, read, write, pread, preadv2, pwrite, fstat, stat, lseek, ftruncate, fallocate, ioctl, futimens, fsync
        case unlink, rename, mkdir, rmdir, flock, link, lstat, chmod, fcntl, poll, statfs
        case bind, listen, accept, recvmsg, pipe, createThread
    }

    /// Whether a fault plan is attached to this thread. If so, a short result may not be the system's.
    @inline(__always)
    static var hasFaults: Bool { lk_thread_fault_plan() != nil }

    /// Calls `body` until it is not interrupted, unless a fault plan changes the result of this call.
    @inline(__always)
    static func call(_ name: Name, _ body: () -> Int) -> Int {
        while true {
            let result: Int
            if let plan = lk_thread_fault_plan() {
                result = performFaulted(plan, name, count: 0) { _ in body() }
            } else {
                let value = body()
                result = value >= 0 ? value : -Int(errno)
            }
            if result != -Int(EINTR) { return result }
        }
    }

    /// Like `call`, for calls that transfer at most `count` bytes. A plan can reduce this number.
    @inline(__always)
    static func transfer(_ name: Name, _ count: Int, _ body: (Int) -> Int) -> Int {
        while true {
            let result: Int
            if let plan = lk_thread_fault_plan() {
                result = performFaulted(plan, name, count: count, body)
            } else {
                let value = body(count)
                result = value >= 0 ? value : -Int(errno)
            }
            if result != -Int(EINTR) { return result }
        }
    }

    @inline(never)
    private static func performFaulted(
        _ plan: UnsafeMutableRawPointer, _ name: Name, count: Int, _ body: (Int) -> Int
    ) -> Int {
        let fault = Unmanaged<FaultPlan>.fromOpaque(plan).takeUnretainedValue().next(name)
        let value: Int
        switch fault {
        case .fail(let code): return -Int(code)
        case .skip: return count
        case .short(let limit): value = body(min(count, max(limit, 0)))
        case nil: value = body(count)
        }
        return value >= 0 ? value : -Int(errno)
    }
}

// MARK: - Sockets

extension SystemCalls {
    /// A socket, nonblocking and closed on exec.
    private static func socket(_ family: Int32, _ type: __socket_type, _ number: Int32 = 0) -> Int {
        let flags = Int32(type.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        return call(.socket) { Int(Glibc.socket(family, flags, number)) }
    }

    static func streamSocket(_ family: Int32) -> Int { socket(family, SOCK_STREAM) }

    static func datagramSocket(_ family: Int32) -> Int { socket(family, SOCK_DGRAM) }

    /// Like ``streamSocket(_:)``, for Multipath TCP (RFC 8684) if the system supports it. A connection to a peer
    /// without this support is an ordinary one.
    static func multipathSocket(_ family: Int32) -> Int {
        let descriptor = socket(family, SOCK_STREAM, multipathProtocol)
        return descriptor >= 0 ? descriptor : streamSocket(family)
    }

    /// Whether both sides of a connection support Multipath TCP.
    static func isMultipath(_ descriptor: Int32) -> Bool {
        var info: UInt32 = 0
        var length = socklen_t(MemoryLayout<UInt32>.size)
        return call(.getsockopt) {
            Int(Glibc.getsockopt(descriptor, multipathLevel, multipathInfo, &info, &length))
        } >= 0
    }

    // Linux's IPPROTO_MPTCP, SOL_MPTCP and MPTCP_INFO, which not all C libraries define.
    private static let multipathProtocol: Int32 = 262
    private static let multipathLevel: Int32 = 284
    private static let multipathInfo: Int32 = 1

    /// A socket that receives changes to the system's networks (rtnetlink).
    static func routeSocket() -> Int { call(.socket) { Int(lk_route_socket()) } }

    static func connect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int {
        call(.connect) { Int(Glibc.connect(descriptor, address, length)) }
    }

    @inline(__always)
    static func recv(
        _ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int, flags: Int32 = 0
    ) -> Int {
        transfer(.recv, count) { Glibc.recv(descriptor, buffer, $0, flags) }
    }

    /// Never raises SIGPIPE.
    @inline(__always)
    static func send(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
        transfer(.send, count) { Glibc.send(descriptor, buffer, $0, Int32(MSG_NOSIGNAL)) }
    }

    /// Sends both parts with one call. Never raises SIGPIPE.
    static func send(_ descriptor: Int32, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
        let (total, overflow) = first.count.addingReportingOverflow(second.count)
        return transfer(.sendmsg, overflow ? .max : total) { limit in
            let head = min(first.count, limit)
            let vectors = (
                iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: head),
                iovec(
                    iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress),
                    iov_len: min(second.count, limit - head))
            )
            return withUnsafePointer(to: vectors) { pointer in
                pointer.withMemoryRebound(to: iovec.self, capacity: 2) { iov in
                    var message = msghdr()
                    message.msg_iov = UnsafeMutablePointer(mutating: iov)
                    message.msg_iovlen = 2
                    return Glibc.sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
                }
            }
        }
    }

    /// Sends bytes of a file without copying them into the program's memory; waits for a disk whose bytes are not in the
    /// system's. Never raises SIGPIPE. Returns 0 at the file's end.
    package static func send(_ descriptor: Int32, fromFile file: Int32, at offset: Int64, _ count: Int) -> Int {
        transfer(.sendfile, count) { lk_send_file(descriptor, file, offset, $0) }
    }

    /// The number of bytes that the socket has taken and the peer's system has not acknowledged.
    static func unacknowledgedBytes(_ descriptor: Int32) -> Int {
        call(.ioctl) { Int(lk_unacknowledged_bytes(descriptor)) }
    }

    static func shutdownWriting(_ descriptor: Int32) -> Int {
        call(.shutdown) { Int(Glibc.shutdown(descriptor, Int32(SHUT_WR))) }
    }

    /// Closes a descriptor. Linux frees it even if the call is interrupted, so the call is never repeated.
    @discardableResult
    package static func close(_ descriptor: Int32) -> Int {
        if let plan = lk_thread_fault_plan() {
            return performFaulted(plan, .close, count: 0) { _ in Int(Glibc.close(descriptor)) }
        }
        return Int(Glibc.close(descriptor)) == 0 ? 0 : -Int(errno)
    }

    /// The socket's pending error, which the call clears, or the negated failure of the call itself.
    static func pendingError(_ descriptor: Int32) -> Int {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        let result = call(.getsockopt) { Int(Glibc.getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)) }
        return result < 0 ? result : Int(code)
    }

    @discardableResult
    static func enable(_ descriptor: Int32, level: Int32, option: Int32) -> Int {
        set(descriptor, level: level, option: option, to: 1)
    }

    @discardableResult
    static func set(_ descriptor: Int32, level: Int32, option: Int32, to value: Int32) -> Int {
        var value = value
        return call(.setsockopt) {
            Int(Glibc.setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size)))
        }
    }

    /// Has the close of a socket reset its connection. Bytes that were not sent are dropped.
    static func resetWhenClosed(_ descriptor: Int32) {
        var value = linger(l_onoff: 1, l_linger: 0)
        _ = call(.setsockopt) {
            Int(Glibc.setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size)))
        }
    }

    /// Has a socket send and receive by one network interface only.
    static func bind(_ descriptor: Int32, toInterface name: String) -> Int {
        call(.setsockopt) {
            Int(Glibc.setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, name, socklen_t(name.utf8.count)))
        }
    }

    static func localAddress(_ descriptor: Int32, _ storage: inout sockaddr_storage) -> Int {
        call(.getsockname) {
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            return withUnsafeMutablePointer(to: &storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Int(Glibc.getsockname(descriptor, $0, &length))
                }
            }
        }
    }
}

// MARK: - Limits

extension SystemCalls {
    /// Returns freed memory to the system. May take milliseconds, during which other threads that allocate memory wait.
    package static func releaseFreeMemory() { lk_release_free_memory() }

    static func descriptorLimit() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }
}

// MARK: - Readiness and time

extension SystemCalls {
    static func epollCreate() -> Int { call(.epollCreate) { Int(epoll_create1(Int32(EPOLL_CLOEXEC))) } }

    static func eventfd(isBlocking: Bool = false) -> Int {
        let flags = EFD_CLOEXEC | (isBlocking ? 0 : EFD_NONBLOCK)
        return call(.eventfd) { Int(CLoadingKitShims.eventfd(0, Int32(flags))) }
    }

    static func epollAdd(_ epoll: Int32, _ descriptor: Int32, events: UInt32, data: UInt64) -> Int {
        var event = epoll_event(events: events, data: epoll_data_t(u64: data))
        return call(.epollControl) { Int(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)) }
    }

    /// Unlike the other calls, it returns an interruption, since the caller has a deadline.
    static func epollWait(
        _ epoll: Int32, _ events: UnsafeMutablePointer<epoll_event>, _ count: Int32, milliseconds: Int32
    ) -> Int {
        if let plan = lk_thread_fault_plan() {
            return performFaulted(plan, .epollWait, count: 0) { _ in Int(epoll_wait(epoll, events, count, milliseconds))
            }
        }
        let result = Int(epoll_wait(epoll, events, count, milliseconds))
        return result >= 0 ? result : -Int(errno)
    }

    /// Waits for a time, less than a second.
    package static func pause(nanoseconds: UInt64) {
        var time = timespec(tv_sec: 0, tv_nsec: Int(clamping: min(nanoseconds, 999_999_999)))
        nanosleep(&time, nil)
    }

    static func monotonicNanoseconds() -> UInt64 { nanoseconds(CLOCK_MONOTONIC) }

    /// The time for which the machine has been asleep. The monotonic clock stands meanwhile.
    static func nanosecondsAsleep() -> UInt64 {
        let awake = monotonicNanoseconds()
        let all = nanoseconds(CLOCK_BOOTTIME)
        return all > awake ? all - awake : 0
    }

    @inline(__always)
    private static func nanoseconds(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(truncatingIfNeeded: time.tv_sec) &* 1_000_000_000 &+ UInt64(truncatingIfNeeded: time.tv_nsec)
    }

    static func wakeUp(_ eventDescriptor: Int32) {
        var one: UInt64 = 1
        // The write cannot be short. It fails only if the counter is full, and then the loop is awake anyway.
        _ = Glibc.write(eventDescriptor, &one, 8)
    }
}

// MARK: - Threads

extension SystemCalls {
    static func createThread(
        _ handle: inout pthread_t, _ main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?,
        _ argument: UnsafeMutableRawPointer
    ) -> Int {
        call(.createThread) {
            let code = pthread_create(&handle, nil, main, argument)
            // `pthread_create` returns the error instead of setting `errno`.
            if code != 0 { errno = code }
            return code == 0 ? 0 : -1
        }
    }
}

// MARK: - Files (all calls may block: only on the blocking pool)

extension SystemCalls {
    /// Opens a file, closed on exec. `mode` is used if the file is created.
    package static func open(_ path: String, _ flags: Int32, mode: UInt32 = 0o600) -> Int {
        call(.open) { Int(Glibc.open(path, flags | O_CLOEXEC, mode)) }
    }

    package static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        transfer(.read, buffer.count) { Glibc.read(descriptor, buffer.baseAddress, $0) }
    }

    package static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        transfer(.write, bytes.count) { Glibc.write(descriptor, bytes.baseAddress, $0) }
    }

    /// Like ``write(_:_:)``, for a file that may be a pipe. Never raises SIGPIPE.
    static func writeToPipe(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        transfer(.write, bytes.count) { lk_write_to_pipe(descriptor, bytes.baseAddress, $0) }
    }

    package static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        transfer(.pread, buffer.count) { Glibc.pread(descriptor, buffer.baseAddress, $0, off_t(offset)) }
    }

    /// Reads bytes that the system has in memory. Never waits for a disk or a network.
    package static func readFromMemory(
        _ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) -> Int {
        transfer(.preadv2, buffer.count) { lk_read_from_memory(descriptor, buffer.baseAddress, $0, offset) }
    }

    package static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int {
        transfer(.pwrite, bytes.count) { Glibc.pwrite(descriptor, bytes.baseAddress, $0, off_t(offset)) }
    }

    package static func fstat(_ descriptor: Int32, _ status: inout stat) -> Int {
        call(.fstat) { Int(Glibc.fstat(descriptor, &status)) }
    }

    package static func stat(_ path: String, _ status: inout stat) -> Int {
        call(.stat) { Int(fstatat(AT_FDCWD, path, &status, 0)) }
    }

    /// Like ``stat(_:_:)``, for a symbolic link itself instead of its target.
    package static func lstat(_ path: String, _ status: inout stat) -> Int {
        call(.lstat) { Int(fstatat(AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW)) }
    }

    /// The type of the file system in which a file is, a number of linux/magic.h.
    package static func fileSystemType(_ path: String) -> Int { call(.statfs) { Int(lk_file_system_type(path)) } }

    package static func seek(_ descriptor: Int32, to offset: Int64) -> Int {
        call(.lseek) { Int(Glibc.lseek(descriptor, off_t(offset), SEEK_SET)) }
    }

    package static func truncate(_ descriptor: Int32, to length: Int64) -> Int {
        call(.ftruncate) { Int(Glibc.ftruncate(descriptor, off_t(length))) }
    }

    /// Reserves space in the file system for later bytes. The file's size does not change.
    package static func reserve(_ descriptor: Int32, from offset: Int64, count: Int64) -> Int {
        call(.fallocate) { Int(lk_reserve(descriptor, offset, count)) }
    }

    /// Gives an empty file the contents of another one without copying. Fails if the file system does not support this.
    package static func clone(_ source: Int32, to target: Int32) -> Int {
        call(.ioctl) { Int(lk_clone_file(target, source)) }
    }

    package static func setModificationTime(_ descriptor: Int32, seconds: Int64, nanoseconds: Int64) -> Int {
        call(.futimens) { Int(lk_set_modification_time(descriptor, seconds, nanoseconds)) }
    }

    package static func synchronize(_ descriptor: Int32) -> Int { call(.fsync) { Int(Glibc.fsync(descriptor)) } }

    /// Like ``synchronize(_:)``, without metadata that is not needed to read the bytes.
    package static func synchronizeData(_ descriptor: Int32) -> Int { call(.fsync) { Int(fdatasync(descriptor)) } }

    /// Synchronizes the names in a folder: files that were made, moved or linked there are there after a loss of power,
    /// too. Does nothing where the file system cannot do that.
    package static func synchronizeFolder(_ path: String) -> Int {
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else { return descriptor }
        defer { close(Int32(clamping: descriptor)) }
        let result = synchronize(Int32(clamping: descriptor))
        return result == -Int(EINVAL) ? 0 : result
    }

    package static func unlink(_ path: String) -> Int { call(.unlink) { Int(Glibc.unlink(path)) } }

    package static func rename(_ old: String, _ new: String) -> Int { call(.rename) { Int(Glibc.rename(old, new)) } }

    /// Fails with `EEXIST` if the new name exists, and with `EINVAL` if the file system does not support this call.
    package static func renameWithoutReplacing(_ old: String, _ new: String) -> Int {
        call(.rename) { Int(lk_rename_without_replacing(old, new)) }
    }

    /// Fails if the new name exists.
    package static func link(_ old: String, _ new: String) -> Int { call(.link) { Int(Glibc.link(old, new)) } }

    /// Locks an open file against other openings of the same file, until ``closeLocked(_:)``.
    package static func lock(_ descriptor: Int32, _ operation: Int32) -> Int {
        call(.flock) { Int(lk_flock(descriptor, operation)) }
    }

    /// Releases the lock of an open file, and closes the file. A process that another thread has just started has a copy of the
    /// descriptor until its program runs, and as long as there is a copy, `close` alone leaves the file locked.
    @discardableResult
    package static func closeLocked(_ descriptor: Int32) -> Int {
        _ = lock(descriptor, LOCK_UN)
        return close(descriptor)
    }

    package static func makeDirectory(_ path: String, mode: UInt32 = 0o700) -> Int {
        call(.mkdir) { Int(Glibc.mkdir(path, mode)) }
    }

    package static func removeDirectory(_ path: String) -> Int { call(.rmdir) { Int(Glibc.rmdir(path)) } }

    package static func text(ofError code: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let base = buffer.baseAddress, strerror_r(code, base, buffer.count) == 0 else {
                return "error \(code)"
            }
            return String(cString: base)
        }
    }
}

/// A system call that failed.
package struct SystemCallFailure: Error, Sendable, Hashable, CustomStringConvertible {
    package var name: SystemCalls.Name
    package var code: Int32

    package init(name: SystemCalls.Name, code: Int32) { (self.name, self.code) = (name, code) }

    /// - Parameter result: The negated `errno`.
    init(_ name: SystemCalls.Name, _ result: Int) { self.init(name: name, code: Int32(clamping: -result)) }

    /// Whether the process, or the system, has reached its limit of open descriptors.
    var isLackOfDescriptors: Bool { code == EMFILE || code == ENFILE }

    /// Whether no route leads to the address, as the system, a router or the network of the address reports.
    /// `EADDRNOTAVAIL` means that there is no local address, or no free local port. A system without an address family,
    /// such as IPv6, makes no socket for it.
    var isLackOfRoute: Bool {
        name == .socket && code == EAFNOSUPPORT
            || name == .connect && [ENETUNREACH, ENETDOWN, EHOSTUNREACH, EADDRNOTAVAIL].contains(code)
    }

    package var description: String { "\(name.rawValue): \(SystemCalls.text(ofError: code))" }
}
