import Foundation
import LoadingKitPrimitives

/// The file name of a Content-Disposition field (RFC 6266), as the server has written it: it may contain any
/// characters.
struct ContentDisposition {
    /// The name of `filename*` when it can be decoded, else that of `filename`, else nil.
    let filename: String?

    init(_ value: String) {
        var plain: String?
        var extended: String?
        for parameter in value.splitOutsideQuotes(at: ";").dropFirst() {
            guard let equals = parameter.firstIndex(of: "=") else { continue }
            let name = parameter[..<equals].trimmingHTTPWhitespace
            let value = parameter[parameter.index(after: equals)...].trimmingHTTPWhitespace
            // RFC 6266 §4.1 forbids a parameter to occur twice. If one does, the first counts.
            if name.equalsIgnoringASCIICase("filename") {
                plain = plain ?? value.unquoted
            } else if name.equalsIgnoringASCIICase("filename*") {
                extended = extended ?? Self.decodeExtended(value)
            }
        }
        filename = extended ?? plain
    }

    /// `charset'language'percent-encoded` (RFC 8187 §3.2); nil when it is not of that form.
    private static func decodeExtended(_ value: String) -> String? {
        let parts = value.unquoted.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = percentDecoded(parts[2]) else { return nil }
        if parts[0].equalsIgnoringASCIICase("utf-8") { return String(bytes: bytes, encoding: .utf8) }
        if parts[0].equalsIgnoringASCIICase("iso-8859-1") { return String(bytes: bytes, encoding: .isoLatin1) }
        return nil
    }

    private static func percentDecoded(_ text: Substring) -> [UInt8]? {
        var result: [UInt8] = []
        var bytes = text.utf8.makeIterator()
        while let byte = bytes.next() {
            guard byte == UInt8(ascii: "%") else {
                result.append(byte)
                continue
            }
            guard let high = bytes.next().flatMap(ASCII.hexDigit), let low = bytes.next().flatMap(ASCII.hexDigit)
            else { return nil }
            result.append(high << 4 | low)
        }
        return result
    }
}
