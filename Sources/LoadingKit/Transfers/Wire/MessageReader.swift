import Foundation
import LoadingKitPersistence

/// Reads messages from the received bytes, and keeps the bytes of an incomplete message.
package struct MessageReader: Sendable {
    /// A message, and the number of received descriptors that belong to it.
    package struct Element: Sendable {
        package let message: ReceivedMessage
        package let descriptorCount: Int
    }

    /// The received bytes of an incomplete message.
    private var pending = Data()
    /// Whether the peer has sent its greeting. Until then only a greeting of limited length is accepted.
    private var hasHello = false
    private var failure: WireError?

    package init() {}

    /// The number of received bytes of an incomplete message.
    package var pendingCount: Int { pending.count }

    /// Returns the messages that these bytes complete, and the error that follows them, which is final.
    package mutating func receive(_ bytes: UnsafeRawBufferPointer) -> (messages: [Element], failure: WireError?) {
        var messages: [Element] = []
        guard failure == nil else { return ([], failure) }
        do throws(WireError) {
            var rest = bytes[...]
            while let message = try next(&rest) { messages.append(message) }
        } catch {
            (failure, pending) = (error, Data())
        }
        return (messages, failure)
    }

    private mutating func next(_ rest: inout Slice<UnsafeRawBufferPointer>) throws(WireError) -> Element? {
        guard fill(to: WireLimits.header, &rest) else { return nil }
        let (length, descriptorCount) = (number(at: 0), number(at: 4))
        guard length <= (hasHello ? WireLimits.message : WireLimits.greeting) else { throw .messageTooLong(length) }
        guard descriptorCount <= WireLimits.descriptors else { throw .tooManyDescriptors(descriptorCount) }
        guard fill(to: WireLimits.header + length, &rest) else { return nil }
        let message = try ReceivedMessage(pending.dropFirst(WireLimits.header))
        pending = Data()
        if !hasHello {
            switch message {
            case .message(.hello), .message(.goodbye): hasHello = true
            case .message, .unknown: throw .noHello
            }
        }
        return Element(message: message, descriptorCount: descriptorCount)
    }

    /// Fills `pending` up to `count` bytes. Returns whether it has that many bytes then.
    private mutating func fill(to count: Int, _ rest: inout Slice<UnsafeRawBufferPointer>) -> Bool {
        let part = rest.prefix(max(count - pending.count, 0))
        pending.append(contentsOf: part)
        rest = rest.dropFirst(part.count)
        return pending.count >= count
    }

    private func number(at offset: Int) -> Int {
        pending.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }
}

/// A received message, which may be one that only a later version defines.
package enum ReceivedMessage: Sendable {
    case message(TransferMessage)
    /// An unknown message, command or event. It has a number where the peer waits for an answer.
    case unknown(number: UInt64?)

    /// The common structure of all versions' messages: one name, and an optional number.
    private struct Content: Decodable { var number: UInt64? }

    /// Ignores unknown keys.
    fileprivate init(_ payload: Data) throws(WireError) {
        let decoder = TransferJSON.makeDecoder()
        if let message = try? decoder.decode(TransferMessage.self, from: payload) {
            self = .message(message)
        } else if let contents = try? decoder.decode([String: Content].self, from: payload), contents.count == 1 {
            self = .unknown(number: contents.first?.value.number)
        } else {
            throw .malformed
        }
    }
}
