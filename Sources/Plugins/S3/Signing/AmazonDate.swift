import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// Dates as Amazon writes them. Without formatters, which are slow, and which a program's locale may change.
enum AmazonDate {
    /// `20150830T123600Z` (ISO 8601, basic form). Dates before 1970 and after 9999 become the nearest of these.
    static func basic(_ date: Date) -> String {
        CivilTime(secondsSince1970: max(date.timeIntervalSince1970, 0)).timestamp.filter { $0 != "-" && $0 != ":" }
    }

    /// A date of ISO 8601's extended form in UTC, such as `2026-01-31T12:00:00.000Z`; nil for another text, and for a
    /// date before 1970.
    static func parse(extended text: String) -> Date? {
        let form = "0000-00-00T00:00:00".utf8
        let bytes = Array(text.utf8)
        let matches = zip(form, bytes).allSatisfy { $0 == UInt8(ascii: "0") ? $1.isASCIIDigit : $0 == $1 }
        guard bytes.count > form.count, matches else { return nil }
        func number(_ range: Range<Int>) -> Int { bytes[range].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } }
        var rest = bytes[form.count...]
        let fraction = rest.first == UInt8(ascii: ".") ? rest.dropFirst().prefix { $0.isASCIIDigit } : []
        if rest.first == UInt8(ascii: ".") { rest = rest.dropFirst(1 + fraction.count) }
        guard rest.elementsEqual("Z".utf8) || rest.elementsEqual("+00:00".utf8), number(0..<4) >= 1970,
            let time = CivilTime(
                year: number(0..<4), month: number(5..<7), day: number(8..<10), hour: number(11..<13),
                minute: number(14..<16), second: number(17..<19))
        else { return nil }
        let part = Double("0.\(String(decoding: fraction, as: UTF8.self))") ?? 0
        return Date(timeIntervalSince1970: Double(time.secondsSince1970) + part)
    }
}
