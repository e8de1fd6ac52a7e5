import Foundation

/// Takes messages out of the bytes that come, and keeps what is not yet a whole message.
package struct MessageReader: Sendable {
    /// A message, and how many of the descriptors received are its own.
    package struct Element: Sendable {
        package let message: ReceivedMessage
        package let descriptorCount: Int
    }

    /// Of a message that is not yet whole.
    private var pending = Data()
    /// Whether the peer has greeted: until then no message but a short greeting is taken.
    private var hasHello = false
    private var failure: WireError?

    package init() {}

    /// How many bytes wait for the rest of their message.
    package var pendingCount: Int { pending.count }

    /// Gives the messages that are whole with these bytes, and the error that follows them. After an error nothing is taken.
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

    /// Whether there are so many bytes then.
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

/// What was received: a message, or one that a later version has.
package enum ReceivedMessage: Sendable {
    case message(TransferMessage)
    /// A message, a command or an event that is not known. With a number where the peer waits for an answer.
    case unknown(number: UInt64?)

    /// What each version's messages have in common: one name, and perhaps a number.
    private struct Content: Decodable { var number: UInt64? }

    /// Keys that are not known are passed over.
    fileprivate init(_ payload: Data) throws(WireError) {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        if let message = try? decoder.decode(TransferMessage.self, from: payload) {
            self = .message(message)
        } else if let contents = try? decoder.decode([String: Content].self, from: payload), contents.count == 1 {
            self = .unknown(number: contents.first?.value.number)
        } else {
            throw .malformed
        }
    }
}
