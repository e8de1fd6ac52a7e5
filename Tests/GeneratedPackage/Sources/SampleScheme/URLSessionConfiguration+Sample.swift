import Foundation
import LoadingKit

extension URLSessionConfiguration {
    /// Has the sessions that are made of this configuration from now on load `sample:` URLs.
    ///
    /// ``SampleHandler`` is asked behind the classes that the configuration has already, so that those
    /// which intercept every request see these, too.
    public func addSampleHandler() {
        protocolClasses = (protocolClasses ?? []) + [SampleHandler.self]
    }
}
