import Foundation
import LoadingKitCore

/// The load on whose behalf a tunnel is opened, and whose program gets the proxy's challenges.
package struct TunnelRequester {
    let session: HTTPSession
    let task: URLSessionTask
    let request: URLRequest
    let receiver: any ChallengeReceiver

    init(_ request: URLRequest, _ session: HTTPSession, _ task: URLSessionTask, _ receiver: any ChallengeReceiver) {
        self.session = session
        self.task = task
        self.request = request
        self.receiver = receiver
    }
}
