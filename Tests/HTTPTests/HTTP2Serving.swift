import Foundation
import LoadingKitHTTP2
import LoadingKitLoopbackServer
import Testing

extension ConnectionAcceptor {
    /// The URL of this server at 127.0.0.1, without TLS.
    var url: URL {
        get throws { try #require(URL(string: "http://127.0.0.1:\(address.port ?? 0)/")) }
    }
}

extension StreamSocket {
    /// Serves HTTP/2 on the connection, whose windows grow by nothing but what `handle` consumes, until the client ends it.
    ///
    /// - Parameters:
    ///   - streams: the greatest number of streams at once.
    ///   - connectionWindow: the number of bytes of all bodies together that the client may send before any is consumed.
    ///   - handle: gets each event, and adds its answer's frames to the array.
    ///   - didAnswer: called when the answers to what was read are written.
    func serveHTTP2(
        streams: UInt32 = 100, connectionWindow: Int = 1 << 20,
        _ handle: (HTTP2Event, inout HTTP2ConnectionStateMachine, inout [UInt8]) throws -> Void,
        didAnswer: (inout HTTP2ConnectionStateMachine) throws -> Void = { _ in }
    ) throws {
        var settings = HTTP2Settings()
        settings.maxConcurrentStreams = streams
        var machine = HTTP2ConnectionStateMachine(role: .server, settings: settings, connectionWindow: connectionWindow)
        var output: [UInt8] = []
        machine.sendPreface(to: &output)
        try write(output)
        while true {
            let bytes = try read()
            if bytes.isEmpty { return }
            output = []
            try bytes.withUnsafeBytes { input in
                var position = 0
                while let event = try machine.receive(input, &position) { try handle(event, &machine, &output) }
            }
            machine.drainControlBytes(into: &output)
            try write(output)
            try didAnswer(&machine)
        }
    }
}
