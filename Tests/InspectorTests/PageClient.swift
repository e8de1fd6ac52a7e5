import Foundation
import LoadingKitHAR
import LoadingKitLoopbackServer
import TestSupport

/// What a page in a browser does, over connections of its own: it follows the events, and sends actions.
final class PageClient: Sendable {
    let messages = Recorder<JSONValue>()
    private let port: UInt16
    private let token: String

    /// Begins to follow the events.
    ///
    /// - Parameter address: the address of the inspector's page.
    init(_ address: String) {
        let components = URLComponents(string: address)
        port = UInt16(components?.port ?? 0)
        token = components?.queryItems?.first?.value ?? ""
        let (request, port, messages) = (request("GET", "/events"), port, messages)
        Thread.detachNewThread {
            guard let client = try? LoopbackClient(.ipv4(port: port)), (try? client.send(request)) != nil else {
                return
            }
            while let line = try? client.receive(through: "\n"), !line.isEmpty {
                if line.hasPrefix("data: "), let value = try? JSONValue(parsing: line.dropFirst(6).utf8) {
                    messages.append(value)
                }
            }
            messages.append(["type": "closed"])
        }
    }

    func request(_ method: String, _ path: String, _ fields: [String] = [], body: String = "") -> String {
        let lines = ["\(method) \(path)?token=\(token) HTTP/1.1", "Host: 127.0.0.1:\(port)"] + fields
        let length = method == "POST" ? ["Content-Length: \(body.utf8.count)"] : []
        return (lines + length).joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    /// The whole response to a request.
    func answer(to request: String) async throws -> String {
        let port = port
        return try await onThread {
            let client = try LoopbackClient(.ipv4(port: port))
            try client.send(request)
            return try client.receiveAll()
        }
    }

    /// Sends an action; the status of the answer, and its text.
    func act(_ action: JSONValue) async throws -> (status: String, text: String) {
        let answer = try await answer(
            to: request(
                "POST", "/actions", ["Content-Type: application/json", "X-Inspector: 1"], body: action.text()))
        return (String(answer.dropFirst(9).prefix(3)), answer.components(separatedBy: "\r\n\r\n").last ?? "")
    }

    /// The first message that meets the condition, also one that has come before.
    func message(where condition: @escaping @Sendable (JSONValue) -> Bool) async throws -> JSONValue {
        try await withTimeout("the inspector's message") { [messages] in
            let all = await messages.contents { $0.contains(where: condition) }
            return all.first(where: condition) ?? .null
        }
    }

    /// The identifiers of the entries that have come, in their order.
    var entries: [String] { messages.snapshot.compactMap { $0["entry"]?["_id"]?.string } }

    /// Waits for the entry with the identifier.
    func wait(forEntry id: String) async throws { _ = try await message { $0["entry"]?["_id"]?.string == id } }

    /// Waits until the connection of the events is closed.
    func waitForEnd() async throws { _ = try await message { $0["type"] == "closed" } }

    /// The first entry of a URL that has the text, in the state.
    func entry(of text: String, _ state: String = "done") async throws -> JSONValue {
        try await message { message in
            let entry = message["entry"]
            return entry?["_state"]?.string == state
                && entry?["request"]?["url"]?.string?.contains(text) == true
        }["entry"] ?? .null
    }

    func held(_ text: String, _ stage: String) async throws -> JSONValue {
        try await message { message in
            let hold = message["hold"]
            return hold?["stage"]?.string == stage && hold?["request"]?["url"]?.string?.contains(text) == true
        }["hold"] ?? .null
    }
}
