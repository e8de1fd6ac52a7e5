import Foundation

/// Parses the bytes of an event stream to events, regardless of their division (HTML §9.2.5 and §9.2.6). It does no
/// I/O.
///
///     var parser = EventStreamParser()
///     for event in try parser.receive(piece) { … }
///
/// Nothing has to be called at the stream's end: an incomplete event is dropped, as the standard requires.
public struct EventStreamParser: Sendable {
    /// The limits.
    public let limits: EventStreamLimits
    /// The ID for a request that continues the stream: that of the last complete event, even one without data.
    public private(set) var lastEventID: String
    /// The last reconnection time from the server, in milliseconds; nil where it sent none.
    public private(set) var reconnectionTime: Int?

    /// The position of the next byte.
    private enum Position {
        /// At the stream's start, after this number of bytes of a byte order mark.
        case start(Int)
        case line
        /// After CR, which ends a line: a following LF belongs to it.
        case afterCarriageReturn
    }

    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    private var position = Position.start(0)
    /// A line that began in an earlier piece.
    private var partialLine: [UInt8] = []
    private var data: [UInt8] = []
    private var type: [UInt8] = []
    private var id: String
    private var retry: Int?

    /// - Parameter lastEventID: the ID in the request. It remains the stream's ID until the server sends another, as in
    ///   browsers.
    public init(lastEventID: String = "", limits: EventStreamLimits = EventStreamLimits()) {
        self.limits = limits
        self.lastEventID = lastEventID
        id = lastEventID
    }

    /// Parses the next bytes, and returns the events that they complete.
    ///
    /// - Throws: an exceeded limit. Events before it in these bytes are lost; ``receive(_:into:)`` returns them. The
    ///   parser must not be used afterwards.
    public mutating func receive(_ bytes: Data) throws(EventStreamParseError) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        try receive(bytes, into: &events)
        return events
    }

    /// Parses the next bytes, and appends the events that they complete, including those before an exceeded limit.
    public mutating func receive(
        _ bytes: Data, into events: inout [ServerSentEvent]
    ) throws(EventStreamParseError) {
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(EventStreamParseError) in try parse(buffer, &events) }
        }
        try result.get()
    }

    private mutating func parse(
        _ bytes: UnsafeRawBufferPointer, _ events: inout [ServerSentEvent]
    ) throws(EventStreamParseError) {
        var start = passByteOrderMark(bytes)
        if case .afterCarriageReturn = position, start < bytes.count {
            if bytes[start] == 0x0a { start += 1 }
            position = .line
        }
        // The first LF from `start` on. Behind a CR it is still the same one: it is not searched again for each line.
        var lineFeed = start - 1
        while start < bytes.count {
            if lineFeed < start { lineFeed = Self.firstIndex(of: 0x0a, in: bytes, start..<bytes.count) }
            // Not searched beyond the LF: most streams have no CR.
            let end = Self.firstIndex(of: 0x0d, in: bytes, start..<lineFeed)
            let run = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            guard partialLine.count + run.count <= limits.maximumLineSize else {
                throw .lineTooLong(limit: limits.maximumLineSize)
            }
            guard end < bytes.count else {
                partialLine.append(contentsOf: run)
                return
            }
            try take(run, &events)
            start = end + 1
            guard bytes[end] == 0x0d else { continue }
            if start == bytes.count {
                position = .afterCarriageReturn
            } else if bytes[start] == 0x0a {
                start += 1
            }
        }
    }

    /// The index of the byte in a range; the end of the range where there is none.
    private static func firstIndex(of byte: Int32, in bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int {
        guard let base = bytes.baseAddress else { return range.upperBound }
        let found = memchr(base + range.lowerBound, byte, range.count)
        return found.map { base.distance(to: $0) } ?? range.upperBound
    }

    /// Returns the start of the text. Bytes that only resembled the start of the mark are restored.
    private mutating func passByteOrderMark(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard case .start(var matched) = position else { return 0 }
        let before = matched
        for (index, byte) in bytes.enumerated() {
            guard byte == Self.byteOrderMark[matched] else {
                partialLine.append(contentsOf: Self.byteOrderMark.prefix(before))
                position = .line
                return 0
            }
            matched += 1
            if matched == Self.byteOrderMark.count {
                position = .line
                return index + 1
            }
        }
        position = .start(matched)
        return bytes.count
    }

    private mutating func take(
        _ run: UnsafeRawBufferPointer, _ events: inout [ServerSentEvent]
    ) throws(EventStreamParseError) {
        guard !partialLine.isEmpty else { return try takeLine(run, &events) }
        var line: [UInt8] = []
        swap(&line, &partialLine)
        line.append(contentsOf: run)
        let result = line.withUnsafeBytes { buffer in
            Result { () throws(EventStreamParseError) in try takeLine(buffer, &events) }
        }
        line.removeAll(keepingCapacity: line.capacity <= 64 << 10)
        swap(&line, &partialLine)
        try result.get()
    }

    private mutating func takeLine(
        _ line: UnsafeRawBufferPointer, _ events: inout [ServerSentEvent]
    ) throws(EventStreamParseError) {
        guard let base = line.baseAddress, !line.isEmpty else { return dispatch(&events) }
        let colon = memchr(base, 0x3a, line.count).map { base.distance(to: UnsafeRawPointer($0)) }
        guard colon != 0 else { return }  // a comment
        let name = UnsafeRawBufferPointer(rebasing: line[..<(colon ?? line.count)])
        var valueStart = colon.map { $0 + 1 } ?? line.count
        if valueStart < line.count, line[valueStart] == 0x20 { valueStart += 1 }
        try takeField(name, UnsafeRawBufferPointer(rebasing: line[valueStart...]))
    }

    private mutating func takeField(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(EventStreamParseError) {
        if Self.matches(name, "data") {
            guard data.count + value.count <= limits.maximumEventSize else {
                throw .eventTooLong(limit: limits.maximumEventSize)
            }
            data.append(contentsOf: value)
            data.append(0x0a)
        } else if Self.matches(name, "event") {
            type.removeAll(keepingCapacity: true)
            type.append(contentsOf: value)
        } else if Self.matches(name, "id") {
            guard value.count <= limits.maximumIDSize else { throw .idTooLong(limit: limits.maximumIDSize) }
            if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        } else if Self.matches(name, "retry") {
            guard !value.isEmpty, value.allSatisfy({ (0x30...0x39).contains($0) }) else { return }
            // A number beyond the range of `Int` becomes the largest one.
            let time = Int(String(decoding: value, as: UTF8.self)) ?? .max
            retry = time
            reconnectionTime = time
        }
    }

    private static func matches(_ bytes: UnsafeRawBufferPointer, _ name: StaticString) -> Bool {
        bytes.count == name.utf8CodeUnitCount && bytes.baseAddress.map { memcmp($0, name.utf8Start, bytes.count) } == 0
    }

    private mutating func dispatch(_ events: inout [ServerSentEvent]) {
        lastEventID = id
        defer {
            type.removeAll(keepingCapacity: true)
            data.removeAll(keepingCapacity: data.capacity <= 64 << 10)
            retry = nil
        }
        guard !data.isEmpty else { return }
        let text = data.withUnsafeBytes { String(decoding: $0.dropLast(), as: UTF8.self) }
        events.append(
            ServerSentEvent(
                id: id, event: type.isEmpty ? "message" : String(decoding: type, as: UTF8.self), data: text,
                retry: retry))
    }
}
