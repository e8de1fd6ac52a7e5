import CLoadingKitShims
import LoadingKitPrimitives

/// Reads a message's first line and fields, or a trailer section, from the pieces in which they arrive.
///
/// The bytes are read in place, in one pass, and positions are stored as offsets from the section's first byte. If a
/// piece ends before the section does, its bytes are kept in `section`, which contains all bytes at the section's end.
/// A head that arrives in one piece therefore costs one allocation and one copy, and no allocation if nothing retains
/// the previous head any more.
///
/// A line ends with CRLF or, except in a request's head, with a bare LF (RFC 9112 §2.2). A CR without a following LF is
/// always an error.
@usableFromInline
struct HeadScanner: Sendable {
    /// The next expected element. The input may end at each of them.
    @usableFromInline
    enum Step: Sendable {
        case emptyLine, emptyLineFeed
        case statusLine, statusCodeEnd, reason
        case method, target, requestVersion
        case startLineEnd, startLineFeed
        case lineStart, name, nameEnd, valueStart, value, valueFeed, foldStart
        case lastLineFeed
        case complete
    }

    /// The kind of message that contains the section: a server must refuse some errors that a client may repair
    /// (RFC 9112 §5.1, §5.2).
    enum Subject: Sendable { case request, response }

    /// Memory beyond these sizes is not kept for the next section.
    private static let keptBytes = 4096
    private static let keptFields = 64

    let subject: Subject
    let limits: HTTP1Limits
    /// The limits for a whole message, reduced to usable numbers.
    private let headBytes: Int
    private let fieldCount: Int
    /// The table is kept here, as checking whether it was made costs a call. It does not change.
    nonisolated(unsafe) let names = KnownField.table

    @usableFromInline var step: Step
    /// The fields read, and the section's bytes from earlier pieces of input. Before the first byte of a message they
    /// are those of the previous message.
    @usableFromInline var section = HTTPFields()
    /// The result of the last reading of complete lines.
    var lines = lk_lines()
    @usableFromInline var startLine = StartLine()

    /// The field being read: the positions of its name and value.
    var nameOffset = 0
    var nameLength = 0
    var valueOffset = 0
    var known = KnownField.other
    /// Whether the value continues from the previous line (RFC 9112 §5.2).
    var isFolded = false
    /// Whether names were divided between pieces of input and have not been looked up yet.
    var hasDividedNames = false

    /// The bytes and fields of the message before this section, which count towards the limits.
    private(set) var bytesBefore = 0
    private(set) var fieldsBefore = 0
    /// The number of the message's bytes before the section, for the offsets of errors.
    private(set) var origin = 0

    init(subject: Subject, limits: HTTP1Limits) {
        self.subject = subject
        self.limits = limits
        headBytes = Swift.max(0, Swift.min(limits.headBytes, Int(Int32.max)))
        fieldCount = Swift.max(0, limits.fieldCount)
        step = .emptyLine
    }

    /// Whether no byte of the section has arrived. Empty lines do not count.
    var isUntouched: Bool {
        switch step {
        case .emptyLine, .emptyLineFeed: true
        case .statusLine, .statusCodeEnd, .reason, .method, .target, .requestVersion, .startLineEnd, .startLineFeed,
            .lineStart, .name, .nameEnd, .valueStart, .value, .valueFeed, .foldStart, .lastLineFeed, .complete:
            false
        }
    }

    /// Whether a bare LF ends a line, as RFC 9112 §2.2 allows. It is not accepted in a request's head or trailers: if
    /// another recipient does not accept it, the two would read different requests.
    var allowsBareLineFeed: Bool { subject == .response }

    /// The limits that are left for this section.
    var byteLimit: Int { headBytes &- bytesBefore }
    var fieldLimit: Int { fieldCount &- fieldsBefore }

    /// Reads `input`. Returns true if the section is complete, and false if all input was read and more is needed.
    mutating func scan(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP1Error) -> Bool {
        if isUntouched {
            guard try skipEmptyLines(input, &position) else { return false }
        }
        guard position < input.count, let base = input.baseAddress else { return false }
        let kept = section.byteCount
        let room = Swift.max(0, byteLimit - kept)
        var cursor = ScanCursor(
            bytes: base.assumingMemoryBound(to: UInt8.self), index: position,
            end: Swift.min(input.count - position, room) + position, kept: kept)
        while cursor.index < cursor.end {
            try advance(&cursor)
            if step == .complete {
                keep(&cursor)
                position = cursor.index
                return true
            }
        }
        keep(&cursor)
        position = cursor.index
        guard section.byteCount < byteLimit else { throw failure(.headTooLarge, at: section.byteCount) }
        return false
    }

