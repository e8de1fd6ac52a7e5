import CLoadingKitOpenSSL
import LoadingKitTransport

/// A failed call of OpenSSL, with the contents of its error queue.
public struct OpenSSLError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The failed operation, such as "signing a certificate".
    public var operation: String
    /// The library's reasons, oldest first.
    public var reasons: [String]

    /// The operation and the reasons, on one line.
    public var description: String {
        reasons.isEmpty ? "\(operation) failed" : "\(operation) failed: \(reasons.joined(separator: "; "))"
    }

    /// - Parameter reason: by default those of this thread's error queue, from which they are removed.
    package init(_ operation: String, reason: String? = nil) {
        self.operation = operation
        reasons = reason.map { [$0] } ?? Self.drainQueue()
    }

    private static func drainQueue() -> [String] {
        var reasons: [String] = []
        while true {
            let code = ERR_get_error()
            if code == 0 { return reasons }
            var text = [CChar](repeating: 0, count: 256)
            ERR_error_string_n(code, &text, text.count)
            reasons.append(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        }
    }
}

/// Returns the pointer; throws an error with the operation's name where it is nil.
package func required<T>(_ pointer: T?, _ operation: @autoclosure () -> String) throws(OpenSSLError) -> T {
    guard let pointer else { throw OpenSSLError(operation()) }
    return pointer
}

/// Checks a result by OpenSSL's convention: any value below 1 is a failure.
package func check(_ result: Int32, _ operation: @autoclosure () -> String) throws(OpenSSLError) {
    guard result > 0 else { throw OpenSSLError(operation()) }
}

/// The bytes that one of OpenSSL's encoding functions returns, which are freed.
package func derBytes(
    _ name: String, _ encode: (inout UnsafeMutablePointer<UInt8>?) -> Int32
) throws(OpenSSLError) -> [UInt8] {
    try required(OpenSSLValues.der(encode), "encoding \(name)")
}
