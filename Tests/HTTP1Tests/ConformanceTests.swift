import Foundation
import LoadingKitHTTP1
import TestSupport
import Testing

/// The cases of llhttp.
@Suite(.requires(.http1)) struct ConformanceTests {
    /// Cases in which this parser differs on purpose.
    static let deviations = [
        "RTSP response": "another protocol; out of scope",
        "ICE response": "another protocol; out of scope",
        "No carriage ret": "a bare LF ends a line (RFC 9112 §2.2)",
        "HTTP version 0.9": "only HTTP/1.x is spoken here (RFC 9112 §2.3)",
    ]

    /// llhttp's code for "the rest is another protocol", which is no error here.
    static let upgradeCode = 22

    @Test(arguments: ["connection", "content-length", "finish", "pipelining", "sample"])
    func file(_ name: String) throws {
        let cases = try LLHTTPCase.cases(in: ConformanceTable.http1.url("\(name).md"))
        #expect(!cases.isEmpty)
        for test in cases where !test.meta.contains("response-lenient") && Self.deviations[test.name] == nil {
            check(test)
        }
    }

    @Test func deviationsExistAndDiffer() throws {
        let cases = try ["connection", "sample"].flatMap {
            try LLHTTPCase.cases(in: ConformanceTable.http1.url("\($0).md"))
        }
        for name in Self.deviations.keys {
            let test = try #require(cases.first { $0.name == name }, "\(name)")
            let ours = Transcript(responseParser(), test.input)
            #expect((ours.error != nil) != (test.errorCode != nil), "\(name)")
        }
    }

    private func check(_ test: LLHTTPCase) {
        let parser = responseParser(to: test.meta.contains("skipBody") ? "HEAD" : "GET")
        let ours = verified(parser, test.input, test.name)
        let messages = self.messages(of: ours)
        #expect(messages == test.messages, "\(test.name)")
        let expectsError = test.errorCode != nil && test.errorCode != Self.upgradeCode
        #expect((ours.error != nil) == expectsError, "\(test.name): \(String(describing: ours.error))")
        if test.errorCode == Self.upgradeCode { #expect(ours.consumed == test.errorOffset, "\(test.name)") }
        if test.needsClose {
            #expect(verified(parser, test.input, isClosed: true).entries.last == .end, "\(test.name)")
        }
    }

    private func messages(of transcript: Transcript) -> [LLHTTPCase.Message] {
        var messages: [LLHTTPCase.Message] = []
        for entry in transcript.entries {
            switch entry {
            case .interim(let head): messages.append(message(head, isComplete: true))
            case .response(let head, _): messages.append(message(head, isComplete: false))
            case .body(let bytes): messages[messages.count - 1].body += bytes
            case .end: messages[messages.count - 1].isComplete = true
            case .trailers, .request: Issue.record("not in this data: \(entry)")
            }
        }
        return messages
    }

    private func message(_ head: ResponseHead, isComplete: Bool) -> LLHTTPCase.Message {
        LLHTTPCase.Message(
            status: head.status, version: "\(head.version.major).\(head.version.minor)", reason: head.reason,
            fields: head.fields.map { LLHTTPCase.Field(name: $0.name, value: $0.value) }, isComplete: isComplete)
    }
}
