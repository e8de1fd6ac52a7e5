import Foundation
import LoadingKit
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

extension HTTPURLResponse {
    /// Seconds until the time of `Retry-After` (RFC 9110 §10.2.3); nil without that field.
    var retryDelay: Double? {
        let now = Date().timeIntervalSince1970
        return value(forHTTPHeaderField: "Retry-After").flatMap { HTTPDate.delay(ofRetryAfter: $0, now: now) }
    }

    var lastModified: Date? { value(forHTTPHeaderField: "Last-Modified").flatMap(Self.date) }

    private static func date(_ text: String) -> Date? {
        HTTPDate.parse(text, now: Date().timeIntervalSince1970).map { Date(timeIntervalSince1970: Double($0)) }
    }
}
