import Foundation

/// Who takes part in a scenario: an implementation, and how it is run once.
struct Contestant: Sendable {
    let implementation: String
    let run: @Sendable (Nginx) throws -> Run
}

extension Contestant {
    /// One of the clients of this package, which lie where LOADINGKIT_BENCH_CLIENTS says.
    ///
    /// - Parameter requests: how many; the slower a client, the fewer, so that all take about the same time.
    static func client(
        _ program: String, _ implementation: String, mode: String = "memory", _ load: Load, requests: Int
    ) -> Contestant {
        Contestant(implementation: implementation) { nginx in
            let folder = ProcessInfo.processInfo.environment["LOADINGKIT_BENCH_CLIENTS"] ?? "."
            let path = "\(folder)/\(program)"
            guard FileManager.default.isExecutableFile(atPath: path) else { throw Failure("\(program) is not built") }
            let arguments = [
                mode, load.url(nginx.ports), String(requests), String(load.atATime), String(load.length),
                load.isSecure ? nginx.certificate : "-", nginx.download,
            ]
            return try JSONDecoder().decode(Run.self, from: Data(Command(path, arguments).output.utf8))
        }
    }
}
