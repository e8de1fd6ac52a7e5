import CLoadingKitShims
import Foundation
import LoadingKitPrimitives

/// Every system call of the transport, in one place, where a test can make the n-th one fail.
///
/// Each gives the call's result, or the negative of `errno`; a call that a signal interrupted is made again.
package enum SystemCalls {
    static func socket(_ domain: Int32, _ type: Int32) -> Int {
        let flags = Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        return call(.socket) { Int(Glibc.socket(domain, type | flags, 0)) }
    }

    static func connect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int {
        call(.connect) { Int(Glibc.connect(descriptor, address, length)) }
    }

    static func receive(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer, flags: Int32 = 0) -> Int {
        guard FaultPlan.isAnyActive else {
            return plain { Glibc.recv(descriptor, buffer.baseAddress, buffer.count, flags) }
        }
        let limit = FaultPlan.limit(of: .receive, buffer.count)
        return call(.receive) { Glibc.recv(descriptor, buffer.baseAddress, limit, flags) }
    }

    static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        let flags = Int32(MSG_NOSIGNAL)
        guard FaultPlan.isAnyActive else {
            return plain { Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags) }
        }
        let limit = FaultPlan.limit(of: .send, bytes.count)
        return call(.send) { Glibc.send(descriptor, bytes.baseAddress, limit, flags) }
    }

    /// Two pieces by one call.
    static func send(_ descriptor: Int32, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
        // Short writes are injected in the first piece alone: then the second is not sent at all.
        if FaultPlan.isAnyActive, FaultPlan.limit(of: .send, first.count) < first.count {
            return send(descriptor, first)
        }
        return withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { pieces in
            pieces.initializeElement(
                at: 0, to: iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count))
            pieces.initializeElement(
                at: 1, to: iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count)
            )
            var message = msghdr()
            message.msg_iov = pieces.baseAddress
            message.msg_iovlen = 2
            return call(.send) { Glibc.sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL)) }
        }
    }

    static func shutdownWriting(_ descriptor: Int32) { _ = Glibc.shutdown(descriptor, Int32(SHUT_WR)) }

    /// Not made again when interrupted: on Linux the descriptor is gone all the same.
    static func close(_ descriptor: Int32) { _ = Glibc.close(descriptor) }

    /// The error that a non-blocking connect ended with; 0 for none.
    static func socketError(_ descriptor: Int32) -> Int32 {
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 else { return errno }
        return error
    }

    static func setOption(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        _ = setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// The address of this end or the other; nil when there is none.
    static func name(of descriptor: Int32, isPeer: Bool) -> SocketAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutableBytes(of: &storage) { bytes -> Int32 in
            guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
            return isPeer ? getpeername(descriptor, address, &length) : getsockname(descriptor, address, &length)
        }
        return result == 0 ? SocketAddress(storage, length: length) : nil
    }

    static func makeEpoll() -> Int { call(.epollCreate) { Int(epoll_create1(Int32(bitPattern: 0o2000000))) } }

    static func makeEvent() -> Int { call(.eventCreate) { Int(eventfd(0, Int32(bitPattern: 0o2004000))) } }

    static func epollAdd(_ epoll: Int32, _ descriptor: Int32, events: UInt32, key: UInt64) -> Int {
        var event = epoll_event(events: events, data: epoll_data_t(u64: key))
        return call(.epollControl) { Int(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)) }
    }

    static func epollWait(_ epoll: Int32, _ events: UnsafeMutableBufferPointer<epoll_event>, timeout: Int32) -> Int {
        // An interruption is not retried: the loop computes its timeout anew.
        let count = Int(epoll_wait(epoll, events.baseAddress, Int32(clamping: events.count), timeout))
        return count < 0 ? Int(-errno) : count
    }

    static func signalEvent(_ descriptor: Int32) {
        var one: UInt64 = 1
        _ = Glibc.write(descriptor, &one, 8)
    }

    static func clearEvent(_ descriptor: Int32) {
        var count: UInt64 = 0
        _ = Glibc.read(descriptor, &count, 8)
    }

    static func monotonicTime() -> MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    // MARK: Files

    package static func openForReading(_ path: String) -> Int {
        // Not blocking, so that a FIFO without a writer gives a descriptor to look at instead of a wait.
        call(.open) { Int(Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) }
    }

    package static func openForAppending(_ path: String, mode: mode_t) -> Int {
        call(.open) { Int(Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, mode)) }
    }

    package static func status(of descriptor: Int32) -> stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }

    package static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        let limit = FaultPlan.isAnyActive ? FaultPlan.limit(of: .read, buffer.count) : buffer.count
        return call(.read) { pread(descriptor, buffer.baseAddress, limit, off_t(offset)) }
    }

    package static func closeFile(_ descriptor: Int32) { close(descriptor) }

    // MARK: Calling

    private static func call(_ name: FaultPlan.Call, _ body: () -> Int) -> Int {
        guard FaultPlan.isAnyActive else { return plain(body) }
        while true {
            let result = FaultPlan.nextError(of: name).map { Int(-$0) } ?? plainOnce(body)
            if result != Int(-EINTR) { return result }
        }
    }

    @inline(__always)
    private static func plain(_ body: () -> Int) -> Int {
        while true {
            let result = plainOnce(body)
            if result != Int(-EINTR) { return result }
        }
    }

    @inline(__always)
    private static func plainOnce(_ body: () -> Int) -> Int {
        let result = body()
        return result < 0 ? Int(-errno) : result
    }
}
