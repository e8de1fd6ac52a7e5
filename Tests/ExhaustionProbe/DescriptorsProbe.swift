import Foundation
import LoadingKit

/// May have 64 descriptors, and loads from a server in another process, which has its own.
struct DescriptorsProbe {
    private static let limit = 64
    private static let origins = 1000
    private static let slowLoads = 10
    private let port: String
    private let session: URLSession

    init(port: String) {
        Limit.descriptors(Self.limit)
        self.port = port
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.httpMaximumConnectionsPerHost = Self.slowLoads
        session = URLSession(configuration: configuration)
    }

    /// On the session's own thread: libdispatch, whose threads tasks have elsewhere, looks at these once a second, and ends the
    /// process where it has no descriptor for that.
    func run() async { await withTaskExecutorPreference(session.executor) { await load() } }

    private func load() async {
        var results: [String: Int] = [:]
        for number in 0..<Self.origins { results[await text("host\(number)", "/"), default: 0] += 1 }
        for result in results { say("in turn \(result.value) times \(result.key)") }

        // Others have all descriptors that are left; there are idle connections.
        var files = Descriptors()
        files.takeAll()
        say("beside files \(await text("another", "/"))")

        let slow = (0..<Self.slowLoads).map { _ in
            Task(executorPreference: session.executor) { await text("slow", "/slow") }
        }
        while await text("slow-count", "/count") != "\(Self.slowLoads)" {}
        files.takeAll()
        // More than there are descriptors, even when all that is idle was closed.
        let (failures, continuation) = AsyncStream.makeStream(of: String.self)
        let others = (0..<Self.limit).map { number in
            Task(executorPreference: session.executor) {
                let result = await text("busy\(number)", "/slow")
                if result != "slow" { continuation.yield(result) }
            }
        }
        for await failure in failures {
            say("all in use \(failure)")
            break
        }
        for load in others { load.cancel() }
        for load in others { await load.value }
        files.giveBack()
        say("released \(await text("afterwards", "/release"))")
        results = [:]
        for load in slow { results[await load.value, default: 0] += 1 }
        for result in results { say("slow \(result.value) times \(result.key)") }
        say("afterwards \(await text("afterwards", "/"))")
    }

    private func text(_ host: String, _ path: String) async -> String {
        do {
            guard let url = URL(string: "http://\(host).localhost:\(port)\(path)") else { return "no URL" }
            return String(decoding: try await session.data(from: url).0, as: UTF8.self)
        } catch {
            return Loads.text(error)
        }
    }
}

/// Descriptors that the probe takes from itself.
private struct Descriptors {
    private var taken: [Int32] = []

    mutating func takeAll() {
        while true {
            let descriptor = open("/dev/null", O_RDONLY)
            guard descriptor >= 0 else { return }
            taken.append(descriptor)
        }
    }

    mutating func giveBack() {
        for descriptor in taken { close(descriptor) }
        taken = []
    }
}
