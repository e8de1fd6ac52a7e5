import Foundation
import LoadingKitHAR

/// What recordings hide of servers' answers.
enum RedactionRows {
    static var all: [String: GrowthProbe.Row] {
        ["har-boundary": { boundary($0) }, "har-cookies": { cookies($0) }]
    }

    /// A form that resembles its boundary everywhere.
    private static func boundary(_ count: Int) {
        let boundary = String(repeating: "-", count: count + 1)
        let body = String(repeating: boundary + "-x", count: 8)
        let redacted = HARRedaction.standard.redact(
            body: Data(body.utf8), contentType: "multipart/form-data; boundary=\(boundary)")
        precondition(redacted == Data(body.utf8))
    }

    /// A cookie with commas behind it, none of which begins another one.
    private static func cookies(_ count: Int) {
        let field = "a=1;" + String(repeating: "x", count: 10 * count) + String(repeating: ",", count: count)
        let redacted = HARRedaction.standard.redact(field: "Set-Cookie", value: field)
        precondition(redacted.utf8.count == field.utf8.count + "(redacted)".utf8.count - 1)
    }
}
