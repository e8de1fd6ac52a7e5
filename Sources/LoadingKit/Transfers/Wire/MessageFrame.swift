import Foundation
import LoadingKitPersistence

/// A message in its encoded form.
///
/// ```
///  0               4               8
/// ┌───────────────┬───────────────┬───────────────┐
/// │ length of the │ number of     │ payload, JSON │
/// │ payload       │ descriptors   │               │
/// └───────────────┴───────────────┴───────────────┘
/// ```
///
/// Numbers are in network byte order. The descriptors are sent with the message's first byte.
package struct MessageFrame: Sendable {
    package let bytes: [UInt8]

    /// - Throws: ``WireError/messageTooLong(_:)``, ``WireError/tooManyDescriptors(_:)``, or ``WireError/malformed``
    ///   where the message cannot be encoded.
    package init(_ message: TransferMessage, descriptorCount: Int = 0) throws(WireError) {
        let encoder = TransferJSON.makeEncoder()
        // Makes the encoding deterministic: equal messages have equal bytes.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let payload = try? encoder.encode(message) else { throw .malformed }
        try self.init(payload: payload, descriptorCount: descriptorCount)
    }

    /// A frame for the payload of a message of any version.
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

/// The limits of messages between programs and the daemon. Lengths are in bytes.
package enum WireLimits {
    /// The header: the payload's length and the number of descriptors.
    package static let header = 8
    /// The limit of a greeting or a farewell, the only messages that a peer may send before it has greeted.
    package static let greeting = 64 << 10
    /// The limit of any other message. A message with a transfer may hold a request body of 64 MiB, which base 64
    /// makes a third longer.
    package static let message = 88 << 20
    package static let descriptors = 4
}
