import CLoadingKitShims
import Foundation

/// Bytes and descriptors over a socket that blocks.
enum PlainSocket {
    static func send(_ socket: Int32, _ bytes: UnsafeRawBufferPointer, _ descriptors: [Int32]) -> Int {
        var sent = 0
        while sent < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
            // Not the library's function, which sends few descriptors.
            let result = SentMessage.send(socket, rest, sent == 0 ? descriptors : [])
            guard result > 0 else { return sent }
            sent += result
        }
        return sent
    }

    static func receive(_ socket: Int32) -> (bytes: [UInt8], descriptors: [Int32]) {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        var descriptors = [Int32](repeating: -1, count: Int(LK_MAXIMUM_DESCRIPTORS))
        var count = 0
        let result = lk_receive_with_descriptors(socket, &bytes, bytes.count, &descriptors, &count)
        return (Array(bytes.prefix(max(result, 0))), Array(descriptors.prefix(count)))
    }
}

/// `sendmsg` with any number of descriptors.
private enum SentMessage {
    /// The control message as the kernel wants it on a 64-bit system: length, level, type, and the descriptors.
    static func send(_ socket: Int32, _ bytes: UnsafeRawBufferPointer, _ descriptors: [Int32]) -> Int {
        let headerLength = MemoryLayout<cmsghdr>.size
        let length = headerLength + descriptors.count * 4
        var control = [UInt8](repeating: 0, count: (length + 7) & ~7)
        var header = cmsghdr()
        header.cmsg_len = length
        header.cmsg_level = SOL_SOCKET
        header.cmsg_type = 1  // SCM_RIGHTS
        withUnsafeBytes(of: header) { control.replaceSubrange(0..<headerLength, with: $0) }
        descriptors.withUnsafeBytes { control.replaceSubrange(headerLength..<length, with: $0) }
        return control.withUnsafeMutableBytes { control in
            var vector = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
            return withUnsafeMutablePointer(to: &vector) { vector in
                var message = msghdr()
                message.msg_iov = vector
                message.msg_iovlen = 1
                if !descriptors.isEmpty {
                    message.msg_control = control.baseAddress
                    message.msg_controllen = control.count
                }
                return sendmsg(socket, &message, Int32(MSG_NOSIGNAL))
            }
        }
    }
}

/// This process's descriptors of files whose paths contain something.
enum DescriptorList {
    static func named(_ text: String) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.count { name in
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            return path?.contains(text.replacing(" ", with: "-")) ?? false
        }
    }
}
