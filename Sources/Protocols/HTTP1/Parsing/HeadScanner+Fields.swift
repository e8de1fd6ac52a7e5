import CLoadingKitShims
import LoadingKitPrimitives

/// Field lines (RFC 9112 §5): `field-name ":" OWS field-value OWS CRLF`.
extension HeadScanner {
    /// Reads lines while they are complete and plain. The rest of any other line is left to the steps below.
    mutating func scanFieldLines(_ cursor: inout ScanCursor) throws(HTTP1Error) {
        while !cursor.isAtEnd {
            let hadRoom = scanPlainLines(&cursor)
            if lines.is_complete != 0 { return step = .complete }
            guard hadRoom, !cursor.isAtEnd else { continue }
            guard !isEndOrFold(cursor.byte) else { return try scanEndOrFold(&cursor) }
            guard section.count < fieldLimit else { throw failure(.tooManyFields, cursor) }
            nameOffset = cursor.offset
            return step = .name
        }
    }

    /// Reads plain lines. Returns false if there may be more of them than there was room for.
    private mutating func scanPlainLines(_ cursor: inout ScanCursor) -> Bool {
        let allowed = fieldLimit &- section.count
        section.prepare(fields: 1, bytes: 0)
        let room = readPlainLines(
            cursor.bytes, from: cursor.index, to: cursor.end, shift: cursor.shift, atMost: allowed)
        cursor.index = lines.index
        return lines.count < room || room == allowed
    }

    /// Reads plain lines. Returns the number of lines for which there was room.
    @inline(__always)
    mutating func readPlainLines(
        _ bytes: UnsafePointer<UInt8>, from start: Int, to end: Int, shift: Int, atMost allowed: Int
    ) -> Int {
        section.appendEntries { room, capacity in
            let capacity = Swift.min(capacity, allowed)
            room.withMemoryRebound(to: lk_field.self, capacity: capacity) {
                // No section reaches Int32.max bytes.
                lk_read_field_lines(bytes, start, end, shift, $0, capacity, names, &lines)
            }
            return (Int(lines.count), capacity)
        }
    }

    @inline(__always)
    private func isEndOrFold(_ byte: UInt8) -> Bool {
        // All four bytes are at most a space, and no name begins with such a byte.
        byte <= ASCII.space
    }

    /// The line is empty and ends the section, or continues the previous field, or is invalid.
    private mutating func scanEndOrFold(_ cursor: inout ScanCursor) throws(HTTP1Error) {
        switch cursor.byte {
        case ASCII.carriageReturn: step = .lastLineFeed
        case ASCII.lineFeed:
            guard allowsBareLineFeed else { throw failure(.invalidFieldName, cursor) }
            step = .complete
        case ASCII.space, ASCII.tab:
            guard !section.isEmpty else { throw failure(.invalidFieldName, cursor) }
            // RFC 9112 §5.2: a server refuses a folded line; a user agent replaces the fold by spaces.
            guard subject == .response else { throw failure(.obsoleteLineFolding, cursor) }
            isFolded = true
            step = .foldStart
        case _: throw failure(.invalidFieldName, cursor)
        }
        cursor.index &+= 1
    }

    mutating func scanLastLineFeed(_ cursor: inout ScanCursor) throws(HTTP1Error) {
        guard cursor.byte == ASCII.lineFeed else { throw failure(.invalidFieldName, cursor) }
        cursor.index &+= 1
        step = .complete
    }

    mutating func scanName(_ cursor: inout ScanCursor) throws(HTTP1Error) {
        cursor.skipToken()
        guard !cursor.isAtEnd else { return }
        guard cursor.offset > nameOffset else { throw failure(.invalidFieldName, cursor) }
        switch cursor.byte {
        case ASCII.colon:
            finishName(cursor)
            step = .valueStart
        case ASCII.space, ASCII.tab:
            // RFC 9112 §5.1: a server must refuse space before the colon. In a response the space is removed.
            guard subject == .response else { throw failure(.invalidFieldName, cursor) }
            finishName(cursor)
            step = .nameEnd
        case _: throw failure(.invalidFieldName, cursor)
        }
        cursor.index &+= 1
    }

