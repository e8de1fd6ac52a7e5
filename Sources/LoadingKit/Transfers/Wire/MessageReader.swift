import Foundation

/// Takes messages out of the bytes that come. It keeps what is not yet a whole message, and looks at no byte twice.
package struct MessageReader: Sendable {
    /// A message, and how many of the descriptors received are its own.
    package struct Element: Sendable {
        package let message: ReceivedMessage
        package let descriptorCount: Int
    }

    private enum State {
        case header([UInt8])
        case payload(Header, Data)
        case failed(WireError)
    }

    private struct Header {
        let length: Int
        let kind: UInt16
        let descriptorCount: Int
    }

    private var state = State.header([])
    /// Whether the peer has greeted: until then no message but a short greeting is taken.
    private var hasHello = false

    package init() {}

    /// Takes in bytes. What was complete before an error is given with the call that finds it, through `take`.
    ///
    /// - Parameter take: Called with each message.
    package mutating func receive(
        _ bytes: UnsafeRawBufferPointer, _ take: (Element) throws(WireError) -> Void
    ) throws(WireError) {
        if case .failed(let error) = state { throw error }
        do throws(WireError) {
            var rest = bytes[...]
            while let element = try next(&rest) { try take(element) }
        } catch {
            state = .failed(error)
            throw error
        }
    }

    /// How many bytes wait for the rest of their message.
    package var pendingCount: Int {
        switch state {
        case .header(let bytes): bytes.count
        case .payload(_, let bytes): WireLimits.header + bytes.count
        case .failed: 0
        }
    }

    private mutating func next(_ rest: inout Slice<UnsafeRawBufferPointer>) throws(WireError) -> Element? {
        switch state {
        case .failed(let error): throw error
        case .header(var bytes):
            state = .header([])
            let part = rest.prefix(WireLimits.header - bytes.count)
            bytes.append(contentsOf: part)
            rest = rest.dropFirst(part.count)
            guard bytes.count == WireLimits.header else {
                state = .header(bytes)
                return nil
            }
            state = .payload(try header(bytes), Data())
            return try next(&rest)
        case .payload(let header, var payload):
            // Not a copy: this is the only reference then.
            state = .header([])
            let part = rest.prefix(header.length - payload.count)
            payload.append(contentsOf: part)
            rest = rest.dropFirst(part.count)
            guard payload.count == header.length else {
                state = .payload(header, payload)
                return nil
            }
            let message = try MessagePayload.decode(payload, kind: header.kind)
            hasHello = true
            return Element(message: message, descriptorCount: header.descriptorCount)
        }
    }

    private func header(_ bytes: [UInt8]) throws(WireError) -> Header {
        let numbers = bytes.map { Int($0) }
        let length = numbers[0] << 24 | numbers[1] << 16 | numbers[2] << 8 | numbers[3]
        let kind = UInt16(numbers[4] << 8 | numbers[5])
        let descriptors = numbers[6] << 8 | numbers[7]
        if !hasHello, kind != MessageKind.hello.rawValue, kind != MessageKind.goodbye.rawValue {
            throw .noHello(kind: kind)
        }
        guard length <= MessageKind.limit(ofKind: kind) else { throw .messageTooLong(kind: kind, length: length) }
        guard descriptors <= WireLimits.descriptors else { throw .tooManyDescriptors(descriptors) }
        return Header(length: length, kind: kind, descriptorCount: descriptors)
    }
}
