import CLoadingKitShims
import Glibc

// The calls for sockets between processes of one machine.
extension SystemCalls {
    static func bind(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int {
        call(.bind) { Int(Glibc.bind(descriptor, address, length)) }
    }

    static func listen(_ descriptor: Int32, backlog: Int32) -> Int {
        call(.listen) { Int(Glibc.listen(descriptor, backlog)) }
    }

    /// The next connection, nonblocking and closed on exec.
    static func accept(_ listener: Int32) -> Int { call(.accept) { Int(lk_accept(listener)) } }

    /// Sends bytes, and descriptors with the first of them. Never raises SIGPIPE.
    static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, with descriptors: [Int32]) -> Int {
        transfer(.sendmsg, bytes.count) {
            lk_send_with_descriptors(descriptor, bytes.baseAddress, $0, descriptors, descriptors.count)
        }
    }

    /// Receives bytes, and the descriptors that were sent with them.
    static func receive(
        _ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer, descriptors: inout [Int32]
    ) -> Int {
        var numbers = [Int32](repeating: -1, count: Int(LK_MAXIMUM_DESCRIPTORS))
        var count = 0
        let result = transfer(.recvmsg, buffer.count) {
            lk_receive_with_descriptors(descriptor, buffer.baseAddress, $0, &numbers, &count)
        }
        descriptors = result < 0 ? [] : Array(numbers.prefix(count))
        return result
    }

    /// The user of the process at the other end; nil where it is not known.
    static func peerUser(_ descriptor: Int32) -> UInt32? {
        var (user, process) = (UInt32(0), Int32(0))
        return call(.getsockopt) { Int(lk_peer_credentials(descriptor, &user, &process)) } >= 0 ? user : nil
    }

    /// Makes a descriptor from another process nonblocking and closed on exec.
    static func adopt(_ descriptor: Int32) -> Int {
        let result = call(.fcntl) { Int(Glibc.fcntl(descriptor, F_SETFD, FD_CLOEXEC)) }
        guard result >= 0 else { return result }
        return call(.fcntl) { Int(Glibc.fcntl(descriptor, F_SETFL, O_RDWR | O_NONBLOCK)) }
    }

    /// A pipe whose ends are closed on exec.
    package static func pipe(reading: inout Int32, writing: inout Int32) -> Int {
        call(.pipe) { Int(lk_pipe(&reading, &writing)) }
    }

    package static func changeMode(_ path: String, _ mode: UInt32) -> Int {
        call(.chmod) { Int(Glibc.chmod(path, mode)) }
    }

    package static func changeMode(_ descriptor: Int32, _ mode: UInt32) -> Int {
        call(.chmod) { Int(Glibc.fchmod(descriptor, mode)) }
    }
}
