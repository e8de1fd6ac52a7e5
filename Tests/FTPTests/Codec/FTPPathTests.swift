import LoadingKitFTP
import Testing

@Suite struct FTPPathTests {
    struct Case {
        let url: String
        let whole: String
        let segments: [String]
        var isDirectory = false
        var form: FTPPath.Form?
    }

    static let cases: [Case] = [
        Case(url: "", whole: "", segments: [], isDirectory: true),
        Case(url: "/", whole: "", segments: [], isDirectory: true),
        Case(url: "/a", whole: "a", segments: ["a"]),
        Case(url: "/a/b.txt", whole: "a/b.txt", segments: ["a", "b.txt"]),
        Case(url: "/a/", whole: "a", segments: ["a"], isDirectory: true),
        Case(url: "/a//b", whole: "a/b", segments: ["a", "b"]),
        Case(url: "/%2Fetc/motd", whole: "/etc/motd", segments: ["/etc", "motd"]),
        Case(url: "/%2F", whole: "/", segments: ["/"]),
        Case(url: "//etc/motd", whole: "/etc/motd", segments: ["/etc", "motd"]),
        Case(url: "//%2Fetc/motd", whole: "/etc/motd", segments: ["/etc", "motd"]),
        Case(url: "//", whole: "/", segments: ["/"], isDirectory: true),
        Case(url: "/a%20b%25", whole: "a b%", segments: ["a b%"]),
        Case(url: "/a;type=a", whole: "a", segments: ["a"], form: .text),
        Case(url: "/a;type=A", whole: "a", segments: ["a"], form: .text),
        Case(url: "/a;TYPE=i", whole: "a", segments: ["a"], form: .image),
        Case(url: "/a;type=d", whole: "a", segments: ["a"], isDirectory: true),
        Case(url: "/a/;type=d", whole: "a", segments: ["a"], isDirectory: true),
        Case(url: "/a;b", whole: "a;b", segments: ["a;b"]),
        Case(url: "/a%3Btype=a", whole: "a;type=a", segments: ["a;type=a"]),
        Case(url: "/../a", whole: "../a", segments: ["..", "a"]),
        Case(url: "/%C3%A4", whole: "ä", segments: ["ä"]),
    ]

    @Test func paths() throws {
        for one in Self.cases {
            let path = try FTPPath(one.url)
            #expect(path.whole == Array(one.whole.utf8), "\(one.url)")
            #expect(path.segments == one.segments.map { Array($0.utf8) }, "\(one.url)")
            #expect(path.isDirectory == one.isDirectory && path.form == one.form, "\(one.url)")
        }
    }

    @Test func whatIsRefused() {
        for text in ["/a%0D%0ADELE%20b", "/a%0a", "/a%00", "/a%", "/a%2", "/a%zz"] {
            #expect(throws: FTPError.invalidPath) { try FTPPath(text) }
        }
        #expect(throws: FTPError.invalidType("x")) { try FTPPath("/a;type=x") }
        #expect(throws: FTPError.invalidType("")) { try FTPPath("/a;type=") }
    }
}
