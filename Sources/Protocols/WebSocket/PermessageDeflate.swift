/// The compression of both sides' messages, as negotiated in a handshake (RFC 7692 §7).
public struct PermessageDeflate: Sendable, Hashable {
    /// The compression of one side.
    public struct Direction: Sendable, Hashable {
        /// Whether a message may refer to the contents of earlier messages.
        public var takesContextOver = true
        /// The size of the window for such references: 2 to this power, in bytes; 8 to 15.
        public var windowBits = 15

        /// With context takeover, over 32 KiB.
        public init() {}
    }

    /// The compression of the client's messages.
    public var client = Direction()
    /// The compression of the server's messages.
    public var server = Direction()

    /// The extension without parameters.
    public init() {}

    static let name = "permessage-deflate"

    /// The client's offer: any parameters, and a smaller window if the server requires it.
    static let offer = "permessage-deflate; client_max_window_bits"

    // MARK: As a client

    /// The server's choice from the offer; nil if the server does not use compression.
    init?(response values: [String]) throws(WebSocketError) {
        guard let extensions = WebSocketExtension.list(values) else {
            throw WebSocketError(.malformedExtension("it is no list of extensions"))
        }
        guard let chosen = extensions.first else { return nil }
        if let other = extensions.first(where: { $0.name != Self.name }) {
            throw WebSocketError(.unofferedExtension(other.name))
        }
        guard extensions.count == 1 else {
            throw WebSocketError(.malformedExtension("permessage-deflate is in it more than once"))
        }
        self.init()
        guard Set(chosen.parameters.map(\.name)).count == chosen.parameters.count else {
            throw WebSocketError(.malformedExtension("a parameter is in it more than once"))
        }
        for parameter in chosen.parameters where !take(parameter, bitsMayBeLeftOut: false) {
            throw WebSocketError(.malformedExtension("the parameter \(parameter.name) is not as the RFC has it"))
        }
    }

    /// Returns false if the extension has no such parameter.
    private mutating func take(_ parameter: WebSocketExtension.Parameter, bitsMayBeLeftOut: Bool) -> Bool {
        switch (parameter.name, parameter.value) {
        case ("server_no_context_takeover", nil): server.takesContextOver = false
        case ("client_no_context_takeover", nil): client.takesContextOver = false
        case ("client_max_window_bits", nil): return bitsMayBeLeftOut
        case ("server_max_window_bits", let value?):
            guard let bits = Self.bits(value) else { return false }
            server.windowBits = bits
        case ("client_max_window_bits", let value?):
            guard let bits = Self.bits(value) else { return false }
            client.windowBits = bits
        case _: return false
        }
        return true
    }

    private static func bits(_ value: String) -> Int? {
        guard let bits = Int(value), 8...15 ~= bits, value.first != "0", value.first != "+" else { return nil }
        return bits
    }

    // MARK: As a server

    /// Accepts the first supported offer of the extension; nil if there is none.
    public init?(offers values: [String]) {
        for offer in WebSocketExtension.list(values) ?? [] where offer.name == Self.name {
            var agreed = PermessageDeflate()
            guard Set(offer.parameters.map(\.name)).count == offer.parameters.count,
                offer.parameters.allSatisfy({ agreed.take($0, bitsMayBeLeftOut: true) }),
                // zlib has no window of 2⁸ bytes.
                agreed.server.windowBits > 8
            else { continue }
            self = agreed
            return
        }
        return nil
    }

    /// The extension in the server's response.
    public var fieldValue: String {
        var text = Self.name
        if !server.takesContextOver { text += "; server_no_context_takeover" }
        if !client.takesContextOver { text += "; client_no_context_takeover" }
        if server.windowBits < 15 { text += "; server_max_window_bits=\(server.windowBits)" }
        if client.windowBits < 15 { text += "; client_max_window_bits=\(client.windowBits)" }
        return text
    }
}
