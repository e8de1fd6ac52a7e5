import Foundation
import Testing

@testable import LoadingKitCore
@testable import LoadingKitTransport

@Suite struct NetworkUnavailableTests {
    @Test func anErrorSaysWhichNetworkIsNotAllowed() throws {
        for (exclusion, reason) in [
            (NetworkUse.Exclusion.cellular, URLError.NetworkUnavailableReason.cellular), (.expensive, .expensive),
        ] {
            let cause = TransportError.Cause.notAllowed(exclusion, interface: "wwan0")
            let error = URLError(TransportError(.connect, "h", cause), url: URL(string: "http://h/"))
            #expect(error.networkUnavailableReason == reason)
            #expect(error.userInfo[NSURLErrorNetworkUnavailableReasonKey] as? Int == reason.rawValue)
            #expect(error.code == .notConnectedToInternet)
        }
        #expect(URLError(LoadFailure(.timedOut, "late"), url: nil).networkUnavailableReason == nil)
    }
}
