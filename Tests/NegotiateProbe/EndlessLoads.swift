import Dispatch
import Foundation
import LoadingKit
import LoadingKitNegotiate

/// Loads that go on until the process exits. The exit waits until one of them was told of it; if none is, the status is 4.
final class EndlessLoads: Sendable {
    private static let wasToldOfExit = DispatchSemaphore(value: 0)

    private let url: URL
    private let hasBegun = DispatchSemaphore(value: 0)

    init(_ url: URL) { self.url = url }

    func run(exitingAfter delay: UInt32) -> Never {
        // Called after the handlers that are registered later, and before the libraries end.
        atexit { if EndlessLoads.wasToldOfExit.wait(timeout: .now() + 30) == .timedOut { _exit(4) } }
        for _ in 0..<4 { load() }
        hasBegun.wait()
        usleep(delay)
        exit(0)
    }

    /// Each session acquires tickets of its own.
    private func load() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        var negotiate = Negotiate()
        negotiate.cleartextHosts = url.host().map { [$0] } ?? []
        negotiate.failureHandler = { if $0.description.contains("exiting") { Self.wasToldOfExit.signal() } }
        negotiate.install(in: configuration)
        let session = URLSession(configuration: configuration)
        session.dataTask(with: url) { [self] _, _, error in
            if let error {
                FileHandle.standardError.write(Data("\(error)\n".utf8))
                _exit(3)
            }
            session.finishTasksAndInvalidate()
            load()
            hasBegun.signal()
        }.resume()
    }
}
