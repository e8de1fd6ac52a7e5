import Foundation
import LoadingKitPrimitives

/// Parses the parts of a body with the type `multipart/x-mixed-replace`. Each part replaces the one before it
/// (RFC 2046 §5.1).
///
/// Bytes before the first part and after the last are dropped. Some servers, such as cameras, include the two hyphens
/// of the delimiter in the field's boundary; the parser accepts this. No byte is scanned twice, regardless of how the
/// body is divided into pieces.
struct MixedReplaceReader {
    enum Event: Equatable {
        /// A part begins, with these fields.
        case part([String: String])
        case data(Data)
    }

    private enum State {
        case preamble
        /// After a delimiter, before the end of its line.
        case delimiter
        case fields
        case body
        case over
    }

    /// The largest number of bytes of a part's fields, including the delimiter's line; and the largest number of
    /// fields.
    private static let largestHead = 64 * 1024
    private static let mostFields = 1000

    private var state = State.preamble
    private var delimiter: DelimiterScanner
    /// The received bytes. Those before `start` were returned, and those before `scanned` were scanned.
    private var buffer: [UInt8] = []
    private var start = 0
    private var scanned = 0
    /// The fields of the part whose head is being parsed.
    private var fields: [String: String] = [:]
    /// The number of bytes of the last part's head, up to now.
    private(set) var headBytes = 0
    private var isComplete = false
    /// The number of bytes scanned up to now.
    private(set) var scannedBytes = 0
    /// Whether bytes were received.
    var hasBytes: Bool { scannedBytes > 0 || !buffer.isEmpty }

    /// - Parameter type: the response's `Content-Type`. Nil for any other type, or one without a boundary.
    init?(_ type: String?) {
        guard let type = type.flatMap({ MIMEType($0) }), type.essence == "multipart/x-mixed-replace",
            let boundary = type["boundary"], !boundary.isEmpty, boundary.utf8.count <= 256
        else { return nil }
        delimiter = DelimiterScanner(Array((boundary.hasPrefix("--") ? boundary : "--" + boundary).utf8))
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if case .over = state { return }
        // Returned bytes are removed when they are more than half of the buffer: on average, a byte is moved once.
        if start > buffer.count / 2 {
            buffer = Array(buffer[start...])
            scanned -= start
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The body has ended. Bytes that were held back, because they could have been the start of a delimiter, belong to
    /// the part.
    mutating func finish() { isComplete = true }

    mutating func next() throws -> Event? {
        while true {
            switch state {
            case .preamble:
                guard passDelimiter() else {
                    start = scanned
                    return nil
                }
            case .delimiter:
                guard try passDelimiterLine() else { return nil }
            case .fields:
                guard try readFields() else { return nil }
                state = .body
                defer { fields = [:] }
                return .part(fields)
            case .body:
                guard let data = takeBody() else { return nil }
                if !data.isEmpty { return .data(data) }
            case .over:
                buffer = []
                (start, scanned) = (0, 0)
                return nil
            }
        }
    }

    /// Searches for a delimiter, and moves to its end.
    private mutating func passDelimiter() -> Bool {
        let (count, isFound) = buffer[scanned...].withUnsafeBytes { delimiter.scan($0) }
        scanned += count
        scannedBytes += count
        guard isFound else { return false }
        start = scanned
        (state, headBytes) = (.delimiter, 0)
        return true
    }

    private mutating func passDelimiterLine() throws -> Bool {
        let hyphen = UInt8(ascii: "-")
        if buffer.count - start >= 2, buffer[start] == hyphen, buffer[start + 1] == hyphen {
            state = .over
            return true
        }
        guard try takeLine() != nil else {
            if isComplete { state = .over }
            return isComplete
        }
        state = .fields
        return true
    }

    /// Parses fields up to the empty line. False when that line has not been received.
    private mutating func readFields() throws -> Bool {
        while let line = try takeLine() {
            let text = String(decoding: buffer[line], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            if text.isEmpty { return true }
            guard let colon = text.firstIndex(of: ":") else { continue }
            let name = text[..<colon].trimmingCharacters(in: .whitespaces)
            fields[name] = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            guard fields.count <= Self.mostFields else {
                throw LoadFailure(.cannotParseResponse, "a part has more than \(Self.mostFields) fields")
            }
        }
        return false
    }

    /// The range of the next complete line, without the line break; nil when the line is not complete.
    private mutating func takeLine() throws -> Range<Int>? {
        let end = buffer[scanned...].firstIndex(of: 0x0A)
        let stop = end.map { $0 + 1 } ?? buffer.count
        scannedBytes += stop - scanned
        headBytes += stop - scanned
        scanned = stop
        guard headBytes <= Self.largestHead else {
            throw LoadFailure(.cannotParseResponse, "the fields of a part have more than \(Self.largestHead) bytes")
        }
        guard let end else { return nil }
        defer { start = stop }
        return start..<end
    }

    /// The next bytes of a part; empty at the part's end. Nil when all received bytes may belong to the next delimiter.
    private mutating func takeBody() -> Data? {
        let (first, found) = (start, passDelimiter())
        if found {
            // The line break before a delimiter belongs to the delimiter.
            return Data(buffer[first..<withoutLineBreak(first..<(start - delimiter.count))])
        }
        let end = isComplete ? buffer.count : withoutLineBreak(first..<(buffer.count - delimiter.matched))
        guard end > first else { return nil }
        start = end
        return Data(buffer[first..<end])
    }

    private func withoutLineBreak(_ range: Range<Int>) -> Int {
        var end = range.upperBound
        if end > range.lowerBound, buffer[end - 1] == 0x0A { end -= 1 }
        if end > range.lowerBound, buffer[end - 1] == 0x0D { end -= 1 }
        return end
    }
}

extension URLResponse {
    /// The response for one part of this response. It has the part's fields, and those of the complete response that
    /// the part lacks.
    func part(_ fields: [String: String]) -> URLResponse {
        guard let url, let whole = self as? HTTPURLResponse else {
            return URLResponse(
                url: url ?? URL(fileURLWithPath: "/"), mimeType: fields.value("Content-Type"),
                expectedContentLength: fields.value("Content-Length").flatMap { Int($0) } ?? -1, textEncodingName: nil)
        }
        // Not through a dictionary of the complete response's fields: a part may be a few bytes, and these a thousand.
        var all = whole.fields
        all.remove(.contentLength)
        all.remove(.contentType)
        all.remove(names: fields.keys.map { $0.lowercased() })
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) where !name.isEmpty {
            all.append(name: name, value: value)
        }
        return HTTPURLResponse(
            url: url, statusCode: whole.statusCode, httpVersion: whole.httpVersion, fields: all,
            expectedContentLength: HTTPURLResponse.contentLength(in: all) ?? -1)
    }
}

extension [String: String] {
    fileprivate func value(_ name: String) -> String? { first { $0.key.lowercased() == name.lowercased() }?.value }
}
