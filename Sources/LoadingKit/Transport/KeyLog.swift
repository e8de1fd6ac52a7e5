import Foundation

/// Writes TLS secrets to the file that SSLKEYLOGFILE names, for those who look at the traffic of their own programs.
enum KeyLog {
    private static let descriptor: Int32 = {
        guard let path = ProcessInfo.processInfo.environment["SSLKEYLOGFILE"], !path.isEmpty else { return -1 }
        return Int32(clamping: SystemCalls.openForAppending(path, mode: 0o600))
    }()

    static var isWanted: Bool { descriptor >= 0 }

    /// A line is one write to a file opened for appending, so that those of several processes do not mix.
    static let write: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?) -> Void = { _, line in
        guard let line else { return }
        let text = Array(String(cString: line).utf8) + [UInt8(ascii: "\n")]
        _ = text.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }
}
