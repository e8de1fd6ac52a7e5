import Foundation
import LoadingKitCore
import LoadingKitTransport

/// A step of a scheme that may block, on a thread of its own. Confined to its loop, except for `take`.
final class AuthenticationStep: @unchecked Sendable {  // the variable is used on the loop alone
    /// The scheme in its new state, and the field's value.
    typealias Completion = (any HTTPAuthenticationScheme, String?) -> Void

    /// The program's own code ends by itself, as it has its own time-outs.
    static let threads = BlockingPool(
        name: "LoadingKit-auth", BlockingPool.Limits(threads: 64, endsByItself: false))

    private let loop: EventLoop
    private var completion: Completion?
    private var work: BlockingPool.Work?

    private init(_ loop: EventLoop, _ completion: @escaping Completion) {
        self.loop = loop
        self.completion = completion
    }

    /// - Parameter completion: called later on the loop, without a value if no thread is available.
    static func take(
        _ scheme: any HTTPAuthenticationScheme, for request: HTTPAuthenticationRequest,
        with credential: URLCredential, on loop: EventLoop, completion: @escaping Completion
    ) -> AuthenticationStep {
        let step = AuthenticationStep(loop, completion)
        let work = BlockingPool.Work {
            var scheme = scheme
            let value = scheme.authorization(for: request, with: credential)
            step.end(scheme, value)
        } orElse: { _ in
            step.end(scheme, nil)
        }
        step.work = work
        threads.run(work)
        return step
    }

    /// The completion is not called. A step that waits for a thread is not taken.
    func cancel() {
        completion = nil
        if let work = work.take() { Self.threads.cancel(work) }
    }

    private func end(_ scheme: any HTTPAuthenticationScheme, _ value: String?) {
        loop.execute { [self] in
            work = nil
            completion.take()?(scheme, value)
        }
    }
}
