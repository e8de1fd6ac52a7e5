import Foundation
import LoadingKitHAR
import LoadingKitInspector
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport

/// What a page in a browser does, over a connection of its own: it follows the events, and sends actions.
final class PageClient: Sendable {
    let inspector: Inspector
    private let messages = Recorder<JSONValue>()
    private let stream: LoopbackClient

    private var port: UInt16 { UInt16(URLComponents(string: inspector.address)?.port ?? 0) }
    private var token: String { URLComponents(string: inspector.address)?.queryItems?.first?.value ?? "" }

    init(_ inspector: Inspector) throws {
        self.inspector = inspector
        let components = URLComponents(string: inspector.address)
        stream = try LoopbackClient(.ipv4(port: UInt16(components?.port ?? 0)))
        try stream.send(
            "GET /events?token=\(components?.queryItems?.first?.value ?? "") HTTP/1.1\r\n"
                + "Host: 127.0.0.1:\(components?.port ?? 0)\r\n\r\n")
        let (stream, messages) = (LoopTransferBox(stream), messages)
        Thread.detachNewThread {
            while let line = try? stream.value.receive(through: "\n"), !line.isEmpty {
                guard line.hasPrefix("data: "), let value = try? JSONValue(parsing: line.dropFirst(6).utf8) else {
                    continue
                }
                messages.append(value)
            }
        }
    }
}
