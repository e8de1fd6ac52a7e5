import LoadingKitFTP
import Testing

@Suite struct FTPReplyValueTests {
    private func reply(_ code: Int, _ lines: String...) -> FTPReply {
        FTPReply(code: code, lines: lines.map { Array($0.utf8) })
    }

    @Test func extendedPassivePorts() {
        let cases: [(String, UInt16?)] = [
            ("Entering Extended Passive Mode (|||6446|)", 6446), ("(!!!1!)", 1), ("ok (|||65535|).", 65535),
            ("(|1|10.0.0.1|6446|)", 6446), ("(|||0|)", nil), ("(|||65536|)", nil), ("(|||99999999999999999999|)", nil),
            ("(|||-1|)", nil), ("(||||)", nil), ("(|||6446)", nil), ("(|||6446|", nil), ("(", nil), ("()", nil),
            ("", nil),
            ("(1112111)", nil), ("(|||64 46|)", nil), ("10,0,0,1,2,3", nil),
        ]
        for (text, port) in cases { #expect(reply(229, text).extendedPassivePort == port, "\(text)") }
        #expect(reply(227, "(|||6446|)").extendedPassivePort == nil)
    }

    @Test func passivePorts() {
        let cases: [(String, UInt16?)] = [
            ("Entering Passive Mode (127,0,0,1,25,46)", 6446), ("127,0,0,1,25,46", 6446),
            ("Passive mode 2 =10,1,2,3,255,255.", 65535), ("(127,0,0,1,0,0)", nil), ("(256,0,0,1,25,46)", nil),
            ("(127,0,0,1,25)", nil), ("(127,0,0,1,25,999)", nil), ("", nil), ("(127,0,0,1,,46)", nil),
            ("(0127,0,0,1,25,46)", nil), ("(a,0,0,1,25,46)", nil),
        ]
        for (text, port) in cases { #expect(reply(227, text).passivePort == port, "\(text)") }
    }

    @Test func sizes() {
        let cases: [(String, Int64?)] = [
            ("0", 0), ("1234", 1234), (" 1234 ", 1234), ("9223372036854775807", .max), ("9223372036854775808", nil),
            ("-1", nil), ("+1", nil), ("1 234", nil), ("0x10", nil), ("", nil),
        ]
        for (text, size) in cases { #expect(reply(213, text).size == size, "\(text)") }
        #expect(reply(250, "1234").size == nil)
    }

    @Test func modificationTimes() {
        let cases: [(String, Int64?)] = [
            ("19700101000000", 0), ("20260131230509", 1_769_900_709), ("20260131230509.123", 1_769_900_709),
            ("20240229000000", 1_709_164_800), ("20230229000000", nil), ("20261301000000", nil),
            ("20260100000000", nil),
            ("20260131240000", nil), ("20260131236000", nil), ("20161231235960", 1_483_228_800),
            ("00000101000000", nil),
            ("191000101000000", nil), ("2026013123050", nil), ("2026013123050a", nil), ("", nil),
        ]
        for (text, time) in cases { #expect(reply(213, text).modificationTime == time, "\(text)") }
    }

    @Test func quotedPaths() {
        let cases: [(String, String?)] = [
            ("\"/home\" is the current directory", "/home"), ("\"/a \"\"b\"\" c\" made", "/a \"b\" c"), ("\"/\"", "/"),
            ("\"\"", nil), ("\"/a", nil), ("/a", nil), ("", nil), ("\"a\"\"", nil),
        ]
        for (text, path) in cases { #expect(reply(257, text).quotedPath == path.map { Array($0.utf8) }, "\(text)") }
    }

    @Test func announcedSizes() {
        let cases: [(String, Int64?)] = [
            ("Opening BINARY mode data connection for a (1234 bytes).", 1234), ("a (1 byte)", 1), ("(x) (7 bytes)", 7),
            ("(1234 kbytes)", nil), ("1234 bytes", nil), ("( bytes)", nil), ("", nil),
        ]
        for (text, size) in cases { #expect(reply(150, text).announcedSize == size, "\(text)") }
    }

    @Test func features() {
        let features = FTPFeatures(
            reply(211, "Extensions:", " MLST type*;size*;modify*;", " rest stream", " UTF8 ", "SIZE", "End"))
        #expect(features.hasMachineListings)
        #expect(features.contains("utf8") && features.contains("SIZE") && features.contains("MLST"))
        #expect(!features.contains("ML") && !features.contains("End") && !features.contains("Extensions:"))
        #expect(FTPFeatures(reply(211, "no-features")) == .none)
        #expect(FTPFeatures(reply(500, "FEAT", "UTF8", "?")) == .none)
    }

    @Test func whatAMessageQuotes() {
        #expect(reply(550, "a", "No such\u{1B}[31m file").summary == "550 No such [31m file")
        #expect(reply(550, "").summary == "550")
    }

    @Test func commands() throws {
        #expect(try FTPCommand("RETR", Array("a b".utf8)).bytes == Array("RETR a b\r\n".utf8))
        #expect(try FTPCommand("EPSV").bytes == Array("EPSV\r\n".utf8))
        #expect(try FTPCommand("RETR", [0x61, 0xFF]).bytes == Array("RETR a".utf8) + [0xFF, 0xFF, 0x0D, 0x0A])
        for byte: UInt8 in [0, 10, 13] {
            #expect(throws: FTPError.invalidArgument(command: "RETR")) { try FTPCommand("RETR", [0x61, byte, 0x62]) }
        }
    }
}
