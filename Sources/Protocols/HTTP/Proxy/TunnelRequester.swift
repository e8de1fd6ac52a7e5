import Foundation
import LoadingKitCore

/// The load on whose behalf a tunnel is opened. Its program gets the proxy's challenges.
package struct TunnelRequester {
    let session: HTTPSession
    let task: URLSessionTask
    let request: URLRequest
    let receiver: any ChallengeReceiver

    package init(_ request: URLRequest, _ resources: LoadResources, _ receiver: any ChallengeReceiver) {
        self.init(request, resources.core, resources.task, receiver)
    }

    init(_ request: URLRequest, _ core: SessionCore, _ task: URLSessionTask, _ receiver: any ChallengeReceiver) {
        session = HTTPSession.of(core)
        self.task = task
        self.request = request
        self.receiver = receiver
    }
}

/// The attempt that needs a connection through a proxy.
protocol TunnelOwner: AnyObject {
    /// One of the loads that wait for the connection; nil if none waits.
    var requester: TunnelRequester? { get }

    /// The program gets a challenge, and the attempt waits for the answer. Timeouts of the requests that wait for the
    /// attempt are suspended until ``challengeDidEnd()``.
    func challengeWillBegin()

    func challengeDidEnd()
}
