import CSimulatedSystem
import Foundation
import LoadingKit

/// Interceptors as programs write them.
enum Interceptors {
    static func chosen(_ client: Int) -> [any LoadInterceptor] {
        switch sim_random(8) {
        case 0: [Passing(isOnLoop: true)]
        case 1: [Passing(isOnLoop: false), Passing(isOnLoop: true)]
        case 2: [Repeating()]
        case 3: [Refusing()]
        case 4: [Passing(isOnLoop: sim_random(2) == 0), Insisting()]
        default: []
        }
    }

    /// An interceptor's own error.
    struct Refusal: Error, Equatable { let path: String }

    /// Gives all on, piece by piece.
    struct Passing: LoadInterceptor {
        let isOnLoop: Bool
        var runsOnSessionExecutor: Bool { isOnLoop }

        func load(_ load: LoadContext) async throws {
            let loaded = try await load.next.load(load.request)
            try await load.receive(loaded.response)
            for try await piece in loaded.body { try await load.receive(piece) }
        }
    }

    /// Drops the first response to a GET, read or unread, and gives on the second.
    struct Repeating: LoadInterceptor {
        /// A WebSocket opens once.
        func canIntercept(_ request: URLRequest) -> Bool {
            request.httpMethod == "GET" && request.url?.scheme?.hasPrefix("http") == true
        }

        func load(_ load: LoadContext) async throws {
            do {
                // A body that is kept keeps its connection.
                let first = try await load.next.load(load.request)
                if sim_random(2) == 0 { for try await _ in first.body {} }
            }
            try await Passing(isOnLoop: false).load(load)
        }
    }

    /// Gives the response twice. The interceptor before it has the first.
    struct Insisting: LoadInterceptor {
        func canIntercept(_ request: URLRequest) -> Bool { request.url?.scheme?.hasPrefix("http") == true }

        func load(_ load: LoadContext) async throws {
            let loaded = try await load.next.load(load.request)
            try await load.receive(loaded.response)
            try await load.receive(loaded.response)
            for try await piece in loaded.body { try await load.receive(piece) }
        }
    }

    /// Throws an error of its own, for some requests, at some time.
    struct Refusing: LoadInterceptor {
        func canIntercept(_ request: URLRequest) -> Bool { (request.url?.path.utf8.count ?? 0) % 3 == 0 }

        func load(_ load: LoadContext) async throws {
            let refusal = Refusal(path: load.url.path)
            switch sim_random(3) {
            case 0: throw refusal
            case 1:
                try await load.receive(try await load.next.load(load.request).response)
                throw refusal
            default: try await Passing(isOnLoop: false).load(load)
            }
        }
    }
}
