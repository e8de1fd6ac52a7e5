import Foundation
import LoadingKitTesting
import Testing

@Suite struct HARLogTests {
    @Test func aBrowsersExportIsReadWhole() throws {
        let log = try HARLog(data: ChromeExport.data)
        #expect(log.creator == HARCreator(name: "WebInspector", version: "537.36"))
        #expect(log.pages.first?.pageTimings.onContentLoad == 312.7)
        #expect(log.pages.first?.pageTimings.onLoad == nil)
        #expect(log.entries.count == 4)
        let first = try #require(log.entries.first)
        #expect(first.pageref == "page_1")
        #expect(first.others["_initiator"] == ["type": "other"])
        #expect(first.timings.blocked == 1.5)
        #expect(first.timings.connect == -1)
        #expect(first.timings.others["_blocked_queueing"] == 1.1)
        #expect(first.request.queryString.map(\.name) == ["b", "a"])
        #expect(first.response.others["_transferSize"] == 131)
        #expect(first.startedDateTime.date.timeIntervalSince1970 == 1_769_854_830.123)
        #expect(log.entries[1].response.cookies.first?.path == "/")
        #expect(log.entries[2].response.content.data == Data([0x89, 0x50, 0x4E, 0x47]))
        #expect(log.entries[2].startedDateTime.offset == 60)
    }

    /// A file that is read and written again is the same, by the library's codec and by `JSONDecoder`.
    @Test func nothingIsLost() throws {
        let log = try HARLog(data: ChromeExport.data)
        #expect(try HARLog(data: log.data) == log)
        #expect(try JSONDecoder().decode(HARLog.self, from: JSONEncoder().encode(log)) == log)
        #expect(try JSONDecoder().decode(HARLog.self, from: ChromeExport.data) == log)
        let entry = try #require(log.entries.first)
        #expect(try JSONDecoder().decode(HAREntry.self, from: JSONEncoder().encode(entry)) == entry)
        let written = try JSONValue(parsing: log.data)
        #expect(written["log"]?["entries"]?[0]?["_priority"] == "VeryHigh")
        #expect(written["log"]?["entries"]?[2]?["startedDateTime"] == "2026-01-31T10:20:31.140+01:00")
    }

