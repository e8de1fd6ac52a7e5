import Foundation
import LoadingKit
import LoadingKitTransport
import TestSupport

/// The result of a load.
enum FTPOutcome: Equatable, CustomStringConvertible {
    case loaded([UInt8])
    case failed(URLError.Code)
    /// An error that is none of a session's.
    case other(String)

    init(_ load: () async throws -> (Data, URLResponse)) async {
        do {
            self = .loaded(Array(try await load().0))
        } catch let error as URLError {
            self = .failed(error.code)
        } catch {
            self = .other("\(error)")
        }
    }

    var description: String {
        switch self {
        case .loaded(let bytes): "\(bytes.count) bytes"
        case .failed(let code): "error \(code.rawValue)"
        case .other(let text): text
        }
    }
}

/// A session of a test's own, which does what the environment says about nothing.
func makeFTPSession(
    delegate: (any URLSessionDelegate)? = nil, on loop: EventLoop = .next(),
    _ configure: (URLSessionConfiguration) -> Void = { _ in }
) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    // A test has a limit of its own.
    configuration.timeoutIntervalForRequest = 1000
    configuration.connectionProxyDictionary = [:]
    configure(configuration)
    return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil, loop: loop)
}

extension URLSession {
    func outcome(_ url: String) async -> FTPOutcome {
        guard let url = URL(string: url) else { return .other("no URL") }
        return await outcome(URLRequest(url: url))
    }

    func outcome(_ request: URLRequest) async -> FTPOutcome {
        await FTPOutcome { try await data(for: request) }
    }
}
