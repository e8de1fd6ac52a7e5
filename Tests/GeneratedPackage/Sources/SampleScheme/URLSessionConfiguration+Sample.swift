import Foundation
import LoadingKit

extension URLSessionConfiguration {
    /// Has the sessions that are made of this configuration from now on load `sample:` URLs.
    ///
    /// ``SampleHandler`` comes after the classes that the configuration already has, so that classes
    /// which intercept every request get these requests, too.
    public func addSampleHandler() {
        protocolClasses = (protocolClasses ?? []) + [SampleHandler.self]
    }
}
