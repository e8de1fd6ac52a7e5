import Foundation
import LoadingKit

extension MemHandler {
    /// Stores the request's body: PUT makes or replaces the entry, POST appends to it.
    func write(_ name: String, _ load: LoadContext) async throws {
        var body = Data()
        let expected = load.body.count.map(Int64.init) ?? -1
        for try await piece in load.body {
            guard piece.count <= store.capacity - body.count else { throw MemError.noRoom(capacity: store.capacity) }
            body += piece
            load.report(progress: piece.count, expected: expected)
        }
        let type = load.request.value(forHTTPHeaderField: "Content-Type") ?? "application/octet-stream"
        let isNew = try store.write(body, to: name, type: type, appending: load.request.httpMethod == "POST")
        try await load.answer(isNew ? 201 : 200)
    }
}
