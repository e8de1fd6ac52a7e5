import Foundation

/// A form's body, ready to be sent, as often as necessary: each stream has the same bytes.
///
/// Made by ``MultipartForm/makeBody(allowsUnknownLength:)``, which determines the sizes of files.
public struct MultipartBody: Sendable {
    /// The separator of the parts.
    public let boundary: String
    /// The number of bytes; nil where the length of a part is not known.
    public let contentLength: Int64?
    let segments: [FormSegment]

    /// The value of `Content-Type`.
    public var contentType: String { Boundary.contentType(boundary) }

    /// Makes a stream of all bytes, which can be read once, on one thread at a time. Its `streamError` is a
    /// ``MultipartFormError``.
    ///
    /// Reading blocks while a stream or sequence of the program has no bytes. A session that reads a body with
    /// sequences waits for them without a thread.
    public func makeStream() -> InputStream { makeStream(FormFailure()) }

    func makeStream(_ failure: FormFailure) -> InputStream {
        segments.contains(where: \.isSequence)
            ? FormWriter.stream(segments, failure) : FormReader.stream(segments[...], failure)
    }

    /// Whether all bytes are in memory: the body has no files, streams and sequences.
    public var isInMemory: Bool {
        segments.allSatisfy { segment in
            switch segment {
            case .bytes: true
            case .file, .stream, .pieces: false
            }
        }
    }

    /// The complete body, where it is in memory and has at most `limit` bytes; otherwise nil.
    func data(upTo limit: Int) -> Data? {
        guard isInMemory, let contentLength, contentLength <= Int64(limit) else { return nil }
        var whole = Data(capacity: Int(clamping: contentLength))
        for case .bytes(let bytes) in segments { whole.append(bytes) }
        return whole
    }
}

extension MultipartForm {
    /// Determines the sizes of files, and composes the body. Blocks for file system calls.
    ///
    /// - Parameter allowsUnknownLength: whether streams and sequences may be of unknown length. Default false.
    /// - Throws: ``MultipartFormError``.
    public func makeBody(allowsUnknownLength: Bool = false) throws(MultipartFormError) -> MultipartBody {
        let boundary = try chooseBoundary()
        var layout = FormLayout()
        for part in parts {
            try layout.append("--\(boundary)\r\n" + PartHead.make(part), of: part)
            try layout.append(FormSegment(part), of: part, allowsUnknownLength: allowsUnknownLength)
            try layout.append("\r\n", of: part)
        }
        layout.finish("--\(boundary)--\r\n")
        return MultipartBody(boundary: boundary, contentLength: layout.length, segments: layout.segments)
    }

    private func chooseBoundary() throws(MultipartFormError) -> String {
        if let boundary {
            guard Boundary.isValid(boundary) else { throw .invalidBoundary(boundary) }
            if let part = parts.first(where: { $0.contains(boundary) }) { throw .boundaryOccurs(part: part.name) }
            return boundary
        }
        var boundary = Boundary.random()
        while parts.contains(where: { $0.contains(boundary) }) { boundary = Boundary.random() }
        return boundary
    }
}

extension MultipartForm.Part {
    /// Whether the text occurs in the part's data. Other content is not known before it is sent.
    fileprivate func contains(_ boundary: String) -> Bool {
        switch content {
        case .data(let data): Boundary.occurs(boundary, in: data)
        case .file, .stream, .pieces: false
        }
    }
}

/// The segments of a body while it is composed.
private struct FormLayout {
    private(set) var segments: [FormSegment] = []
    /// Nil after the first part of unknown length.
    private(set) var length: Int64? = 0
    /// Text that is not in `segments` yet: the text between two contents is one segment.
    private var text = Data()

    mutating func append(_ string: String, of part: MultipartForm.Part) throws(MultipartFormError) {
        text.append(contentsOf: string.utf8)
        try add(Int64(string.utf8.count), part)
    }

    mutating func append(
        _ segment: FormSegment, of part: MultipartForm.Part, allowsUnknownLength: Bool
    ) throws(MultipartFormError) {
        flush()
        segments.append(segment)
        if let length = segment.length {
            guard length >= 0 else { throw .invalidLength(part: part.name) }
            return try add(length, part)
        }
        guard allowsUnknownLength else { throw .unknownLength(part: part.name) }
        length = nil
    }

    mutating func finish(_ string: String) {
        text.append(contentsOf: string.utf8)
        flush()
        // `add` reserves room for it.
        length = length.map { $0 &+ Int64(string.utf8.count) }
    }

    private mutating func flush() {
        guard !text.isEmpty else { return }
        segments.append(.bytes(text))
        text = Data()
    }

    private mutating func add(_ count: Int64, _ part: MultipartForm.Part) throws(MultipartFormError) {
        guard let length else { return }
        let (sum, overflows) = length.addingReportingOverflow(count)
        guard !overflows, sum <= .max - 1024 else { throw .invalidLength(part: part.name) }
        self.length = sum
    }
}
