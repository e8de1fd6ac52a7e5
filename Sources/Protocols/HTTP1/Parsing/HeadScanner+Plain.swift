import CLoadingKitShims
import LoadingKitPrimitives

/// Heads of responses that arrive in one piece and need no special handling: nearly all.
extension HeadScanner {
    /// Reads the plain part of a head. Returns true if this is all of the head. Any rest is left to the steps that read
    /// single bytes.
    @inline(__always)
    mutating func scanPlainHead(_ input: UnsafeRawBufferPointer, _ position: inout Int) -> Bool {
        guard step == .emptyLine, subject == .response, let base = input.baseAddress else { return false }
        let count = input.count &- position
        // If the limit may be reached, the other steps find the place.
        guard count < byteLimit, count > 16 else { return false }
        let bytes = (base + position).assumingMemoryBound(to: UInt8.self)
        let lineEnd = readPlainStatusLine(bytes, count)
        guard lineEnd > 0 else { return false }
        section.restart()
        _ = readPlainLines(bytes, from: lineEnd, to: count, shift: 0, atMost: fieldLimit)
        section.appendToOwn(bytes: UnsafeRawBufferPointer(start: bytes, count: lines.index))
        position &+= lines.index
        step = lines.is_complete != 0 ? .complete : .lineStart
        return step == .complete
    }

    /// Reads the whole status line, from more than 16 bytes. Returns the position behind it, or 0.
    @inline(__always)
    private mutating func readPlainStatusLine(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int {
        // `HTTP/1.`, followed by a digit.
        let version = UnsafeRawPointer(bytes).loadUnaligned(as: UInt64.self)
        let beginning = UInt64(littleEndian: 0x002E_312F_5054_5448)
        guard (version ^ beginning) & UInt64(littleEndian: 0x00FF_FFFF_FFFF_FFFF) == 0,
            let minor = ASCII.digit(bytes[7])
        else { return 0 }
        startLine.minorVersion = minor
        // ` 200 OK` and CRLF, as in most responses.
        let rest = UnsafeRawPointer(bytes + 8).loadUnaligned(as: UInt64.self)
        guard rest == UInt64(littleEndian: 0x0D4B_4F20_3030_3220), bytes[16] == ASCII.lineFeed,
            limits.startLineBytes >= 15
        else { return readAnyPlainStatus(bytes, count) }
        startLine.status = 200
        startLine.isReasonUsual = true
        return 17
    }

    /// Reads the rest of the line, from its 9th byte on.
    @inline(never)
    private mutating func readAnyPlainStatus(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int {
        guard bytes[8] == ASCII.space, let hundreds = ASCII.digit(bytes[9]), hundreds > 0,
            let tens = ASCII.digit(bytes[10]), let ones = ASCII.digit(bytes[11]), bytes[12] == ASCII.space
        else { return 0 }
        let end = 13 &+ lk_value_end(bytes + 13, count &- 13)
        guard count &- end >= 2, bytes[end] == ASCII.carriageReturn, bytes[end &+ 1] == ASCII.lineFeed,
            end <= limits.startLineBytes
        else { return 0 }
        startLine.status = Int(hundreds) &* 100 &+ Int(tens) &* 10 &+ Int(ones)
        startLine.reason = 13..<end
        startLine.isReasonUsual = Reason.isUsual(
            UnsafeRawBufferPointer(start: bytes + 13, count: end &- 13), startLine.status)
        return end &+ 2
    }
}
