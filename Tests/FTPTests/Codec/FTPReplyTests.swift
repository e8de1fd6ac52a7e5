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
}
