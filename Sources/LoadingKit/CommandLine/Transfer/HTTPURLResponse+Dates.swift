import Foundation
import LoadingKit
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

extension HTTPURLResponse {
    /// Seconds until the time of `Retry-After` (RFC 9110 §10.2.3); nil without that field.
    var retryDelay: Double? {
        guard let text = value(forHTTPHeaderField: "Retry-After")?.trimmingCharacters(in: .whitespaces) else {
            return nil
        }
        if let seconds = Double(text), seconds.isFinite, seconds >= 0 { return seconds }
        return Self.date(text).map { max($0.timeIntervalSinceNow, 0) }
    }

    var lastModified: Date? { value(forHTTPHeaderField: "Last-Modified").flatMap(Self.date) }

    private static func date(_ text: String) -> Date? {
        HTTPDate.parse(text, now: Date().timeIntervalSince1970).map { Date(timeIntervalSince1970: Double($0)) }
    }
}
