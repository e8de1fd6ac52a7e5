import Foundation

/// A form's body, ready to be sent, as often as that is needed: each stream gives the same bytes.
///
/// Made by ``MultipartForm/makeBody(allowsUnknownLength:)``, at which time the sizes of files are taken.
public struct MultipartBody: Sendable {
    /// What separates the parts.
    public let boundary: String
    /// Bytes; nil where the length of a part is not known.
    public let contentLength: Int64?
    let segments: [FormSegment]

    /// The value of `Content-Type`.
    public var contentType: String { Boundary.contentType(boundary) }

    /// A stream of all bytes, to be read once, on one thread at a time. Its `streamError` is a ``MultipartFormError``.
    ///
    /// Reading blocks while a stream or sequence of the program's has nothing to give.
    public func makeStream() -> InputStream { makeStream(FormTransmission()) }

    func makeStream(_ transmission: FormTransmission) -> InputStream {
        FormBodyStream(FormReader(segments, transmission))
    }

    /// Whether all bytes are in memory: there are no files, streams and sequences.
    public var isInMemory: Bool {
        segments.allSatisfy { segment in
            switch segment {
            case .bytes: true
            case .file, .stream, .pieces: false
            }
        }
    }

    /// The whole body, where it is in memory and has at most so many bytes; else nil.
    func data(upTo limit: Int) -> Data? {
        guard isInMemory, let contentLength, contentLength <= Int64(limit) else { return nil }
        var whole = Data(capacity: Int(clamping: contentLength))
        for case .bytes(let bytes) in segments { whole.append(bytes) }
        return whole
    }
}

extension MultipartForm {
    /// Takes the sizes of files, and puts the body together. Blocks for as long as the file system takes.
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
    /// Whether the text is in the part's data. Other content is not known before it is sent.
    fileprivate func contains(_ boundary: String) -> Bool {
        switch content {
        case .data(let data): Boundary.occurs(boundary, in: data)
        case .file, .stream, .pieces: false
        }
    }
}

/// What a body consists of, as it is put together.
private struct FormLayout {
    private(set) var segments: [FormSegment] = []
    /// Nil from the first part of unknown length on.
    private(set) var length: Int64? = 0
    /// Text that is not in `segments` yet: what stands between two contents is one segment.
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
        // `add` keeps room for it.
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