    /// Members that importers require are written, even with unknown values.
    @Test func theRequiredMembersAreWritten() throws {
        let entry = HAREntry(
            startedDateTime: HARDate(Date(timeIntervalSince1970: 0)),
            request: HARRequest(method: "GET", url: "http://a.test/?a=b%20c"),
            response: HARResponse(status: 200))
        let log = try JSONValue(parsing: HARLog(entries: [entry]).data)["log"]
        #expect(Set(log?.object?.keys ?? [:].keys) == ["version", "creator", "pages", "entries"])
        #expect(log?["pages"] == [])
        #expect(log?["creator"] == ["name": "LoadingKit", "version": "1"])
        let written = log?["entries"]?[0]
        #expect(
            Set(written?.object?.keys ?? [:].keys)
                == ["startedDateTime", "time", "request", "response", "cache", "timings"])
        #expect(written?["startedDateTime"] == "1970-01-01T00:00:00.000Z")
        #expect(written?["cache"] == [:])
        #expect(
            written?["request"] == [
                "method": "GET", "url": "http://a.test/?a=b%20c", "httpVersion": "", "cookies": [], "headers": [],
                "queryString": [["name": "a", "value": "b c"]], "headersSize": -1, "bodySize": 0,
            ])
        #expect(
            written?["response"] == [
                "status": 200, "statusText": "", "httpVersion": "", "cookies": [], "headers": [],
                "content": ["size": 0, "mimeType": "x-unknown"], "redirectURL": "", "headersSize": -1, "bodySize": -1,
            ])
        #expect(
            written?["timings"] == [
                "blocked": -1, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": 0, "receive": 0,
            ])
    }

    static let lenient: [String] = [
        #"{"log":{"entries":[]}}"#,
        #"{"log":{"version":null,"entries":[],"comment":7}}"#,
        #"{"log":{"entries":[{"request":{"method":"GET","url":"/"},"response":{"status":"200"}}]}}"#,
        #"{"log":{"entries":[{"request":{"method":"GET","url":"/","headersSize":-1.0},"response":{"status":200.0}}]}}"#,
        "\u{FEFF}" + #"{"log":{"entries":[]},"other":1}"#,
    ]

    @Test(arguments: lenient) func isLenient(_ text: String) throws { _ = try HARLog(data: Data(text.utf8)) }

    static let broken: [(String, String)] = [
        ("", "this is no JSON: line 1, column 1: the text ends early: a value is expected"),
        (#"{"log": {"entries": [}"#, "this is no JSON: line 1, column 22: a value is expected"),
        ("[]", "the file: an object is expected, not a list"),
        ("{}", "log: is missing"),
        (#"{"log":{}}"#, "log.entries: is missing"),
        (#"{"log":{"entries":{}}}"#, "log.entries: a list is expected, not an object"),
        (#"{"log":{"entries":[7]}}"#, "log.entries[0]: an object is expected, not a number"),
        (#"{"log":{"entries":[{}]}}"#, "log.entries[0].request: is missing"),
        (
            #"{"log":{"entries":[{"request":{"url":"/"}}]}}"#, "log.entries[0].request.method: is missing"
        ),
        (
            #"{"log":{"entries":[{"request":{"method":"GET","url":"/"},"response":{}}]}}"#,
            "log.entries[0].response.status: is missing"
        ),
        (
            #"{"log":{"entries":[{"startedDateTime":"yesterday"}]}}"#,
            #"log.entries[0].startedDateTime: "yesterday" is no ISO 8601 date with a time"#
        ),
        (
            #"{"log":{"entries":[{"request":{"method":"GET","url":"/","bodySize":1e300},"response":{}}]}}"#,
            "log.entries[0].request.bodySize: the number is too large"
        ),
    ]

    @Test(arguments: broken) func aBrokenFileSaysWhere(_ text: String, _ expected: String) {
        let error = #expect(throws: HARError.self) { try HARLog(data: Data(text.utf8)) }
        #expect(error?.description == expected)
        #expect(error?.localizedDescription == expected)
    }

    @Test func noCutOfAFileStopsTheProcess() throws {
        for end in stride(from: 0, to: ChromeExport.data.count - 2, by: 7) {
            #expect(throws: HARError.self) { try HARLog(data: ChromeExport.data.prefix(end)) }
        }
    }

    static let dates: [(String, Double?, String)] = [
        ("1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00.000Z"),
        ("2024-02-29T23:59:59.999Z", 1_709_251_199.999, "2024-02-29T23:59:59.999Z"),
        ("2026-01-31T10:20:30.1234567+01:00", 1_769_851_230.1234567, "2026-01-31T10:20:30.123+01:00"),
        ("2026-01-31T10:20:30-0530", 1_769_874_630, "2026-01-31T10:20:30.000-05:30"),
        ("2026-01-31T10:20Z", 1_769_854_800, "2026-01-31T10:20:00.000Z"),
        ("1969-12-31T23:59:59.5Z", -0.5, "1969-12-31T23:59:59.500Z"),
        ("0001-01-01T00:00:00Z", -62_135_596_800, "0001-01-01T00:00:00.000Z"),
        ("2026-13-01T00:00:00Z", nil, ""), ("2026-01-01", nil, ""), ("2026-01-01T00:00:00+", nil, ""), ("", nil, ""),
        ("2026-01-01T00:00:00Zx", nil, ""), ("2026-01-01T00:00:00.Z", nil, ""), ("20x6-01-01T00:00:00Z", nil, ""),
    ]

    @Test(arguments: dates) func date(_ text: String, _ seconds: Double?, _ written: String) throws {
        guard let seconds else { return #expect(HARDate(text) == nil) }
        let date = try #require(HARDate(text))
        #expect(abs(date.date.timeIntervalSince1970 - seconds) < 0.000_001)
        #expect(date.description == written)
    }

    @Test func filesAreReplacedAsAWhole() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("new/x.har")
        try HARLog().write(to: file)
        let log = try HARLog(data: ChromeExport.data)
        try log.write(to: file)
        #expect(try HARLog(contentsOf: file) == log)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("new").path) == ["x.har"])
        let error = #expect(throws: HARError.self) { try HARLog(contentsOf: folder.file("missing.har")) }
        #expect(error?.description.contains("missing.har") == true)
        try FileManager.default.createDirectory(at: folder.file("folder.har/x"), withIntermediateDirectories: true)
        #expect(throws: HARError.self) { try log.write(to: folder.file("folder.har")) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == ["folder.har", "new"])
    }
}
