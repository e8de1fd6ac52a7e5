import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTesting
import Testing

/// A recording has the members that HAR 1.2 requires, and those that browsers' developer tools read.
@Suite(.timeLimit(.minutes(5))) struct HARFormatTests {
    /// The kind of a member's value.
    enum Kind: Sendable {
        case text, bool, object, list
        /// Not negative.
        case amount
        /// Not negative, or -1 where it is not known.
        case amountOrUnknown
        /// A whole number, or -1 where it is not known.
        case count
        /// ISO 8601 with a time zone, as JavaScript's `Date` takes it.
        case date

        func holds(for value: JSONValue) -> Bool {
            switch self {
            case .text: value.string != nil
            case .bool: value.bool != nil
            case .object: value.object != nil
            case .list: value.array != nil
            case .amount: value.double.map { $0 >= 0 } ?? false
            case .amountOrUnknown: value.double.map { $0 >= 0 || $0 == -1 } ?? false
            case .count: value.integer.map { $0 >= -1 } ?? false
            case .date:
                value.string?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|[+-]\d\d:\d\d)/) != nil
            }
        }
    }

    /// A member of the objects at a path, in which `[]` stands for each element of a list.
    struct Rule: Sendable {
        let path: String
        let kind: Kind
        let isRequired: Bool

        init(_ path: String, _ kind: Kind, optional: Bool = false) {
            (self.path, self.kind, isRequired) = (path, kind, !optional)
        }
    }

    /// http://www.softwareishard.com/blog/har-12-spec/. `pages` is optional there, and Firefox requires it.
    static let rules: [Rule] = [
        Rule("log.version", .text), Rule("log.creator.name", .text), Rule("log.creator.version", .text),
        Rule("log.browser", .object, optional: true), Rule("log.pages", .list), Rule("log.entries", .list),
        Rule("log.entries[].pageref", .text, optional: true), Rule("log.entries[].startedDateTime", .date),
        Rule("log.entries[].time", .amount), Rule("log.entries[].cache", .object),
        Rule("log.entries[].serverIPAddress", .text, optional: true),
        Rule("log.entries[].connection", .text, optional: true),
        Rule("log.entries[].comment", .text, optional: true),
        Rule("log.entries[].request.method", .text), Rule("log.entries[].request.url", .text),
        Rule("log.entries[].request.httpVersion", .text),
        Rule("log.entries[].request.headersSize", .count), Rule("log.entries[].request.bodySize", .count),
        Rule("log.entries[].request.cookies[].name", .text), Rule("log.entries[].request.cookies[].value", .text),
        Rule("log.entries[].request.headers[].name", .text), Rule("log.entries[].request.headers[].value", .text),
        Rule("log.entries[].request.queryString[].name", .text),
        Rule("log.entries[].request.queryString[].value", .text),
        Rule("log.entries[].request.postData", .object, optional: true),
        Rule("log.entries[].request.postData.mimeType", .text), Rule("log.entries[].request.postData.text", .text),
        Rule("log.entries[].request.postData.params[].name", .text),
        Rule("log.entries[].request.postData.params[].value", .text, optional: true),
        Rule("log.entries[].response.status", .count), Rule("log.entries[].response.statusText", .text),
        Rule("log.entries[].response.httpVersion", .text), Rule("log.entries[].response.redirectURL", .text),
        Rule("log.entries[].response.headersSize", .count), Rule("log.entries[].response.bodySize", .count),
        Rule("log.entries[].response.headers[].name", .text),
        Rule("log.entries[].response.headers[].value", .text),
        Rule("log.entries[].response.cookies[].name", .text), Rule("log.entries[].response.cookies[].value", .text),
        Rule("log.entries[].response.cookies[].path", .text, optional: true),
        Rule("log.entries[].response.cookies[].expires", .date, optional: true),
        Rule("log.entries[].response.cookies[].httpOnly", .bool, optional: true),
        Rule("log.entries[].response.cookies[].secure", .bool, optional: true),
        Rule("log.entries[].response.content.size", .amount), Rule("log.entries[].response.content.mimeType", .text),
        Rule("log.entries[].response.content.compression", .count, optional: true),
        Rule("log.entries[].response.content.text", .text, optional: true),
        Rule("log.entries[].response.content.encoding", .text, optional: true),
        Rule("log.entries[].timings.send", .amount), Rule("log.entries[].timings.wait", .amount),
        Rule("log.entries[].timings.receive", .amount),
        Rule("log.entries[].timings.blocked", .amountOrUnknown, optional: true),
        Rule("log.entries[].timings.dns", .amountOrUnknown, optional: true),
        Rule("log.entries[].timings.connect", .amountOrUnknown, optional: true),
        Rule("log.entries[].timings.ssl", .amountOrUnknown, optional: true),
    ]

    /// The breaches of a rule, and the number of checked values.
    static func check(_ rule: Rule, _ file: JSONValue) -> (findings: [String], count: Int) {
        var values: [(place: String, value: JSONValue?)] = [("", file)]
        for (index, step) in rule.path.split(separator: ".").enumerated() {
            let isList = step.hasSuffix("[]")
            let name = isList ? String(step.dropLast(2)) : String(step)
            values = values.flatMap { place, value -> [(String, JSONValue?)] in
                // The members of a missing optional object are not checked.
                guard let value else { return [] }
                let (place, member) = (index == 0 ? name : "\(place).\(name)", value[name])
                guard isList else { return [(place, member)] }
                return (member?.array ?? []).enumerated().map { ("\(place)[\($0.offset)]", $0.element) }
            }
        }
        let findings = values.compactMap { place, value -> String? in
            guard let value else { return rule.isRequired ? "\(place) is missing" : nil }
            return rule.kind.holds(for: value) ? nil : "\(place) is \(value), not \(rule.kind)"
        }
        return (findings, values.count { $0.value != nil })
    }

    private static func answer(_ request: ServerRequest) throws -> ServerResponse {
        switch request.path {
        case "/redirect": return .redirect(to: "/gzip?q=1", status: 302)
        case "/gzip": return try .gzip(Array("coded ".utf8) + Array(repeating: 65, count: 1_000))
        case "/binary": return .bytes([0, 255, 254, 1], type: "application/octet-stream")
        case "/empty": return ServerResponse(204)
        case "/cookies":
            return .text("set").adding(
                "Set-Cookie", "a=b; Path=/; Expires=Wed, 21 Oct 2037 07:28:00 GMT; HttpOnly; Secure; SameSite=Lax"
            ).adding("Set-Cookie", "c=d; Expires=never").adding("Set-Cookie", "odd")
        case "/reset": try request.exchange.reset()
        case "/socket": return .text("no sockets here", status: 403)
        case "/secret" where request.fields[name: "Authorization"] == nil:
            return ServerResponse(401).adding("WWW-Authenticate", "Basic realm=\"r\"")
        default: break
        }
        return .text("plain é")
    }

    /// One recording of many kinds of requests.
    private static func recording() async throws -> HARLog {
        let server = try LoopbackServer(route: answer)
        defer { server.stop() }
        let recorder = HARRecorder()
        let configuration = URLSessionConfiguration.ephemeral
        recorder.install(in: configuration, schemes: ["http", "https", "ws", "wss"])
        let session = URLSession(configuration: configuration)
        for path in ["/plain?a=1&b", "/redirect", "/binary", "/empty", "/cookies", "/cookies", "/secret"] {
            _ = try await session.data(from: url(server.url(path)))
        }
        let form = ["Content-Type": "application/x-www-form-urlencoded", "Cookie": "own=1; odd"]
        _ = try await session.data(
            for: request(server.url("/form"), method: "POST", fields: form, body: "name=Ann+B&flag"))
        var binary = request(server.url("/binary"), method: "PUT")
        binary.httpBodyStream = InputStream(data: Data([0, 255, 1]))
        _ = try await session.data(for: binary)
        _ = await failure { _ = try await session.data(from: url(server.url("/reset"))) }
        let socket = session.webSocketTask(
            with: url(server.url("/socket").replacingOccurrences(of: "http:", with: "ws:")))
        socket.resume()
        _ = await failure { _ = try await socket.receive() }
        return recorder.log
    }

    @Test func aRecordingKeepsTheFormat() async throws {
        let log = try await Self.recording()
        let file = try JSONValue(parsing: log.data)
        let checks = Self.rules.map { ($0.path, Self.check($0, file)) }
        #expect(checks.flatMap(\.1.findings) == [])
        // Every other rule applies to at least one value of the recording.
        let unused = ["log.browser", "pageref", "comment", "content.compression"]
        #expect(
            checks.filter { path, result in result.count == 0 && !unused.contains { path.hasSuffix($0) } }.map(\.0)
                == [])
        #expect(try HARLog(data: log.data).data == log.data)
    }

    /// The entries of the recording, in order.
    @Test func theEntriesAreThoseOfTheSession() async throws {
        let entries = try await Self.recording().entries
        let lines = entries.map { entry in
            "\(entry.request.method) \(URL(string: entry.request.url)?.path ?? "") \(entry.response.status)"
        }
        #expect(
            lines == [
                "GET /plain 200", "GET /redirect 302", "GET /gzip 200", "GET /binary 200", "GET /empty 204",
                "GET /cookies 200", "GET /cookies 200", "GET /secret 401", "POST /form 200", "PUT /binary 200",
                "GET /reset 0", "GET /socket 403",
            ])
        try #require(entries.count == 12)
        #expect(entries[1].response.redirectURL == "/gzip?q=1")
        // The decoded body, and the size of the encoded one.
        #expect(entries[2].response.content.size == 1_006 && entries[2].response.bodySize < 200)
        #expect(entries[3].response.content.encoding == "base64")
        #expect(entries[5].response.cookies.map(\.name) == ["a", "c", "(redacted)"])
        #expect(entries[5].response.cookies.map(\.expires) == ["2037-10-21T07:28:00.000Z", nil, nil])
        #expect(entries[8].request.postData?.params.map(\.name) == ["name", "flag"])
        #expect(entries[9].request.postData?.encoding == "base64")
        #expect(entries[10].response.others["_error"] != nil)
        #expect(entries.allSatisfy { abs($0.time - $0.timings.total) < 0.01 })
    }
}
