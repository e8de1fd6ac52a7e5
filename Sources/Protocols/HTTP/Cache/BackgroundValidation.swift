import Foundation
import LoadingKitCore
import LoadingKitTransport

/// Validates a stale response that was served as an answer. No request waits for the validation (RFC 5861 §3).
final class BackgroundValidation: ForwardingReceiver {
    /// There is no program that takes the response or answers a challenge.
    var receiver: (any LoadReceiver)? { nil }

    private let load: CachedExchange
    private let loop: EventLoop
    private let timeout: TimeInterval
    private unowned let session: SessionCache
    /// Ends a load that takes too long, as there is no task whose clock would end it.
    private var timer: LoopTimer?
    private var isOver = false

    init(_ stored: StoredResponse, _ request: URLRequest, _ resources: LoadResources, _ session: SessionCache) {
        self.session = session
        loop = resources.loop
        timeout = resources.core.idleTimeout(of: request)
        load = CachedExchange(request, resources, session, validating: stored)
    }

    func begin() {
        if timeout > 0 {
            timer = loop.schedule(at: loop.now.advanced(bySeconds: timeout)) { [weak self] in self?.end() }
        }
        load.begin(self)
    }

    func end() {
        guard !isOver else { return }
        isOver = true
        timer?.cancel()
        load.end()
        session.validationDidEnd(self)
    }

    // MARK: LoadReceiver

    /// A redirect is not followed: its target is loaded when it is requested.
    func redirect(
        to request: URLRequest, refusal: LoadFailure?, response: URLResponse, decide: @escaping (Bool) -> Void
    ) {
        loop.executeLater { decide(false) }
    }

    func finish() { end() }
    func fail(_ error: any Error) { end() }
}
