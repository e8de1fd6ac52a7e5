import Foundation
import Testing

@testable import LoadingKitCore

/// What downloads and uploads go on from.
@Suite struct ResumeDataTests {
    private let url = URL(string: "http://h.example/file") ?? URL(fileURLWithPath: "/")

    private func response(_ fields: [String: String], status: Int = 200) throws -> HTTPURLResponse {
        try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields))
    }

    private func made(
        _ fields: [String: String], _ request: URLRequest? = nil, _ ranges: RangeSupport = .assumed
    ) throws -> ResumeData? {
        ResumeData(
            request ?? URLRequest(url: url), try response(fields), ranges, firstURL: nil,
            fileName: DownloadFolder.newName(), count: 5)
    }

    private static let modified = "Sat, 21 Nov 2026 08:00:00 GMT"
    private static let second = "Sat, 21 Nov 2026 08:00:01 GMT"

    /// RFC 9110 §8.8.2.2, §13.1.5.
    private static let validators: [([String: String], ResumeData.Validator?)] = [
        (["ETag": "\"a\""], .entityTag("\"a\"")), (["ETag": "\"a\"", "Last-Modified": modified], .entityTag("\"a\"")),
        (["ETag": "W/\"a\""], nil), ([:], nil),
        (["ETag": "W/\"a\"", "Last-Modified": modified], .lastModified(modified)),
        (["ETag": "W/\"a\"", "Last-Modified": modified, "Date": second], .lastModified(modified)),
        // The resource may be changed again in the same second.
        (["ETag": "W/\"a\"", "Last-Modified": modified, "Date": modified], nil),
        (["Last-Modified": modified, "Date": modified], nil), (["Last-Modified": second, "Date": modified], nil),
        (["Last-Modified": modified, "Date": second], .lastModified(modified)),
        (["Last-Modified": "Sun, 6 Nov 1994 08:49:37 UTC", "Date": second], nil),
    ]

    @Test func weakValidatorsAreNotUsed() throws {
        for (fields, expected) in Self.validators { #expect(try made(fields)?.validator == expected, "\(fields)") }
    }

    /// The file has the range's bytes alone, whatever condition the program has added.
    @Test func aRangeOfTheProgramIsNotTheBeginning() throws {
        let part = try response(["ETag": "\"a\"", "Content-Range": "bytes 500-999/1000"], status: 206)
        var request = URLRequest(url: url)
        request.setValue("bytes=500-", forHTTPHeaderField: "Range")
        for condition in [nil, "\"a\""] {
            request.setValue(condition, forHTTPHeaderField: "If-Range")
            let made = ResumeData(request, part, .assumed, firstURL: nil, fileName: "a", count: 100)
            let resumed = ResumeData(
                request, part, .assumed, firstURL: nil, fileName: "a", count: 100, continues: true)
            #expect(made == nil && resumed?.count == 100)
        }
    }

    @Test func anotherVersionIsNoContinuation() throws {
        let part = ["Content-Range": "bytes 5-9/10"]
        let cases: [([String: String], [String: String], Bool)] = [
            (["ETag": "\"a\""], [:], true), (["ETag": "\"a\""], ["ETag": "\"a\""], true),
            (["ETag": "\"a\""], ["ETag": "\"b\""], false), (["ETag": "\"a\""], ["ETag": "W/\"a\""], false),
            (["Last-Modified": Self.modified], [:], true),
            (["Last-Modified": Self.modified], ["Last-Modified": Self.modified], true),
            (["Last-Modified": Self.modified], ["Last-Modified": Self.second], false),
        ]
        for (first, second, expected) in cases {
            let data = try #require(try made(first))
            let next = try response(part.merging(second) { $1 }, status: 206)
            #expect(data.answer(next, from: 5) == (expected ? .rest(size: 10) : .other), "\(first) \(second)")
            let none = try response(["Content-Range": "bytes */5"].merging(second) { $1 }, status: 416)
            #expect(data.answer(none, from: 5) == (expected ? .complete : .other), "\(first) \(second)")
        }
    }

    @Test func onlyAPartIsContinued() throws {
        let data = try #require(try made(["ETag": "\"a\""]))
        let cases: [(Int, String?, ResumeData.Answer)] = [
            (206, "bytes 5-9/10", .rest(size: 10)), (206, "bytes 5-9/*", .rest(size: -1)),
            (206, "bytes 5-7/10", .rest(size: 10)), (206, "bytes 5-7/*", .rest(size: -1)),
            (206, "bytes 4-9/10", .other), (206, nil, .other), (416, "bytes */4", .other), (200, nil, .whole),
            (416, "bytes */5", .complete), (416, "bytes */6", .other), (416, nil, .other), (206, "bytes */5", .other),
            (200, "bytes 5-9/10", .whole), (404, nil, .whole),
        ]
        for (status, range, expected) in cases {
            let next = try response(range.map { ["Content-Range": $0] } ?? [:], status: status)
            #expect(data.answer(next, from: 5) == expected, "\(status) \(range ?? "")")
        }
        let other = URLResponse(url: url, mimeType: nil, expectedContentLength: 5, textEncodingName: nil)
        #expect(data.answer(other, from: 5) == .whole)
    }

    /// A server that sends the rest in parts is sent a limited number of requests.
    @Test func thePartsOfARestAreLimited() throws {
        let (least, most) = (FileSink.Resuming.leastPart, FileSink.Resuming.mostParts)
        let data = try #require(try made(["ETag": "\"a\""]))
        let size = 5 + least * Int64(most + 2)
        var part = FileSink.Resuming(data: data, offset: 5, whole: URLRequest(url: url), size: size)
        #expect(part.next(from: 5 + least - 1) == nil && part.next(from: size) == nil)
        for _ in 0..<most { part = try #require(part.next(from: part.offset + least)) }
        #expect(part.offset == size - 2 * least && part.data.count == part.offset && part.laterParts == most)
        #expect(part.next(from: part.offset + least) == nil)
        part.size = nil
        part.laterParts = 0
        #expect(part.next(from: part.offset + least) == nil)
    }

    /// RFC 9110 §14.3.
    @Test func aSchemeSupportsRangesOrSaysSo() throws {
        let cases: [(RangeSupport, String?, Bool)] = [
            (.assumed, nil, true), (.assumed, "bytes", true), (.assumed, "none", false),
            (.declared, nil, false), (.declared, "Bytes", true), (.declared, "none", false),
            (.unsupported, nil, false), (.unsupported, "bytes", false),
        ]
        for (support, declared, expected) in cases {
            var fields = ["ETag": "\"a\""]
            fields["Accept-Ranges"] = declared
            #expect(try (made(fields, nil, support) != nil) == expected, "\(support) \(declared ?? "")")
        }
    }

    private var strict: URLRequest {
        var request = URLRequest(url: url)
        request.mainDocumentURL = URL(string: "https://ada:secret@site.example/")
        request.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
        request.timeoutInterval = 5
        request.networkServiceType = .voice
        request.httpShouldHandleCookies = false
        request.allowsCellularAccess = false
        request.allowsConstrainedNetworkAccess = false
        request.allowsExpensiveNetworkAccess = false
        request.requiresDNSSECValidation = true
        request.keepsContentCodings = true
        return request
    }

    private func checkRules(_ request: URLRequest) {
        var expected = strict
        expected.mainDocumentURL = URL(string: "https://site.example/")
        #expect(RequestRules(request) == RequestRules(expected))
    }

    @Test func whatADownloadMayNotDoIsKept() throws {
        let data = try #require(try made(["ETag": "\"a\""], strict)?.encoded)
        #expect(data.range(of: Data("secret".utf8)) == nil)
        checkRules(try ResumeData(data).request)
    }

    @Test func whatAnUploadMayNotDoIsKept() throws {
        var request = strict
        request.httpMethod = "POST"
        request.httpBody = Data("body".utf8)
        let data = try #require(UploadResumption(request, goingOnAt: url).resumeData)
        #expect(data.range(of: Data("secret".utf8)) == nil)
        checkRules(try UploadResumeData(data).request)
    }

    private func upload(_ url: String, at resource: String) throws -> Data {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = "POST"
        request.httpBody = Data("body".utf8)
        let resumption = UploadResumption(request, goingOnAt: try #require(URL(string: resource)))
        return try #require(resumption.resumeData)
    }

    /// HSTS may change the origin of an upload after it has begun (RFC 6797 §8.3).
    @Test func anUploadsRequestHasTheOriginOfItsResource() throws {
        let cases = [
            ("http://h.example/file", "http://h.example/u", "http://h.example/file"),
            ("http://h.example/file", "https://h.example/u", "https://h.example/file"),
            ("http://h.example:80/file", "https://h.example/u", "https://h.example/file"),
            ("http://h.example:8080/file", "https://h.example:8080/u", "https://h.example:8080/file"),
        ]
        for (url, resource, expected) in cases {
            let data = try UploadResumeData(try upload(url, at: resource))
            #expect(data.url.absoluteString == expected && data.firstURL.absoluteString == expected, "\(url)")
            #expect(data.resource.absoluteString == resource)
        }
    }

    @Test func anUploadOfAnotherOriginIsRefused() throws {
        let cases = [
            ("https://h.example/file", "http://h.example/u"),
            ("https://h.example:8080/file", "http://h.example:8080/u"),
            ("http://h.example/file", "https://h.example:8443/u"),
            ("http://h.example:8080/file", "https://h.example/u"),
            ("http://h.example/file", "https://other.example/u"),
        ]
        for (url, resource) in cases {
            let data = try upload(url, at: resource)
            #expect(throws: LoadFailure.self, "\(url)") { try UploadResumeData(data) }
        }
    }

    @Test(arguments: [0, -1, .infinity, .nan] as [TimeInterval])
    func aTimeoutThatIsNoLimitIsKept(timeout: TimeInterval) throws {
        var request = URLRequest(url: url)
        request.timeoutInterval = timeout
        let download = try #require(try made(["ETag": "\"a\""], request)?.encoded)
        request.httpMethod = "POST"
        let upload = try #require(UploadResumption(request, goingOnAt: url).resumeData)
        for later in [try ResumeData(download).request, try UploadResumeData(upload).request] {
            #expect(later.hasExplicitTimeout && "\(later.timeoutInterval)" == "\(timeout)")
        }
    }

    /// As earlier versions have written them.
    @Test func dataWithoutRulesHasTheUsualOnes() throws {
        let data = try #require(try made(["ETag": "\"a\""])?.encoded)
        var list = try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
        #expect(list.removeValue(forKey: "LoadingKitResumeRequestRules") != nil)
        let old = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
        #expect(try ResumeData(old).request == URLRequest(url: url))
        list["LoadingKitResumeRequestRules"] = ["cachePolicy": "none"]
        let damaged = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
        #expect(throws: LoadFailure.self) { try ResumeData(damaged) }
    }

    /// Foundation ends the process for a set in a binary property list.
    @Test(
        arguments: [
            [[0xC1, 1], [0x51, 0x61]], [[0xD1, 1, 2], [0x51, 0x61], [0xC1, 1]],
            [[0xD1, 1, 2], [0x51, 0x61], [0x80, 1]],
        ] as [[[UInt8]]]) func otherObjectsAreRefused(_ objects: [[UInt8]])
    {
        let offsets = objects.indices.map { UInt8(8 + objects[..<$0].joined().count) }
        let start = UInt8(8 + objects.joined().count)
        let counts: [UInt8] = [1, 1] + [0, 0, 0, 0, 0, 0, 0, UInt8(objects.count)] + [UInt8](repeating: 0, count: 8)
        let trailer = [UInt8](repeating: 0, count: 6) + counts + [0, 0, 0, 0, 0, 0, 0, start]
        let data = Data(Array("bplist00".utf8) + objects.joined() + offsets + trailer)
        #expect(throws: LoadFailure.self) { try ResumeData(data) }
        #expect(throws: LoadFailure.self) { try UploadResumeData(data) }
        #expect(PlainPropertyList.dictionary(data) == nil)
    }
}
