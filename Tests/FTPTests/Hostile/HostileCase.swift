import Foundation
import LoadingKit
import TestSupport

/// A fault of a server, and what a program sees of it.
struct HostileCase: Sendable, CustomStringConvertible {
    enum Expected: Sendable {
        case loads
        case fails(URLError.Code)
    }

    var name: String
    var faults: [FaultyFTPServer.Fault]
    var expected: Expected

    var description: String { name }

    private init(_ name: String, at step: String, _ act: FaultyFTPServer.Act, _ expected: Expected) {
        self.init(name, [.init(step: step, act: act)], expected)
    }

    private init(_ name: String, _ faults: [FaultyFTPServer.Fault], _ expected: Expected) {
        (self.name, self.faults, self.expected) = (name, faults, expected)
    }

    private static let longLine = "230-" + String(repeating: "x", count: 1_000_000) + "\r\n230 done\r\n"
    private static let noEPSV = FaultyFTPServer.Fault(step: "EPSV", act: .reply("500 what?\r\n"))

    static let all: [HostileCase] = [
        // Addresses: that of the control connection is used, whatever the server says.
        HostileCase(
            "PASV names another machine",
            [noEPSV, .init(step: "PASV", act: .reply("227 (10,1,2,3,{high},{low})\r\n"))], .loads),
        HostileCase(
            "PASV names 0.0.0.0", [noEPSV, .init(step: "PASV", act: .reply("227 =0,0,0,0,{high},{low}\r\n"))], .loads),
        HostileCase(
            "PASV's port is 0", [noEPSV, .init(step: "PASV", act: .reply("227 (127,0,0,1,0,0)\r\n"))],
            .fails(.cannotConnectToHost)),
        HostileCase(
            "PASV has five numbers", [noEPSV, .init(step: "PASV", act: .reply("227 (127,0,0,1,80)\r\n"))],
            .fails(.cannotConnectToHost)),
        HostileCase(
            "PASV's numbers are too large",
            [noEPSV, .init(step: "PASV", act: .reply("227 (999,0,0,1,300,300)\r\n"))], .fails(.cannotConnectToHost)),
        HostileCase("EPSV names nobody's port, PASV a good one", at: "EPSV", .deadPort, .loads),
        HostileCase(
            "neither port is anybody's", [.init(step: "EPSV", act: .deadPort), .init(step: "PASV", act: .deadPort)],
            .fails(.cannotConnectToHost)),

        // Replies.
        HostileCase(
            "a greeting of 1 MB in one line", at: "greeting", .reply(longLine), .fails(.dataLengthExceedsMaximum)),
        HostileCase("an endless line", at: "USER", .endless("x"), .fails(.dataLengthExceedsMaximum)),
        HostileCase("an endless reply", at: "PASS", .endless("230-x\r\n"), .fails(.dataLengthExceedsMaximum)),
        HostileCase(
            "preliminary replies without end", at: "SIZE", .endless("120 wait\r\n"), .fails(.dataLengthExceedsMaximum)),
        HostileCase("empty lines without end", at: "USER", .endless("\r\n"), .fails(.dataLengthExceedsMaximum)),
        HostileCase("each reply's bytes come alone", at: "greeting", .byteByByte, .loads),
        HostileCase("a reply has NUL in it", at: "USER", .reply("331 pass\u{0}word?\r\n"), .loads),
        HostileCase("bare line feeds", at: "USER", .reply("331-pass\n331 word?\n"), .loads),
        HostileCase(
            "lines of a reply look like other replies", at: "USER", .reply("331-a\r\n530 no\r\n 331 b\r\n331 c\r\n"),
            .loads),
        HostileCase("no reply but text", at: "USER", .reply("hello\r\n"), .fails(.cannotParseResponse)),
        HostileCase("a code of two digits", at: "USER", .reply("33 password?\r\n"), .fails(.cannotParseResponse)),
        HostileCase("a code of four digits", at: "USER", .reply("3310 password?\r\n"), .fails(.cannotParseResponse)),
        HostileCase("a code above 599", at: "USER", .reply("999 password?\r\n"), .fails(.cannotParseResponse)),

        // The data connection.
        HostileCase(
            "the data ends too early, and that is called success", at: "RETR", .cutData(1000),
            .fails(.networkConnectionLost)),
        HostileCase(
            "the data connection is reset, and that is called success", at: "RETR", .resetData,
            .fails(.networkConnectionLost)),
        HostileCase("success is told before the data comes", at: "RETR", .endBeforeData, .loads),
        HostileCase("no word after the data", at: "end", .close(""), .fails(.networkConnectionLost)),
        HostileCase("a failure after all data", at: "end", .reply("451 disk\r\n"), .fails(.networkConnectionLost)),
        HostileCase(
            "the server does not take the user", at: "PASS", .reply("530 no\r\n"), .fails(.userAuthenticationRequired)),
        HostileCase("the service ends", at: "TYPE", .close("421 bye\r\n"), .fails(.cannotConnectToHost)),
        HostileCase(
            "no such file",
            ["SIZE", "MDTM", "RETR", "CWD"].map { .init(step: $0, act: .reply("550 no such file\r\n")) },
            .fails(.fileDoesNotExist)),
        HostileCase(
            "a file that is there, and cannot be read", at: "RETR", .reply("550 no\r\n"),
            .fails(.noPermissionsToReadFile)),
        HostileCase("SIZE lies: less", at: "SIZE", .reply("213 1000\r\n"), .fails(.badServerResponse)),
        HostileCase("the file is empty, by SIZE", at: "SIZE", .reply("213 0\r\n"), .fails(.badServerResponse)),
        HostileCase("more data than the file has", at: "RETR", .moreData(1), .fails(.badServerResponse)),
        HostileCase("SIZE lies: more", at: "SIZE", .reply("213 99999999\r\n"), .fails(.networkConnectionLost)),
        HostileCase("SIZE is no number", at: "SIZE", .reply("213 -5\r\n"), .loads),
        HostileCase("SIZE is beyond 64 bits", at: "SIZE", .reply("213 99999999999999999999999\r\n"), .loads),
        HostileCase("MDTM is no time", at: "MDTM", .reply("213 20269999999999\r\n"), .loads),
        HostileCase("FEAT is refused", at: "FEAT", .reply("500 what?\r\n"), .loads),
        HostileCase("PWD is not needed", at: "PWD", .reply("500 what?\r\n"), .loads),
    ]
}
