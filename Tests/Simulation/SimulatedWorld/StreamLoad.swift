import CSimulatedSystem
import Foundation
import LoadingKit

/// A request over a stream task, written by hand, and its response up to the connection's end.
struct StreamLoad: Sendable {
    private static let timeout = 30.0
    /// What may come of a stream whose network is not reliable.
    private static let failures: Set<URLError.Code> = [
        .timedOut, .networkConnectionLost, .cannotConnectToHost, .secureConnectionFailed, .notConnectedToInternet,
        .cannotFindHost, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
    ]

    private let resource: Resource
    private let url: URL
    private let network: Network
    private let ledger: Ledger
    /// Whether the program may cancel it.
    private let disturbs: Bool

    init(_ resource: Resource, _ url: URL, _ network: Network, _ ledger: Ledger, disturbs: Bool = true) {
        (self.resource, self.url, self.network, self.ledger) = (resource, url, network, ledger)
        self.disturbs = disturbs
    }

    func run(_ session: URLSession) async {
        guard let host = url.host, let port = url.port else { return }
        let task = session.streamTask(withHostName: host, port: port)
        ledger.mustEnd(task, "the stream of \(resource)")
        task.resume()
        if url.scheme == "https" { task.startSecureConnection() }
        let isCancelled = disturbs && sim_random(6) == 0
        if isCancelled {
            Task { [sleep = Int(sim_random(500))] in
                try? await Task.sleep(for: .milliseconds(sleep))
                task.cancel()
            }
        }
        do {
            check(try await exchange(task, host), isWhole: network.isReliable)
        } catch let error as URLError {
            ledger.note("stream failed: \(error.code.rawValue)")
            if isCancelled, error.code == .cancelled { return }
            if network.isReliable || !Self.failures.contains(error.code) {
                ledger.violation("the stream of \(resource): \(error)")
            }
        } catch {
            ledger.violation("the stream of \(resource): \(error)")
        }
        task.cancel()
    }

    private func exchange(_ task: URLSessionStreamTask, _ host: String) async throws -> [UInt8] {
        let head = "GET \(resource.path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n"
        // Reads and writes wait for each other's turn only in their own direction.
        async let written: Void = task.write(Data(head.utf8), timeout: Self.timeout)
        var (bytes, isAtEnd) = ([UInt8](), false)
        while !isAtEnd {
            let (data, isLast) = try await task.readData(
                ofMinLength: 1 + Int(sim_random(100)), maxLength: 65_536, timeout: Self.timeout)
            bytes += data ?? Data()
            isAtEnd = isLast
        }
        try await written
        return bytes
    }

    /// - Parameter isWhole: Whether nothing may be missing at the end.
    private func check(_ bytes: [UInt8], isWhole: Bool) {
        ledger.note("streams ended")
        // The server has seen a part of the request.
        if !isWhole, bytes.starts(with: Array("HTTP/1.1 400".utf8)) { return }
        let end = Array("\r\n\r\n".utf8)
        let body = bytes.firstRange(of: end).map { Array(bytes[$0.upperBound...]) } ?? []
        let expected = resource.body()
        if isWhole ? body != expected : !expected.starts(with: body) {
            ledger.violation("the stream of \(resource): \(body.count) bytes are not its \(expected.count)")
        }
    }
}
