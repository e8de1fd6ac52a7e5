import LoadingKitFTP
import Testing

/// The replies that a parser returns for bytes, and its error.
enum ReplyOutcome: Equatable {
    case reply(FTPReply)
    case error(FTPError)
}

/// Gives bytes to a parser whole, byte by byte, split at every offset, and followed by other bytes, and expects the same each
/// time.
func verifyReplies(
    _ text: String, _ expected: [ReplyOutcome], limits: FTPLimits = FTPLimits(),
    _ location: SourceLocation = #_sourceLocation
) {
    let bytes = Array(text.utf8)
    func outcome(_ pieces: [ArraySlice<UInt8>]) -> [ReplyOutcome] {
        var parser = FTPReplyParser(limits: limits)
        var outcomes: [ReplyOutcome] = []
        for piece in pieces + [[]] {
            do {
                outcomes += try Array(piece).withUnsafeBytes { try parser.receive($0) }.map { .reply($0) }
            } catch {
                return outcomes + ((error as? FTPError).map { [.error($0)] } ?? [])
            }
        }
        return outcomes
    }
    #expect(outcome([bytes[...]]) == expected, sourceLocation: location)
    #expect(outcome(bytes.indices.map { bytes[$0...$0] }) == expected, sourceLocation: location)
    for index in bytes.indices where bytes.count < 2_000 {
        #expect(outcome([bytes[..<index], bytes[index...]]) == expected, sourceLocation: location)
    }
    if case .reply? = expected.last {
        let followed = outcome([(bytes + Array("200 Next\r\n".utf8))[...]])
        #expect(
            followed == expected + [.reply(FTPReply(code: 200, lines: [Array("Next".utf8)]))], sourceLocation: location)
    }
}

@Suite struct FTPReplyParserTests {
    private func reply(_ code: Int, _ lines: String...) -> ReplyOutcome {
        .reply(FTPReply(code: code, lines: lines.map { Array($0.utf8) }))
    }

    @Test func replies() {
        verifyReplies("220 Welcome\r\n", [reply(220, "Welcome")])
        verifyReplies("220 \r\n", [reply(220, "")])
        verifyReplies("226\r\n", [reply(226, "")])
        verifyReplies("226 A bare line feed\n", [reply(226, "A bare line feed")])
        verifyReplies("150 One\r\n226 Two\r\n", [reply(150, "One"), reply(226, "Two")])
        verifyReplies("\r\n226 After an empty line\r\n", [reply(226, "After an empty line")])
    }

    @Test func repliesOfSeveralLines() {
        verifyReplies("211-Features:\r\n SIZE\r\n211 End\r\n", [reply(211, "Features:", " SIZE", "End")])
        // Lines that look like the end of another reply, or like a continued one.
        verifyReplies(
            "220-a\r\n226 b\r\n220-c\r\n\r\n22\r\n220 d\r\n", [reply(220, "a", "226 b", "220-c", "", "22", "d")])
        verifyReplies("220-a\r\n220\r\n", [reply(220, "a", "")])
    }

    @Test func whatIsNoReply() {
        for line in ["Hello", "22", "22x a", "2200 a", "600 a", "099 a", "220_a", "-20 a", "HTTP/1.1 200 OK"] {
            verifyReplies("\(line)\r\n", [.error(.malformedReply(Array(line.utf8)))])
        }
        verifyReplies("220 a\r\nHello\r\n", [reply(220, "a"), .error(.malformedReply(Array("Hello".utf8)))])
    }

    @Test func limits() {
        var limits = FTPLimits()
        (limits.lineLength, limits.replyLines, limits.replyLength) = (10, 3, 12)
        verifyReplies("220 abcdef\r\n", [reply(220, "abcdef")], limits: limits)
        verifyReplies("220 abcdefg\r\n", [.error(.lineTooLong(limit: 10))], limits: limits)
        // Without an end.
        verifyReplies("220 abcdefghijklm", [.error(.lineTooLong(limit: 10))], limits: limits)
        verifyReplies("220-a\r\nb\r\n220 c\r\n", [reply(220, "a", "b", "c")], limits: limits)
        verifyReplies("220-a\r\nb\r\nc\r\n220 d\r\n", [.error(.tooManyLines(limit: 3))], limits: limits)
        verifyReplies("220-abcdef\r\nghijkl\r\n220 \r\n", [reply(220, "abcdef", "ghijkl", "")], limits: limits)
        verifyReplies("220-abcdef\r\nghijklm\r\n220 \r\n", [.error(.replyTooLong(limit: 12))], limits: limits)
        (limits.lineLength, limits.replyLines, limits.replyLength) = (.max, .max, .max)
        verifyReplies("220 a\r\n", [reply(220, "a")], limits: limits)
        (limits.lineLength, limits.replyLines, limits.replyLength) = (0, 0, 0)
        verifyReplies("220 a\r\n", [.error(.lineTooLong(limit: 0))], limits: limits)
    }

    @Test func emptyLinesBeforeAReplyAreCounted() {
        let most = String(repeating: "\r\n", count: 1_000)
        verifyReplies(most + "220 a\r\n", [reply(220, "a")])
        verifyReplies(most + "\r\n", [.error(.tooManyLines(limit: 1_000))])
        var limits = FTPLimits()
        limits.replyLines = 2
        verifyReplies("\r\n\n220 a\r\n\n\r\n226 b\r\n", [reply(220, "a"), reply(226, "b")], limits: limits)
        verifyReplies("220 a\r\n\n\n\n226 b\r\n", [reply(220, "a"), .error(.tooManyLines(limit: 2))], limits: limits)
    }

    @Test func whatFollowsAReplyInTheSameBytes() throws {
        var parser = FTPReplyParser()
        let replies = try Array("150 a\r\n000 x\r\n226 b\r\n".utf8).withUnsafeBytes { try parser.receive($0) }
        #expect(replies.map(\.code) == [150])
        #expect(parser.failure == .malformedReply(Array("000 x".utf8)))
    }

    @Test func betweenReplies() throws {
        var parser = FTPReplyParser()
        #expect(parser.isBetweenReplies)
        _ = try Array("220-a\r\n".utf8).withUnsafeBytes { try parser.receive($0) }
        #expect(!parser.isBetweenReplies)
        _ = try Array("220 b\r\n2".utf8).withUnsafeBytes { try parser.receive($0) }
        #expect(!parser.isBetweenReplies)
        _ = try Array("20 c\r\n".utf8).withUnsafeBytes { try parser.receive($0) }
        #expect(parser.isBetweenReplies)
    }
}
