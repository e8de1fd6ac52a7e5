import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitResilience

/// Loads a resource four times: failures are retried after pauses, and a server that fails too often gets no requests
/// for a while.
///
///     swift run ResilientLoadExample https://example.org/
///     swift run ResilientLoadExample --demo                 # with a server that fails
@main
enum ResilientLoad {
    static func main() async {
        let argument = CommandLine.arguments.dropFirst().first ?? ""
        do {
            let server = argument == "--demo" ? try failingServer() : nil
            defer { server?.stop() }
            guard let url = URL(string: server?.url("/") ?? argument), url.scheme != nil else {
                print("usage: ResilientLoadExample URL|--demo")
                exit(2)
            }
            let session = makeSession()
            for number in 1...4 {
                print("load \(number):", await outcome(of: url, session))
            }
            if let server { print("requests to the server: \(server.requests.count)") }
        } catch {
            print("failed: \(error.localizedDescription)")
            exit(1)
        }
    }

    /// The first interceptor is the outermost: each attempt of `Retries` passes the breaker.
    static func makeSession() -> URLSession {
        var retries = RetryPolicy()
        retries.maximumAttempts = 3
        retries.backoff = Backoff(base: 0.05, cap: 2)  // a random time up to 50 ms, then up to 100 ms
        let breaker = CircuitBreakerState.Policy(failureRatio: 0.5, minimumCalls: 6, window: 30, openTime: 10)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.interceptors = [Retries(retries), CircuitBreaker(breaker)]
        return URLSession(configuration: configuration)
    }

    static func outcome(of url: URL, _ session: URLSession) async -> String {
        do {
            let (_, response) = try await session.data(from: url)
            return "status \((response as? HTTPURLResponse)?.statusCode ?? 0)"
        } catch is CircuitOpenError {
            return "not sent, as the server has failed too often"
        } catch {
            return "failed: \(error.localizedDescription)"
        }
    }

    /// The third request is answered; those before it and after it fail.
    static func failingServer() throws -> LoopbackServer {
        let count = Box(0)
        return try LoopbackServer { _ in
            let number = count.update { count in
                count += 1
                return count
            }
            return number == 3 ? .text("hello") : .text("try later", status: 503)
        }
    }
}