    mutating func scanNameEnd(_ cursor: inout ScanCursor) throws(HTTP1Error) {
        cursor.skipSpace()
        guard !cursor.isAtEnd else { return }
        guard cursor.byte == ASCII.colon else { throw failure(.invalidFieldName, cursor) }
        cursor.index &+= 1
        step = .valueStart
    }

    /// The name ends before the cursor. It is looked up now if this piece of input contains all of it.
    @inline(__always)
    private mutating func finishName(_ cursor: ScanCursor) {
        nameLength = cursor.offset &- nameOffset
        let first = nameOffset &- cursor.shift
        if first >= cursor.start {
            known = KnownField(nameBytes: UnsafeRawBufferPointer(start: cursor.bytes + first, count: nameLength))
        } else {
            known = .other
            hasDividedNames = true
        }
    }

    mutating func scanValueStart(_ cursor: inout ScanCursor) {
        cursor.skipSpace()
        valueOffset = cursor.offset
        if !cursor.isAtEnd { step = .value }
    }

    mutating func scanValue(_ cursor: inout ScanCursor) throws(HTTP1Error) {
        cursor.skipValue()
        guard !cursor.isAtEnd else { return }
        switch cursor.byte {
        case ASCII.carriageReturn: step = .valueFeed
        case ASCII.lineFeed:
            guard allowsBareLineFeed else { throw failure(.invalidFieldValue, cursor) }
            finishValue(&cursor, end: cursor.offset)
        case _: throw failure(.invalidFieldValue, cursor)
        }
        cursor.index &+= 1
    }

    mutating func scanValueFeed(_ cursor: inout ScanCursor) throws(HTTP1Error) {
        guard cursor.byte == ASCII.lineFeed else { throw failure(.invalidFieldValue, cursor) }
        finishValue(&cursor, end: cursor.offset &- 1)
        cursor.index &+= 1
    }

    /// The line's value ends at the offset `end`. Trailing space is not part of it.
    private mutating func finishValue(_ cursor: inout ScanCursor, end: Int) {
        var end = end
        while end > valueOffset, ASCII.isSpace(byte(at: end &- 1, cursor)) { end &-= 1 }
        step = .lineStart
        if isFolded {
            isFolded = false
            if end > valueOffset { extendLastEntry(&cursor, to: end) }
        } else {
            appendEntry(valueLength: end &- valueOffset)
        }
    }

    /// A byte of the section that was read, in the kept bytes or in the current input.
    private func byte(at offset: Int, _ cursor: ScanCursor) -> UInt8 {
        let index = offset &- cursor.shift
        return index >= cursor.start ? cursor.bytes[index] : section.byte(at: offset)
    }

    @inline(__always)
    private mutating func appendEntry(valueLength: Int) {
        // No section reaches Int32.max bytes.
        section.append(
            HTTPFields.Entry(
                nameOffset: UInt32(truncatingIfNeeded: nameOffset), nameLength: UInt32(truncatingIfNeeded: nameLength),
                valueOffset: UInt32(truncatingIfNeeded: valueOffset),
                valueLength: UInt32(truncatingIfNeeded: valueLength), known: known))
    }

    /// Replaces a line's end and the space around it by the same number of spaces, so that the value remains one range
    /// (RFC 9112 §5.2).
    private mutating func extendLastEntry(_ cursor: inout ScanCursor, to end: Int) {
        keep(&cursor)
        let valueOffset = valueOffset
        section.withMutableEntries { entries, bytes in
            guard var entry = entries.last else { return }
            if entry.valueLength == 0 {
                entry.valueOffset = UInt32(truncatingIfNeeded: valueOffset)
            } else {
                let gap = Int(entry.valueOffset) + Int(entry.valueLength)..<valueOffset
                for offset in gap { bytes[offset] = ASCII.space }
            }
            entry.valueLength = UInt32(truncatingIfNeeded: end &- Int(entry.valueOffset))
            entries[entries.count - 1] = entry
        }
    }
}
