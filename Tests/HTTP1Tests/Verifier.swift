import LoadingKitHTTP1
import Testing

/// Feeds a message whole, byte by byte, divided at every place, and followed by other bytes, and expects the same of
/// all; gives what that is.
@discardableResult
func verified(
    _ parser: some TestableParser, _ input: [UInt8], isClosed: Bool = false, _ name: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
) -> Transcript {
    let whole = Transcript(parser, input, isClosed: isClosed)
    var differing: [String] = []
    func compare(_ how: String, _ other: Transcript) {
        if other != whole { differing.append("\(how): \(other)") }
    }
    compare("byte by byte", Transcript(parser, input, cuts: Array(input.indices), isClosed: isClosed))
    for cut in input.indices {
        compare("divided at \(cut)", Transcript(parser, input, cuts: [cut], isClosed: isClosed))
    }
    if !isClosed, whole.entries.last == .end, whole.error == nil, whole.consumed == input.count {
        let followed = Transcript(parser, input + Array("\u{1}other".utf8))
        if !followed.entries.starts(with: whole.entries) { differing.append("followed by others: \(followed)") }
    }
    let isSame = differing.isEmpty
    #expect(
        isSame, "\(name): whole: \(whole)\n\(differing.prefix(3).joined(separator: "\n"))",
        sourceLocation: sourceLocation)
    return whole
}

func verified(
    _ parser: some TestableParser, _ input: String, isClosed: Bool = false,
    sourceLocation: SourceLocation = #_sourceLocation
) -> Transcript {
    verified(
        parser, Array(input.utf8), isClosed: isClosed, input.prefix(60).debugDescription,
        sourceLocation: sourceLocation)
}

/// A response parser for responses to a method.
func responseParser(to method: String = "GET", limits: HTTP1Limits = HTTP1Limits()) -> ResponseParser {
    var parser = ResponseParser(limits: limits)
    parser.expect(method: method)
    return parser
}