    private mutating func advance(_ cursor: inout ScanCursor) throws(HTTP1Error) {
        switch step {
        case .statusLine: try scanStatusLine(&cursor)
        case .statusCodeEnd: try scanStatusCodeEnd(&cursor)
        case .reason: try scanReason(&cursor)
        case .method: try scanMethod(&cursor)
        case .target: try scanTarget(&cursor)
        case .requestVersion: try scanRequestVersion(&cursor)
        case .startLineEnd: try scanStartLineEnd(&cursor)
        case .startLineFeed: try scanStartLineFeed(&cursor)
        case .lineStart: try scanFieldLines(&cursor)
        case .name: try scanName(&cursor)
        case .nameEnd: try scanNameEnd(&cursor)
        case .valueStart, .foldStart: scanValueStart(&cursor)
        case .value: try scanValue(&cursor)
        case .valueFeed: try scanValueFeed(&cursor)
        case .lastLineFeed: try scanLastLineFeed(&cursor)
        case .emptyLine, .emptyLineFeed, .complete: break
        }
    }

    /// RFC 9112 §2.2: empty lines before a message are ignored. They are not part of the section.
    private mutating func skipEmptyLines(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP1Error) -> Bool {
        while position < input.count {
            let byte = input[position]
            switch (step, byte) {
            case (.emptyLine, ASCII.carriageReturn): step = .emptyLineFeed
            case (_, ASCII.lineFeed): step = .emptyLine
            case (.emptyLine, _):
                section.restart()
                step = subject == .request ? .method : .statusLine
                return true
            case (_, _):
                throw failure(subject == .request ? .malformedRequestLine : .malformedStatusLine, at: 0)
            }
            position += 1
            origin += 1
            guard origin <= limits.leadingEmptyLineBytes else {
                throw failure(subject == .request ? .malformedRequestLine : .malformedStatusLine, at: 0)
            }
        }
        return false
    }

    /// Copies the bytes read from this piece of input behind those kept from earlier pieces.
    mutating func keep(_ cursor: inout ScanCursor) {
        guard cursor.taken > 0 else { return }
        section.append(bytes: UnsafeRawBufferPointer(start: cursor.bytes + cursor.start, count: cursor.taken))
        cursor.restart(kept: section.byteCount)
    }

    func failure(_ kind: HTTP1Error.Kind, at offset: Int) -> HTTP1Error {
        HTTP1Error(kind, offset: origin &+ offset)
    }

    func failure(_ kind: HTTP1Error.Kind, _ cursor: ScanCursor) -> HTTP1Error {
        failure(kind, at: cursor.offset)
    }
}

// MARK: - Beginning and ending a section

extension HeadScanner {
    /// Prepares for the trailer section of the message whose head was read. Both share the limits.
    mutating func beginTrailers(after head: SectionSize, origin: Int) {
        reset(to: .lineStart)
        section.restart()
        bytesBefore = head.bytes
        fieldsBefore = head.fields
        self.origin = origin
    }

    /// Prepares for the next message.
    mutating func beginHead() {
        reset(to: .emptyLine)
        bytesBefore = 0
        fieldsBefore = 0
        origin = 0
    }

    private mutating func reset(to step: Step) {
        self.step = step
        section.giveUpRoom(aboveFields: Self.keptFields, bytes: Self.keptBytes)
        lines.is_complete = 0
        startLine = StartLine()
        isFolded = false
        hasDividedNames = false
    }

    /// The part of the limits that the section has used.
    var size: SectionSize { SectionSize(bytes: section.byteCount, fields: section.count) }

    /// Completes the fields of the section for their users.
    @inline(__always)
    mutating func complete() {
        if hasDividedNames { recogniseNames() }
    }

    /// The values of the framing fields in the complete section. They are already known if all its lines were read at
    /// once. The method is mutating because a nonmutating one would get a copy of the whole scanner.
    @inline(__always)
    mutating func framing() -> HTTPFields.Framing {
        guard lines.is_complete != 0, lines.count == section.count else { return section.framing }
        return HTTPFields.Framing(lines.framing)
    }

    private mutating func recogniseNames() {
        section.withMutableEntries { entries, bytes in
            for index in entries.indices where entries[index].known == .other {
                entries[index].known = KnownField(nameBytes: entries[index].name(in: UnsafeRawBufferPointer(bytes)))
            }
        }
    }
}
