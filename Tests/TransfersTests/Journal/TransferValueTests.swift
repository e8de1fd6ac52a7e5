import Foundation
import LoadingKit
import LoadingKitPrimitives
import TestSupport
import Testing

@testable import LoadingKitCore

@Suite("Values of transfers, as they are kept and sent")
struct TransferValueTests {
    private func again<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: try JSONEncoder().encode(value))
    }

    @Test("a request, with bytes of every kind in its fields")
    func requests() throws {
        var request = URLRequest(url: try #require(URL(string: "http://u:p@h.example/a?b=%20#c")))
        request.httpMethod = "PATCH"
        request.httpBody = Data(0...255)
        request.timeoutInterval = 5
        request.cachePolicy = .reloadIgnoringLocalCacheData
        request.networkServiceType = .background
        (request.httpShouldHandleCookies, request.allowsExpensiveNetworkAccess) = (false, false)
        let bytes = [UInt8](0x20...0x7E) + [0x09, 0x80, 0xC3, 0xFF]
        "x-bytes".utf8.withContiguousStorageIfAvailable { name in
            bytes.withUnsafeBytes { request.fields.append(nameBytes: UnsafeRawBufferPointer(name), valueBytes: $0) }
        }
        request.addValue("1", forHTTPHeaderField: "X-Twice")
        request.addValue("2", forHTTPHeaderField: "X-Twice")
        let kept = try #require(TransferRequest(request))
        #expect(try again(kept) == kept)
        let result = try #require(try again(kept).request)
        #expect(result == request && result.fields == request.fields)
        #expect(result.timeoutInterval == 5 && result.networkServiceType == .background)
        let plain = TransferRequest(URLRequest(url: try #require(URL(string: "http://h.example/"))))
        #expect(plain?.rules.timeout == nil && plain?.request?.hasExplicitTimeout == false)
    }

    @Test(
        "a redirect's request has the body of the earlier one where the method is the same", arguments: ["PUT", "GET"])
    func redirects(method: String) throws {
        let url = try #require(URL(string: "http://h.example/"))
        var (earlier, next) = (URLRequest(url: url), URLRequest(url: url.appendingPathComponent("next")))
        (earlier.httpMethod, earlier.httpBody, next.httpMethod) = ("PUT", Data("body".utf8), method)
        let request = try #require(TransferRequest(next)?.request(redirectedFrom: earlier))
        #expect(request.url == next.url && request.httpMethod == method)
        #expect(request.httpBody == (method == "PUT" ? Data("body".utf8) : nil))
    }

    @Test(
        "a request's own timeout stays its own, also where it is no limit",
        arguments: [0, -1, .infinity, .nan] as [TimeInterval])
    func timeouts(timeout: TimeInterval) throws {
        var request = URLRequest(url: try #require(URL(string: "http://h.example/")))
        request.timeoutInterval = timeout
        let result = try #require(TransferRequest(request)?.request)
        #expect(result.hasExplicitTimeout && "\(result.timeoutInterval)" == "\(timeout)")
    }

    @Test("a response, HTTP's and another")
    func responses() throws {
        let url = try #require(URL(string: "http://h.example/"))
        var fields = HTTPFields()
        fields.append(name: "Content-Type", value: "text/plain; charset=utf-8")
        let response = HTTPURLResponse(
            url: url, statusCode: 206, httpVersion: "HTTP/2", fields: fields, expectedContentLength: 1 << 40)
        let kept = try #require(TransferResponse(response))
        let result = try #require(try again(kept).response as? HTTPURLResponse)
        #expect(result.statusCode == 206 && result.expectedContentLength == 1 << 40 && result.mimeType == "text/plain")
        #expect(result.value(forHTTPHeaderField: "content-type") == "text/plain; charset=utf-8")
        let plain = URLResponse(url: url, mimeType: "a/b", expectedContentLength: 5, textEncodingName: "utf-8")
        let keptPlain = try #require(TransferResponse(plain))
        let other = try #require(try again(keptPlain).response)
        #expect(!(other is HTTPURLResponse) && other.mimeType == "a/b" && other.expectedContentLength == 5)
    }

    @Test("errors keep their codes, texts and resume data")
    func errors() throws {
        let url = try #require(URL(string: "http://h.example/"))
        let said =
            [NSURLSessionDownloadTaskResumeData: Data("r".utf8), NSURLErrorFailingURLErrorKey: url] as [String: Any]
        let error = try again(TransferError(URLError(.timedOut, userInfo: said))).error
        let result = try #require(error as? URLError)
        #expect(result.code == .timedOut && result.failingURL == url)
        #expect(result.userInfo[NSURLSessionDownloadTaskResumeData] as? Data == Data("r".utf8))
        let foreign = try again(
            TransferError(NSError(domain: "d", code: 7, userInfo: [NSLocalizedDescriptionKey: "t"]))
        ).error
        #expect((foreign as NSError).domain == "d" && (foreign as NSError).code == 7)
        #expect(foreign.localizedDescription == "t")
    }

    @Test("metrics of several attempts are one task's")
    func metrics() throws {
        let (start, end) = (Date(timeIntervalSince1970: 100), Date(timeIntervalSince1970: 110))
        var first = TransferMetrics(
            URLSessionTaskMetrics(
                transactionMetrics: [], taskInterval: DateInterval(start: start, end: end), redirectCount: 1))
        let later = TransferMetrics(
            URLSessionTaskMetrics(
                transactionMetrics: [], taskInterval: DateInterval(start: end, duration: 5), redirectCount: 2))
        first.append(later)
        let result = try again(first)
        #expect(result.start == start && result.end == end.addingTimeInterval(5) && result.redirectCount == 3)
    }

    @Test("each command and event")
    func messages() throws {
        let url = try #require(URL(string: "http://h.example/"))
        let request = try #require(TransferRequest(URLRequest(url: url)))
        var transfer = TransferRecord(identifier: 1, kind: .upload, request: request)
        (transfer.uploadFile, transfer.priority, transfer.stage) = ("/f", 0.25, .suspended)
        transfer.firstURL = URL(string: "http://first.example/")
        let commands: [TransferCommand] = [
            .begin(transfer), .suspend(1), .resume(2), .cancel(3, producingResumeData: true),
            .change(4, priority: 0.5, taskDescription: nil), .take(5, .metrics), .answerBeginning(6, nil),
            .answerBeginning(7, request), .answerChallenge(8, challenge: 9, ChallengeReply(.useCredential, user: "u")),
            .endSession, .reset, .flush,
        ]
        for command in commands { #expect("\(try again(command))" == "\(command)") }
        let end = TransferStatus()
        let events: [TransferEvent] = [
            .attached(SessionState(nextIdentifier: 2, transfers: [transfer])),
            .detached(TransferError(.cancelled, "c")), .progress(1, TransferProgress()),
            .didResume(1, offset: 2, expected: 3), .redirected(1, request), .willBegin(2),
            .ended(3, end), .deliveredEarlierEvents,
        ]
        for event in events { #expect("\(try again(event))" == "\(event)") }
    }
}
