import Dispatch
import Foundation
import LoadingKit
import LoadingKitLoopbackServer

extension ServerRequest {
    var hasBody: Bool {
        fields.contains(name: "Transfer-Encoding") || (fields[name: "Content-Length"] ?? "0") != "0"
    }
}

extension URLRequest {
    /// The same request to another server; nil where its target is no path. Redirects are the client's.
    init?(forwarding request: ServerRequest, to upstream: URL) {
        let base = upstream.absoluteString
        guard request.target.hasPrefix("/"),
            let url = URL(string: base + request.target.dropFirst(base.hasSuffix("/") ? 1 : 0))
        else { return nil }
        self.init(url: url)
        httpMethod = request.method
        headerFields = forwardable(request.fields.map { ($0.name, $0.value) }, without: ["host", "expect"])
        if value(forHTTPHeaderField: "Accept-Encoding") == nil {
            setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        }
        followsRedirects = false
    }
}

/// The fields that are not for one connection alone (RFC 9110 §7.6.1).
func forwardable(
    _ fields: [(name: String, value: String)], without others: [String]
) -> [(name: String, value: String)] {
    let named = fields.filter { $0.name.lowercased() == "connection" }.flatMap { field in
        field.value.lowercased().split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    let ofConnections = [
        "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]
    let dropped = Set(ofConnections + others + named)
    return fields.filter { !dropped.contains($0.name.lowercased()) }
}

/// Waits for asynchronous code, on a thread that may block.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let done = DispatchSemaphore(value: 0)
    let result = Box<Result<Value, any Error>?>(nil)
    Task {
        do { result.value = .success(try await body()) } catch { result.value = .failure(error) }
        done.signal()
    }
    done.wait()
    guard let value = result.value else { throw CancellationError() }
    return try value.get()
}
