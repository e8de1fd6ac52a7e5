import Foundation
import LoadingKit
import Logging

extension LoadPlan {
    /// Seconds without a byte after which a load ends: what curl gives a connection to be made.
    private static let idleTimeout: TimeInterval = 300

    /// The settings of the session that runs the loads.
    var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = Self.idleTimeout
        // Who names a URL twice wants it loaded twice, as curl does.
        configuration.urlCache = nil
        if let maxTime { configuration.timeoutIntervalForResource = maxTime }
        configuration.httpMaximumConnectionsPerHost = max(configuration.httpMaximumConnectionsPerHost, jobs)
        // Whoever types a URL has decided on its scheme.
        configuration.appTransportSecurity = AppTransportSecurity(allowsArbitraryLoads: true)
        switch trust {
        case .system: break
        case .authorities(let pem): configuration.tlsTrustRoots = .pem(pem)
        case .everyone: configuration.tlsVerifiesServer = false
        }
        if display.showsTrace {
            configuration.logger = Logger(label: "loadkit", factory: { _ in ConsoleLog(.standardError) })
        }
        return configuration
    }
}
