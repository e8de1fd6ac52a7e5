import Foundation

/// Takes a body of the type `multipart/x-mixed-replace` apart, of which each part replaces the one before (RFC 2046 §5.1).
///
/// What comes before the first part and after the last is dropped. A boundary that a server writes with its two hyphens
/// in the field is taken for what it means, as cameras do that.
struct MixedReplaceReader {
    enum Event: Equatable {
        /// A part begins, with these fields.
        case part([String: String])
        case data(Data)
    }

    private enum State {
        case preamble
        /// Behind a delimiter, whose line may have more.
        case delimiter
        case fields
        case body
        case over
    }

    /// Bytes that a part's fields may have.
    private static let largestHead = 64 * 1024

    private var state = State.preamble
    private let delimiter: Data
    private var buffer = Data()
    private var isComplete = false

    /// - Parameter type: the response's `Content-Type`. Nil for any other type, or one without a boundary.
    init?(_ type: String?) {
        guard let type = type.flatMap({ MIMEType($0) }), type.essence == "multipart/x-mixed-replace",
            let boundary = type["boundary"], !boundary.isEmpty, boundary.utf8.count <= 256
        else { return nil }
        delimiter = Data((boundary.hasPrefix("--") ? boundary : "--" + boundary).utf8)
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) { buffer.append(contentsOf: bytes) }

    /// No more bytes come: what is held back, as it could have been a delimiter's beginning, is a part's.
    mutating func finish() { isComplete = true }

    /// What comes next; nil when it takes more bytes to say.
    mutating func next() throws -> Event? {
        while true {
            switch state {
            case .preamble:
                guard try skipPreamble() else { return nil }
            case .delimiter:
                guard try passDelimiterLine() else { return nil }
            case .fields:
                guard let fields = try takeFields() else { return nil }
                state = .body
                return .part(fields)
            case .body:
                guard let data = takeBody() else { return nil }
                if !data.isEmpty { return .data(data) }
            case .over:
                buffer.removeAll()
                return nil
            }
        }
    }

    private mutating func skipPreamble() throws -> Bool {
        guard let range = buffer.range(of: delimiter) else {
            drop(max(0, buffer.count - delimiter.count))
            return false
        }
        drop(range.upperBound - buffer.startIndex)
        state = .delimiter
        return true
    }

    private mutating func passDelimiterLine() throws -> Bool {
        if buffer.starts(with: Data("--".utf8)) {
            state = .over
            return true
        }
        guard let end = buffer.firstIndex(of: 0x0A) else {
            if isComplete { state = .over }
            try checkSize()
            return isComplete
        }
        drop(end + 1 - buffer.startIndex)
        state = .fields
        return true
    }

    /// The fields before the empty line; nil when that has not come.
    private mutating func takeFields() throws -> [String: String]? {
        var fields: [String: String] = [:]
        var rest = buffer[...]
        while let end = rest.firstIndex(of: 0x0A) {
            let line = String(decoding: rest[..<end], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            rest = rest[(end + 1)...]
            if line.isEmpty {
                drop(rest.startIndex - buffer.startIndex)
                return fields
            }
            guard let colon = line.firstIndex(of: ":") else { continue }
            let name = line[..<colon].trimmingCharacters(in: .whitespaces)
            fields[name] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        try checkSize()
        return nil
    }

    private func checkSize() throws {
        guard buffer.count <= Self.largestHead else {
            throw LoadFailure(.cannotParseResponse, "the fields of a part have more than \(Self.largestHead) bytes")
        }
    }

    /// The next bytes of a part, empty at its end; nil when those that are there may be the next delimiter's.
    private mutating func takeBody() -> Data? {
        if let range = buffer.range(of: delimiter) {
            var end = range.lowerBound
            // The line break before a delimiter is the delimiter's.
            if end > buffer.startIndex, buffer[end - 1] == 0x0A { end -= 1 }
            if end > buffer.startIndex, buffer[end - 1] == 0x0D { end -= 1 }
            let data = Data(buffer[..<end])
            drop(range.upperBound - buffer.startIndex)
            state = .delimiter
            return data
        }
        let held = isComplete ? 0 : delimiter.count + 2
        guard buffer.count > held else { return nil }
        let data = Data(buffer.dropLast(held))
        drop(data.count)
        return data
    }

    private mutating func drop(_ count: Int) { buffer = Data(buffer.dropFirst(count)) }
}

extension URLResponse {
    /// The response of one part of this one: its fields, and those of the whole that it does not have itself.
    func part(_ fields: [String: String]) -> URLResponse {
        guard let url, let whole = self as? HTTPURLResponse else {
            return URLResponse(
                url: url ?? URL(fileURLWithPath: "/"), mimeType: fields.value("Content-Type"),
                expectedContentLength: fields.value("Content-Length").flatMap { Int($0) } ?? -1, textEncodingName: nil)
        }
        var all: [String: String] = [:]
        for case let (name as String, value as String) in whole.allHeaderFields
        where fields.value(name) == nil && !["content-length", "content-type"].contains(name.lowercased()) {
            all[name] = value
        }
        return HTTPURLResponse(
            url: url, statusCode: whole.statusCode, httpVersion: nil, headerFields: all.merging(fields) { $1 }) ?? self
    }
}

extension [String: String] {
    fileprivate func value(_ name: String) -> String? { first { $0.key.lowercased() == name.lowercased() }?.value }
}
