import Foundation

/// A message as bytes.
///
/// ```
///  0       4       6       8
/// ┌───────┬───────┬───────┬───────────────┐
/// │ length│ kind  │ number│ payload, JSON │
/// │ of the│       │ of de-│               │
/// │ pay-  │       │ scrip-│               │
/// │ load  │       │ tors  │               │
/// └───────┴───────┴───────┴───────────────┘
/// ```
///
/// Numbers have the most significant byte first. The descriptors go with the message's first byte.
package struct MessageFrame: Sendable {
    package let bytes: [UInt8]
    package let descriptorCount: Int

    /// - Throws: ``WireError/messageTooLong(kind:length:)``, ``WireError/tooManyDescriptors(_:)``, or
    ///   ``WireError/malformed(kind:)`` where the message cannot be written.
    package init(_ message: TransferMessage, descriptorCount: Int = 0) throws(WireError) {
        let kind = message.kind
        guard let payload = try? MessagePayload.encode(message) else { throw .malformed(kind: kind.rawValue) }
        try self.init(kind: kind.rawValue, payload: payload, descriptorCount: descriptorCount)
    }

    /// A message of any kind.
    package init(kind: UInt16, payload: some Collection<UInt8>, descriptorCount: Int = 0) throws(WireError) {
        let count = payload.count
        guard count <= MessageKind.limit(ofKind: kind), let length = UInt32(exactly: count) else {
            throw .messageTooLong(kind: kind, length: count)
        }
        guard descriptorCount <= WireLimits.descriptors, let descriptors = UInt16(exactly: descriptorCount) else {
            throw .tooManyDescriptors(descriptorCount)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(WireLimits.header + count)
        withUnsafeBytes(of: length.bigEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: kind.bigEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: descriptors.bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: payload)
        self.bytes = bytes
        self.descriptorCount = descriptorCount
    }
}
