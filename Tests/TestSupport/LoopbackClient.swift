import LoadingKitLoopbackServer

/// A blocking client with no HTTP in it, to test servers without the library under test. Used by one thread at a time.
package final class LoopbackClient {
    private let socket: StreamSocket
    private var unread: ArraySlice<UInt8> = []

    /// The result of the TLS handshake; nil for a plain connection.
    package var tls: TLSFacts? { socket.tlsFacts }

    package var receivedCloseNotify: Bool { socket.receivedCloseNotify }

    package init(_ address: LoopbackAddress) throws {
        socket = try StreamSocket(connectingTo: address)
    }

    /// Connects with TLS.
    package convenience init(
        _ address: LoopbackAddress, tls context: TLSClientContext, serverName: String? = "localhost"
    ) throws {
        try self.init(address)
        try startTLS(context, serverName: serverName)
    }

    package func startTLS(_ context: TLSClientContext, serverName: String? = "localhost") throws {
        try socket.startTLS(context, serverName: serverName)
    }

    package func send(_ text: String) throws { try socket.write(Array(text.utf8)) }

    package func send(_ bytes: [UInt8]) throws { try socket.write(bytes) }

    /// Returns the bytes up to the end of this text; fewer when the server ends the connection first.
    package func receive(through end: String) throws -> String {
        let end = Array(end.utf8)
        var text: [UInt8] = []
        while !text.suffix(end.count).elementsEqual(end) {
            guard let byte = try receive(1).first else { break }
            text.append(byte)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns `count` bytes; fewer when the server ends the connection first.
    package func receive(_ count: Int) throws -> [UInt8] {
        while unread.count < count {
            let bytes = try socket.read()
            if bytes.isEmpty { break }
            unread += bytes
        }
        defer { unread = unread.dropFirst(count) }
        return Array(unread.prefix(count))
    }

    /// Returns all bytes up to the end of the connection.
    package func receiveAll() throws -> String {
        while true {
            let bytes = try socket.read()
            if bytes.isEmpty { break }
            unread += bytes
        }
        defer { unread = [] }
        return String(decoding: unread, as: UTF8.self)
    }

    package func halfClose() { socket.halfClose() }

    package func close() { socket.close() }

    package func reset() { socket.reset() }
}
