import Foundation
import LoadingKitPrimitives

extension HTTPCookie {
    /// The cookies that received fields set, in order. Each `Set-Cookie` field is read by itself.
    package static func cookies(in fields: HTTPFields, for url: URL, now: Date) -> [HTTPCookie] {
        var records: [CookieRecord] = []
        fields.forEachValue(of: .setCookie) { value in
            guard let line = SetCookieLine(FieldText.string(value)) else { return }
            if let record = CookieRecord(line, from: url, now: now) { records.append(record) }
        }
        return records.map { HTTPCookie($0) }
    }
}
