import Dispatch
import Foundation
import LoadingKit
import LoadingKitLoopbackServer

/// The requests under way, one for each connection of the server. Its methods are called on the connections' threads.
final class Exchanges: Sendable {
    private let all = Box<[Int: Exchange]>([:])
    private let open = DispatchGroup()

    /// Starts a request when its head was received. Returns the answer to one that cannot be forwarded.
    func begin(_ request: ServerRequest, _ upstream: URL, _ session: URLSession) -> ServerResponse? {
        guard let forwarded = URLRequest(forwarding: request, to: upstream) else { return .text("", status: 400) }
        let exchange = Exchange(forwarded, hasBody: request.hasBody, session, open)
        all.update { $0[request.connection] = exchange }
        return nil
    }

    func receive(_ piece: UnsafeRawBufferPointer, of request: ServerRequest) {
        all.value[request.connection]?.send(piece)
    }

    /// The upstream's response, when the request was received whole.
    func answer(_ request: ServerRequest) -> ServerResponse {
        guard let exchange = all.update({ $0.removeValue(forKey: request.connection) }) else { return .text("") }
        do {
            return try exchange.response()
        } catch {
            let isStopping = (error as? URLError)?.code == .cancelled
            return .text("\(error.localizedDescription)\n", status: isStopping ? 503 : 502)
        }
    }

    /// Cancels the requests of clients that leave in the middle of one.
    func drop(connectionsOf server: LoopbackServer) async {
        var index = 0
        while let connection = await server.endings.element(at: index) {
            all.update { $0.removeValue(forKey: connection) }?.cancel()
            index += 1
        }
    }

    func finish() async { await withCheckedContinuation { done in open.notify(queue: .global()) { done.resume() } } }
}
