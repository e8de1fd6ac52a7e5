import Foundation

/// A message as bytes.
///
/// ```
///  0               4               8
/// ┌───────────────┬───────────────┬───────────────┐
/// │ length of the │ number of     │ payload, JSON │
/// │ payload       │ descriptors   │               │
/// └───────────────┴───────────────┴───────────────┘
/// ```
///
/// Numbers have the most significant byte first. The descriptors go with the message's first byte.
package struct MessageFrame: Sendable {
    package let bytes: [UInt8]

    /// - Throws: ``WireError/messageTooLong(_:)``, ``WireError/tooManyDescriptors(_:)``, or ``WireError/malformed`` where the
    ///   message cannot be written.
    package init(_ message: TransferMessage, descriptorCount: Int = 0) throws(WireError) {
        let encoder = JSONEncoder()
        // The same message has the same bytes.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        guard let payload = try? encoder.encode(message) else { throw .malformed }
        try self.init(payload: payload, descriptorCount: descriptorCount)
    }

    /// A message of any version.
    package init(payload: some Collection<UInt8>, descriptorCount: Int = 0) throws(WireError) {
        let count = payload.count
        guard count <= WireLimits.message, let length = UInt32(exactly: count) else { throw .messageTooLong(count) }
        guard descriptorCount <= WireLimits.descriptors, let descriptors = UInt32(exactly: descriptorCount) else {
            throw .tooManyDescriptors(descriptorCount)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(WireLimits.header + count)
        for number in [length, descriptors] { withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) } }
        bytes.append(contentsOf: payload)
        self.bytes = bytes
    }
}

/// How long messages between programs and the daemon may be, in bytes.
package enum WireLimits {
    /// Length, and number of descriptors.
    package static let header = 8
    /// A greeting or a farewell. It is what an unknown peer may send first.
    package static let greeting = 64 << 10
    /// Any other message. One with a transfer may hold a request's body of 64 MiB, which is a third longer in base 64.
    package static let message = 88 << 20
    /// So many descriptors go with a message at most.
    package static let descriptors = 4
}
