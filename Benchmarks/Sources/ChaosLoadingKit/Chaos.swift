import Foundation
import LoadingKit

/// Loads that are reset, stalled, cancelled, downloaded or broken off, or plain ones; Scripts/chaos.py serves them.
struct Chaos: Sendable {
    /// One of several sessions at a time is replaced after so many loads.
    private static let loadsOfASession = 1000
    private static let atATime = 64

    let base: URL
    let count: Int
    let isPlain: Bool

    /// Makes all loads, and lets go of all sessions.
    func run() async {
        var done = 0
        while done < count {
            let loads = min(Self.loadsOfASession, count - done)
            let session = URLSession(configuration: configuration)
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<loads {
                    if number >= Self.atATime { await group.next() }
                    let index = done + number
                    group.addTask { await self.load(index, session) }
                }
            }
            session.invalidateAndCancel()
            done += loads
        }
    }

    private var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.httpMaximumConnectionsPerHost = Self.atATime
        return configuration
    }

    private func load(_ index: Int, _ session: URLSession) async {
        // The same loads in each run; neighbours differ.
        var random = UInt64(truncatingIfNeeded: index &+ 1) &* 0x9E37_79B9_7F4A_7C15
        random ^= random >> 29
        let size = 1 << (6 + random % 15)
        do {
            switch isPlain ? 0 : index % 8 {
            case 0: _ = try await session.data(from: url("bytes/\(isPlain ? 1024 : size)"))
            case 1: _ = try await session.data(from: url("reset/0"))
            case 2: _ = try await session.data(from: url("reset/\(size)"))
            case 3: try await cancel(session, url("stall/\(size)"), after: random % 20)
            case 4: try await cancel(session, url("bytes/\(size)"), after: random % 3)
            case 5: try FileManager.default.removeItem(at: try await session.download(from: url("bytes/\(size)")).0)
            case 6:
                var left = size / 2
                for try await _ in try await session.bytes(from: url("bytes/\(size)")).0 {
                    left -= 1
                    if left <= 0 { break }
                }
            default:
                var request = URLRequest(url: url("bytes/100"))
                request.httpMethod = "POST"
                request.httpBody = Data(count: size)
                _ = try await session.data(for: request)
            }
        } catch {
            // What fails is a part of it.
        }
    }

    private func cancel(_ session: URLSession, _ url: URL, after milliseconds: UInt64) async throws {
        let load = Task { _ = try? await session.data(from: url) }
        try await Task.sleep(for: .milliseconds(milliseconds))
        load.cancel()
        await load.value
    }

    private func url(_ path: String) -> URL { base.appendingPathComponent(path) }
}
