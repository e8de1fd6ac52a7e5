import LoadingKitFTP
import Testing

@Suite struct FTPReplyTests {
    @Test func theFirstDigitSaysWhatBecameOfTheCommand() {
        let kinds: [(Int, FTPReply.Kind?)] = [
            (99, nil), (150, .preliminary), (226, .completion), (331, .intermediate), (450, .transientFailure),
            (550, .permanentFailure), (600, nil),
        ]
        for (code, kind) in kinds { #expect(FTPReply(code: code, lines: [[]]).kind == kind) }
    }

    @Test func refusalsSayWhatHappened() {
        let cases: [(FTPRefusal.Kind, String)] = [
            (.serviceUnavailable, "the server is not available"),
            (.login, "the server does not accept the user name and the password"),
            (.account, "the server wants an account, which an ftp: URL cannot name"),
            (.security, "the server does not protect the connection by TLS"),
            (.noSuchFile, "there is no such file or folder"), (.noPermission, "the user may not read the file"),
            (.isDirectory, "the URL names a folder: with a slash at its end it can be listed"),
            (.cannotWrite, "the file or folder cannot be written"),
            (.noSpace, "the server has no room for the file"), (.dataConnection, "there is no data connection"),
            (.interrupted, "the transfer was broken off"), (.notImplemented, "the server cannot do that"),
            (.unexpectedReply, "the server does not keep to the protocol"),
        ]
        let reply = FTPReply(code: 550, lines: [Array("No".utf8)])
        for (kind, text) in cases {
            #expect(
                FTPRefusal(kind, reply, to: "RETR").description == "\(text): the server's answer to RETR is “550 No”")
        }
        #expect(FTPRefusal(.login, reply, to: "").description.hasSuffix(": the server's greeting is “550 No”"))
        #expect(FTPRefusal(.login, nil, to: "PASS").description.hasSuffix(": no answer to PASS"))
        #expect(FTPRefusal(.login, nil, to: "").description.hasSuffix(": no answer"))
    }

    @Test func errorsSayWhatHappened() {
        let cases: [(FTPError, String)] = [
            (.lineTooLong(limit: 7), "more than 7 bytes (lineLength"), (.tooManyLines(limit: 7), "more than 7 lines"),
            (.replyTooLong(limit: 7), "more than 7 bytes (replyLength)"),
            (.tooManyPreliminaryReplies(limit: 7), "more than 7 preliminary replies"),
            (.malformedReply(Array("a\u{7}b".utf8)), "“a b”"),
            (.malformedReply(Array(repeating: 0x61, count: 201)), "a…”"),
            (.invalidArgument(command: "CWD"), "an argument of CWD"), (.invalidPath, "the URL's path"),
            (.invalidType("x"), "the URL's type “x”"),
        ]
        for (error, text) in cases { #expect(error.description.contains(text), "\(error)") }
        #expect(cases.prefix(4).allSatisfy { $0.0.category == .tooLong })
        #expect(cases[4...5].allSatisfy { $0.0.category == .unparsableResponse })
        #expect(cases[6...].allSatisfy { $0.0.category == .invalidRequest })
    }
}
