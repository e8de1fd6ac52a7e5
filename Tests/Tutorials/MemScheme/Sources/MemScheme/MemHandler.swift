import Foundation
import LoadingKit

extension URLSessionConfiguration {
    /// Has the sessions that are made of this configuration from now on load `mem:` URLs from a store.
    public func addMem(_ store: MemStore) {
        register(scheme: "mem", loading: MemHandler(store: store).load)
    }
}

/// Loads `mem:NAME`.
struct MemHandler: Sendable {
    let store: MemStore

    /// Loads a request. The load is complete when the function returns, and fails with the error that it throws.
    func load(_ load: LoadContext) async throws {
        guard let parts = URLComponents(url: load.url, resolvingAgainstBaseURL: true), parts.host == nil,
            !parts.path.isEmpty
        else { throw MemError.nameMissing(load.url) }
        let name = parts.path
        switch load.request.httpMethod ?? "GET" {
        case "GET", "HEAD": try await read(name, load)
        case "PUT", "POST": try await write(name, load)
        default: try await load.answer(405, ["Allow": "GET, HEAD, PUT, POST"])
        }
    }

    private func read(_ name: String, _ load: LoadContext) async throws {
        if store.folder != nil, store[name] == nil { try await load.offLoop { try store.restore(name) } }
        guard let entry = store[name] else { return try await load.answer(404) }
        let fields = [
            "Accept-Ranges": "bytes",
            "ETag": entry.tag,
            "Content-Type": entry.type,
        ]
        switch RequestedPart(of: entry, by: load.request) {
        case .whole: break
        case .part(let range):
            let place = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(entry.data.count)"
            let part = entry.data.dropFirst(range.lowerBound).prefix(range.count)
            return try await load.answer(206, fields.merging(["Content-Range": place]) { $1 }, part)
        case .unsatisfiable:
            return try await load.answer(416, ["Content-Range": "bytes */\(entry.data.count)"])
        }
        try await load.answer(200, fields, entry.data)
    }
}

extension LoadContext {
    /// Gives the session a response, and then its body.
    func answer(_ status: Int, _ fields: [String: String] = [:], _ body: Data = Data()) async throws {
        let fields = fields.merging(["Content-Length": "\(body.count)"]) { $1 }
        guard let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields)
        else { throw URLError(.badServerResponse) }
        try await receive(response)
        guard request.httpMethod != "HEAD" else { return }
        // In pieces: `receive` waits while the program is behind, and throws when the load was cancelled.
        var rest = body
        while !rest.isEmpty {
            try await receive(rest.prefix(65_536))
            rest = rest.dropFirst(65_536)
        }
    }
}
