import CLoadingKitShims
import LoadingKitPrimitives

/// Reads a message's first line and fields, or a trailer section, from whatever pieces of it arrive.
///
/// The bytes are read in place, in one pass, and places are remembered as offsets from the section's first byte. The bytes
/// of a piece that ends before the section does are kept in `section`, which has them all at the section's end. So a head
/// that comes in one piece costs one allocation and one copy, and without the former where nothing holds the head before it
/// any more.
///
/// A line's end is CRLF or, but in a request's head, a bare LF (RFC 9112 §2.2); a CR that no LF follows is an error wherever
/// it comes.
@usableFromInline
struct HeadScanner: Sendable {
    /// What is expected next. Each is a place where the input may end.
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

    /// Whose section it is: a server must refuse what a client may repair (RFC 9112 §5.1, §5.2).
    enum Subject: Sendable { case request, response }

    /// Memory for more than this is not kept for the next section.
    private static let keptBytes = 4096
    private static let keptFields = 64

    let subject: Subject
    let limits: HTTP1Limits
    /// What the limits, which may be any number, leave for a whole message.
    private let headBytes: Int
    private let fieldCount: Int
    /// Kept here, as the check whether the table has been made costs a call. It does not change.
    nonisolated(unsafe) let names = KnownField.table

    @usableFromInline var step: Step
    /// The fields read, and the section's bytes from earlier pieces of input; of the message before, as long as none of
    /// this one has come.
    @usableFromInline var section = HTTPFields()
    /// What was last read of whole lines.
    var lines = lk_lines()
    @usableFromInline var startLine = StartLine()

    /// The field being read: places of its name and value.
    var nameOffset = 0
    var nameLength = 0
    var valueOffset = 0
    var known = KnownField.other
    /// The value goes on from the line before (RFC 9112 §5.2).
    var isFolded = false
    /// Names were divided between pieces of input and are still to be recognised.
    var hasDividedNames = false

    /// Bytes and fields of the message that this section is a part of which count towards the limits.
    private(set) var bytesBefore = 0
    private(set) var fieldsBefore = 0
    /// Bytes of the message before the section, for the offsets of errors.
    private(set) var origin = 0

    init(subject: Subject, limits: HTTP1Limits) {
        self.subject = subject
        self.limits = limits
        headBytes = Swift.max(0, Swift.min(limits.headBytes, Int(Int32.max)))
        fieldCount = Swift.max(0, limits.fieldCount)
        step = .emptyLine
    }

    /// Whether no byte of the section has come; empty lines do not count.
    var isUntouched: Bool {
        switch step {
        case .emptyLine, .emptyLineFeed: true
        case .statusLine, .statusCodeEnd, .reason, .method, .target, .requestVersion, .startLineEnd, .startLineFeed,
            .lineStart, .name, .nameEnd, .valueStart, .value, .valueFeed, .foldStart, .lastLineFeed, .complete:
            false
        }
    }

    /// RFC 9112 §2.2 lets a recipient take it for a line's end. In a request's head, or in its trailers, it may be one to this
    /// recipient and not to another, so that each reads other requests.
    var allowsBareLineFeed: Bool { subject == .response }

    /// What the limits leave for this section.
    var byteLimit: Int { headBytes &- bytesBefore }
    var fieldLimit: Int { fieldCount &- fieldsBefore }

    /// Reads on. True when the section is complete; false when all input is used up and more is needed.
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
        case .valueStart: scanValueStart(&cursor)
        case .value: try scanValue(&cursor)
        case .valueFeed: try scanValueFeed(&cursor)
        case .foldStart: scanFoldStart(&cursor)
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

    /// Copies what has been read of this piece of input behind what earlier pieces left.
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
    /// Gets ready for the trailer section of the message whose head was read, which shares its limits.
    mutating func beginTrailers(after head: SectionSize, origin: Int) {
        reset(to: .lineStart)
        section.restart()
        bytesBefore = head.bytes
        fieldsBefore = head.fields
        self.origin = origin
    }

    /// Gets ready for the next message.
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

    /// How much of the limits the section has used.
    var size: SectionSize { SectionSize(bytes: section.byteCount, fields: section.count) }

    /// Makes the fields of the complete section what they are for others.
    @inline(__always)
    mutating func complete() {
        if hasDividedNames { recogniseNames() }
    }

    /// The values of the fields that frame the message, of the complete section: known already where all its lines were
    /// read at once. Mutating as what only reads is given a copy of the whole scanner.
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
