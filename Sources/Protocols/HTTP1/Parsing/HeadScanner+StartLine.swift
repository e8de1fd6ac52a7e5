import CLoadingKitShims
import LoadingKitPrimitives

/// First lines (RFC 9112 §3, §4): `method SP request-target SP HTTP-version CRLF` and
/// `HTTP-version SP status-code SP [ reason-phrase ] CRLF`.
extension HeadScanner {
    /// `HTTP/1.` digit, space, three digits. The position in them is the offset in the section.
    mutating func scanStatusLine(_ cursor: inout ScanCursor) throws(HTTP1Error) {
        while !cursor.isAtEnd {
            switch cursor.offset {
            case 0...7: try scanVersionByte(cursor, place: cursor.offset, error: .malformedStatusLine)
            case 8: guard cursor.byte == ASCII.space else { throw failure(.malformedStatusLine, cursor) }
            case _:
                guard let digit = ASCII.digit(cursor.byte), cursor.offset > 9 || digit > 0 else {
                    throw failure(.malformedStatusLine, cursor)
                }
                startLine.status = startLine.status &* 10 &+ Int(digit)
            }
            cursor.index &+= 1
            if cursor.offset == 12 { return step = .statusCodeEnd }
        }
    }

    /// One byte of `HTTP/1.` and the digit after it.
    private mutating func scanVersionByte(
        _ cursor: ScanCursor, place: Int, error: HTTP1Error.Kind
    ) throws(HTTP1Error) {
        let byte = cursor.byte
        let isExpected =
            switch place {
            case 0: byte == UInt8(ascii: "H")
            case 1, 2: byte == UInt8(ascii: "T")
            case 3: byte == UInt8(ascii: "P")
            case 4: byte == UInt8(ascii: "/")
            case 5: ASCII.digit(byte) != nil
            case 6: byte == UInt8(ascii: ".")
            case _: ASCII.digit(byte) != nil
            }
        guard isExpected else { throw failure(error, cursor) }
        if place == 5, byte != UInt8(ascii: "1") { throw failure(.unsupportedVersion, cursor) }
        if place == 7 { startLine.minorVersion = byte &- ASCII.zero }
    }

    /// Servers often omit the space before the reason if the reason is empty.
    mutating func scanStatusCodeEnd(_ cursor: inout ScanCursor) throws(HTTP1Error) {
        startLine.reason = cursor.offset..<cursor.offset
        guard cursor.byte == ASCII.space else { return step = .startLineEnd }
        cursor.index &+= 1
        startLine.reason = cursor.offset..<cursor.offset
        step = .reason
    }

    mutating func scanReason(_ cursor: inout ScanCursor) throws(HTTP1Error) {
        cursor.skipValue()
        try checkStartLineLength(cursor)
        startLine.reason = startLine.reason.lowerBound..<cursor.offset
        if !cursor.isAtEnd { step = .startLineEnd }
    }

    mutating func scanMethod(_ cursor: inout ScanCursor) throws(HTTP1Error) {
        cursor.skipToken()
        try checkStartLineLength(cursor)
        guard !cursor.isAtEnd else { return }
        guard cursor.byte == ASCII.space, cursor.offset > 0 else { throw failure(.malformedRequestLine, cursor) }
        startLine.method = 0..<cursor.offset
        cursor.index &+= 1
        startLine.target = cursor.offset..<cursor.offset
        step = .target
    }

    /// Reads visible ASCII up to the next space. The form of the target is checked when the fields are known.
    mutating func scanTarget(_ cursor: inout ScanCursor) throws(HTTP1Error) {
        while !cursor.isAtEnd, cursor.byte > ASCII.space, cursor.byte < 0x7F { cursor.index &+= 1 }
        try checkStartLineLength(cursor)
        guard !cursor.isAtEnd else { return }
        startLine.target = startLine.target.lowerBound..<cursor.offset
        guard cursor.byte == ASCII.space, !startLine.target.isEmpty else {
            throw failure(.malformedRequestLine, cursor)
        }
        cursor.index &+= 1
        step = .requestVersion
    }

    mutating func scanRequestVersion(_ cursor: inout ScanCursor) throws(HTTP1Error) {
        while !cursor.isAtEnd {
            let place = cursor.offset &- startLine.target.upperBound &- 1
            try scanVersionByte(cursor, place: place, error: .malformedRequestLine)
            cursor.index &+= 1
            if place == 7 { return step = .startLineEnd }
        }
    }

    mutating func scanStartLineEnd(_ cursor: inout ScanCursor) throws(HTTP1Error) {
        switch cursor.byte {
        case ASCII.carriageReturn: step = .startLineFeed
        case ASCII.lineFeed where allowsBareLineFeed: step = .lineStart
        case _: throw malformedStartLine(cursor)
        }
        cursor.index &+= 1
    }

    mutating func scanStartLineFeed(_ cursor: inout ScanCursor) throws(HTTP1Error) {
        guard cursor.byte == ASCII.lineFeed else { throw malformedStartLine(cursor) }
        cursor.index &+= 1
        step = .lineStart
    }

    private func malformedStartLine(_ cursor: ScanCursor) -> HTTP1Error {
        failure(subject == .request ? .malformedRequestLine : .malformedStatusLine, cursor)
    }

    private func checkStartLineLength(_ cursor: ScanCursor) throws(HTTP1Error) {
        guard cursor.offset <= limits.startLineBytes else {
            throw failure(.startLineTooLong, at: Swift.max(0, limits.startLineBytes))
        }
    }
}
