import Foundation
import LoadingKit
import Testing

@testable import LoadingKitS3

@Suite struct ValueTests {
    // MARK: XML

    @Test func xml() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <x:Error xmlns:x="urn:x"><Code>NoSuchKey</Code><Message>a &amp; b<![CDATA[ <c>]]></Message><Empty/></x:Error>
            """
        let root = try XMLElement.parse(Data(text.utf8))
        #expect(
            root.name == "Error" && root["Code"] == "NoSuchKey" && root["Message"] == "a & b <c>" && root["Empty"] == ""
        )
        #expect(XMLElement.escaped("a<b>&\"") == "a&lt;b&gt;&amp;&quot;")
    }

    @Test(arguments: [
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><a/>",
        "<?xml version='1.0' encoding = 'utf-8' standalone='yes'?>\n<a/>",
        "\u{FEFF}<?xml version=\"1.0\"?><a/>", "<a/>", "<?xml version=\"1.0\" encoding=\"US-ASCII\"?><a/>",
    ])
    func xmlThatIsTaken(_ text: String) throws { #expect(try XMLElement.parse(Data(text.utf8)).name == "a") }

    @Test func xmlThatIsRefused() {
        let deep = String(repeating: "<a>", count: 20) + String(repeating: "</a>", count: 20)
        let many = "<a>" + String(repeating: "<b/>", count: 100) + "</a>"
        let laughs = "<!DOCTYPE a [<!ENTITY b \"b\"><!ENTITY c \"&b;&b;\">]><a>&c;</a>"
        let hidden = "+ADw-!DOCTYPE a [+ADw-!ENTITY b \"b\">]>+ADw-a>&b;+ADw-/a>"
        let cases: [(text: String, error: XMLAnswerError)] = [
            ("<?xml version=\"1.0\" encoding=\"UTF-7\"?>" + hidden, .malformed),
            ("<?xml version='1.0' encoding = 'latin1' standalone='yes'?><a/>", .malformed),
            ("", .malformed), ("no", .malformed), ("<a>", .malformed), ("<a></b>", .malformed),
            ("<a>\0</a>", .malformed),
            (deep, .tooDeep), (many, .tooManyElements), (laughs, .hasDocumentType),
        ]
        for sample in cases {
            #expect(throws: sample.error, "\(sample.text.prefix(40))") {
                try XMLElement.parse(Data(sample.text.utf8), limits: XMLLimits(elements: 50, depth: 10))
            }
        }
    }

    @Test func xmlInEveryForm() throws {
        let cases: [(text: String, content: String)] = [
            ("<a>&#38;&#x26;&amp;&lt;&gt;&quot;&apos;</a>", "&&&<>\"'"), ("<a b='1' x:c = \"2>\" >t</a >", "t"),
            ("<?xml version='1.0'?><!-- <b> --><?p <b> ?>\n<a>x<!----><!-- & -->y<?p?>z</a>junk", "xyz"),
            ("<a><![CDATA[]]]]><![CDATA[>&amp;]]></a>", "]]>&amp;"), ("<ä:a-1>ü</ä:a-1>", "ü"), ("<a\tb=''\n/>", ""),
            ("<a><b/>x<b>n</b>y</a>", "xy"), ("<a>&#x10FFFF;&#10;</a>", "\u{10FFFF}\n"),
        ]
        for sample in cases {
            #expect(try XMLElement.parse(Data(sample.text.utf8)).text == sample.content, "\(sample.text)")
        }
        let wrong = [
            "<a b/>", "<a b=c/>", "<a b='1'c='2'/>", "<a b='<'/>", "<a b='1/>", "< a/>", "<1/>", "<-a/>", "<a></a",
            "<a",
            "<a>&b;</a>", "<a>&</a>", "<a>&#xD800;</a>", "<a>&#0;</a>", "<a>&#-1;</a>", "<a>&#x110000;</a>",
            "<a>&#;</a>",
            "<a>&#+38;</a>", "<a><!-- </a>", "<!--><a/>", "<a><![CDATA[</a>", "<![CDATA[]]><a/>", "x<a/>", "</a>",
            "<a/ >",
            "<a><!ELEMENT></a>", "<a></ a>", "<a></x:a>",
        ]
        for text in wrong {
            #expect(throws: XMLAnswerError.malformed, "\(text)") { try XMLElement.parse(Data(text.utf8)) }
        }
    }

    @Test func xmlThatIsNoUTF8() {
        let samples: [[UInt8]] = [
            Array("<".utf8) + [0xFF] + Array("/>".utf8), Array("<a ".utf8) + [0xFF] + Array("='1'/>".utf8),
            Array("<a>".utf8) + [0xC3, 0x28] + Array("</a>".utf8), Array("<!--".utf8) + [0xFF] + Array("--><a/>".utf8),
            Array("<a xmlns:".utf8) + [0xFF] + Array("='1'/>".utf8),
        ]
        for sample in samples { #expect(throws: XMLAnswerError.malformed) { try XMLElement.parse(Data(sample)) } }
    }

    /// Every beginning of a document, and every document with a byte changed, is accepted or refused.
    @Test func xmlOfAnyKind() {
        let text = Array("<L><C><K>a&#38;b</K></C><IsTruncated>true</IsTruncated></L>".utf8)
        for index in text.indices {
            _ = try? XMLElement.parse(Data(text.prefix(index)))
            for byte: UInt8 in [0, 60, 62, 38, 47, 0xFF] {
                var changed = text
                changed[index] = byte
                _ = try? XMLElement.parse(Data(changed))
            }
        }
    }

    // MARK: Listings

    @Test func pages() throws {
        let text = """
            <ListBucketResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>
            <NextContinuationToken>t+/=</NextContinuationToken>
            <Contents><Key>a+b%2Bc%00</Key><Size>5</Size><ETag>"e"</ETag><LastModified>2015-08-30T12:36:00.000Z</LastModified>
            <StorageClass>STANDARD</StorageClass></Contents><Contents><Size>1</Size></Contents>
            <CommonPrefixes><Prefix>a%2Fb/</Prefix></CommonPrefixes></ListBucketResult>
            """
        let page = try ListPage(XMLElement.parse(Data(text.utf8)), bucket: "bucket")
        let object = S3Object(
            bucket: "bucket", key: "a b+c\0", size: 5, eTag: "\"e\"",
            lastModified: Date(timeIntervalSince1970: 1_440_938_160), storageClass: "STANDARD")
        #expect(page.entries == [.object(object), .prefix("a/b/")] && page.next == "t+/=")
        #expect(object.url?.absoluteString == "s3://bucket/a%20b%2Bc%00")
        let plain = "<ListBucketResult><Contents><Key>a+b%2B</Key></Contents></ListBucketResult>"
        let last = try ListPage(XMLElement.parse(Data(plain.utf8)), bucket: "bucket")
        #expect(last.next == nil)
        if case .object(let object)? = last.entries.first { #expect(object.key == "a+b%2B" && object.size == 0) }
        let cases: [(String, S3ListingError)] = [
            ("<Other/>", .unexpectedAnswer("Other")),
            ("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>", .noContinuation),
        ]
        for (text, error) in cases {
            #expect(throws: error) { try ListPage(XMLElement.parse(Data(text.utf8)), bucket: "b") }
        }
    }

    // MARK: Errors

    private static func error(
        _ status: Int, _ body: String = "", _ fields: [String: String] = [:], key: String = "key"
    ) throws -> S3Error {
        S3Error(
            S3Answer(status: status, fields: fields, body: Data(body.utf8)), try S3Address(bucket: "bucket", key: key))
    }

    @Test func errors() throws {
        let body = """
            <Error><Code>NoSuchKey</Code><Message>The key does\n not exist.</Message><Key>key</Key>
            <RequestId>R</RequestId><HostId>H</HostId></Error>
            """
        let error = try Self.error(404, body, ["X-Amz-Request-Id": "Q", "Retry-After": "7"])
        #expect(error.code == "NoSuchKey" && error.message == "The key does not exist." && error.kind == .noSuchKey)
        #expect(error.requestID == "Q" && error.hostID == "H" && error.statusCode == 404 && error.retryAfter == 7)
        #expect(error.description == "s3://bucket/key: NoSuchKey (status 404): The key does not exist. [request Q]")
        let dated = try Self.error(503, "", ["Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"])
        #expect(dated.retryAfter == 0)
        let wrapped = try Self.error(404, "<ErrorResponse><Error><Code>NoSuchBucket</Code></Error></ErrorResponse>")
        #expect(wrapped.kind == .noSuchBucket)
    }

    @Test func kinds() throws {
        let cases: [(status: Int, code: String?, key: String, kind: S3Error.Kind)] = [
            (404, nil, "key", .noSuchKey), (404, nil, "", .noSuchBucket), (404, "NoSuchUpload", "key", .noSuchUpload),
            (403, nil, "key", .accessDenied), (403, "SignatureDoesNotMatch", "key", .badCredentials),
            (400, "ExpiredToken", "key", .expiredCredentials), (403, "RequestTimeTooSkewed", "key", .clockSkewed),
            (301, "PermanentRedirect", "key", .wrongRegion), (301, nil, "key", .wrongRegion),
            (503, "SlowDown", "key", .slowDown), (503, nil, "key", .slowDown), (429, nil, "key", .slowDown),
            (500, "InternalError", "key", .serverFailure), (502, nil, "key", .serverFailure),
            (412, nil, "key", .preconditionFailed), (409, "ConditionalRequestConflict", "key", .preconditionFailed),
            (416, nil, "key", .invalidRange), (400, "InvalidArgument", "key", .other),
            (200, "InternalError", "key", .other),
        ]
        let wrong = try cases.filter { sample in
            let body = sample.code.map { "<Error><Code>\($0)</Code></Error>" } ?? "<html>not S3's</html>"
            return try Self.error(sample.status, body, key: sample.key).kind != sample.kind
        }
        #expect(wrong.map { "\($0.status) \($0.code ?? "")" } == [])
    }

    @Test func corrections() throws {
        let date = Date(timeIntervalSince1970: 1)
        func code(_ code: String) -> String { "<Error><Code>\(code)</Code><Region>eu-west-1</Region></Error>" }
        let elsewhere = ["x-amz-bucket-region": "eu-west-1"]
        let cases: [(name: String, error: S3Error, date: Date?, correction: S3Correction?)] = [
            ("skew", try Self.error(403, code("RequestTimeTooSkewed")), date, .clock(serverDate: date)),
            ("skew without a date", try Self.error(403, code("RequestTimeTooSkewed")), nil, nil),
            ("expired", try Self.error(400, code("ExpiredToken")), date, .credentials),
            ("replaced", try Self.error(403, code("InvalidAccessKeyId")), date, .credentials),
            ("wrong secret", try Self.error(403, code("SignatureDoesNotMatch")), date, nil),
            ("301", try Self.error(301, code("PermanentRedirect")), date, .region("eu-west-1")),
            ("301 to HEAD", try Self.error(301, "", elsewhere), date, .region("eu-west-1")),
            ("400", try Self.error(400, code("AuthorizationHeaderMalformed")), date, .region("eu-west-1")),
            ("400 to HEAD", try Self.error(400, "", elsewhere), date, .region("eu-west-1")),
            ("the same region", try Self.error(301, "", ["x-amz-bucket-region": "us-east-1"]), date, nil),
            ("no region's name", try Self.error(301, "", ["x-amz-bucket-region": "evil.example/"]), date, nil),
            ("404", try Self.error(404, code("NoSuchKey"), elsewhere), date, nil),
            ("403", try Self.error(403, code("AccessDenied"), elsewhere), date, nil),
        ]
        let wrong = cases.filter {
            S3Correction($0.error, signedFor: "us-east-1", serverDate: $0.date) != $0.correction
        }
        #expect(wrong.map(\.name) == [])
    }

    @Test func clientState() {
        var state = S3ClientState()
        for number in 0..<5_000 { state.learn(region: "eu-west-1", of: "bucket\(number)") }
        #expect(state.region(of: "bucket4999", or: "x") == "eu-west-1" && state.region(of: "other", or: "x") == "x")
        #expect(Mirror(reflecting: state).children.contains { ($0.value as? [String: String])?.count ?? 0 <= 1_000 })
        let start = ContinuousClock.now
        func serverDate(at seconds: Double, after passed: Int) -> Double {
            state.serverDate(at: Date(timeIntervalSince1970: seconds), start + .seconds(passed)).timeIntervalSince1970
        }
        #expect(serverDate(at: 50, after: 0) == 50)
        state.learn(serverDate: Date(timeIntervalSince1970: 100), at: Date(timeIntervalSince1970: 160), start)
        #expect(state.clockSkew == -60)
        // The clock goes on, and a little faster.
        #expect(serverDate(at: 1160, after: 1000) == 1100 && serverDate(at: 1200, after: 1000) == 1140)
        // It is set.
        #expect(serverDate(at: 5000, after: 1001) == 5000 && serverDate(at: 1161, after: 1001) == 1161)
    }

    // MARK: Bodies

    @Test func bodyPlans() {
        var options = S3Options()
        options.partSize = 10
        options.multipartThreshold = 100
        var always = options
        always.payloadSigning = .always
        var never = options
        never.payloadSigning = .never
        let digest = String(repeating: "0", count: 64)
        typealias Row = (
            name: String, body: BodyPlan.Body, isObject: Bool, digest: String?, isSecure: Bool, options: S3Options,
            plan: BodyPlan
        )
        let cases: [Row] = [
            ("none", .none, true, nil, true, options, .whole(.none)),
            ("data", .repeatable(length: 100), true, nil, true, options, .whole(.digested)),
            ("large data", .repeatable(length: 101), true, nil, true, options, .parts(10)),
            ("large, no object", .repeatable(length: 101), false, nil, true, options, .whole(.digested)),
            ("unsigned", .repeatable(length: 5), true, nil, true, never, .whole(.unsigned)),
            ("unsigned, cleartext", .repeatable(length: 5), true, nil, false, never, .whole(.digested)),
            ("stream", .stream(length: 100), true, nil, true, options, .whole(.unsigned)),
            ("stream, cleartext", .stream(length: 100), true, nil, false, options, .parts(10)),
            ("stream, signed", .stream(length: 100), true, nil, true, always, .parts(10)),
            ("large stream", .stream(length: 101), true, nil, true, options, .parts(10)),
            ("endless stream", .stream(length: nil), true, nil, true, options, .parts(10)),
            ("huge stream", .stream(length: 1_000_000), true, nil, true, options, .parts(100)),
            ("stream, no object", .stream(length: 5), false, nil, false, options, .collected),
            ("endless, no object", .stream(length: nil), false, nil, true, options, .collected),
            ("large stream, no object", .stream(length: 1_000), false, nil, true, options, .whole(.unsigned)),
            ("given", .stream(length: 5), true, digest, false, options, .whole(.given(digest))),
            (
                "given, not signed", .stream(length: 5), true, "UNSIGNED-PAYLOAD", true, options,
                .whole(.given("UNSIGNED-PAYLOAD"))
            ),
            ("given, and none", .stream(length: 5), true, "x", true, options, .whole(.unsigned)),
        ]
        let wrong = cases.filter {
            BodyPlan(
                body: $0.body, isObject: $0.isObject, digest: $0.digest, hasChecksum: false, isSecure: $0.isSecure,
                options: $0.options) != $0.plan
        }
        #expect(wrong.map(\.name) == [])
    }

    /// A body with a checksum is sent in one request wherever that is possible. Nil: in parts.
    @Test func bodyPlansWithAChecksum() {
        var options = S3Options()
        options.multipartThreshold = 100
        var (always, never, large) = (options, options, options)
        always.payloadSigning = .always
        never.payloadSigning = .never
        large.multipartThreshold = 10 << 30
        let most: Int64 = 5 << 30
        typealias Row = (name: String, body: BodyPlan.Body, isSecure: Bool, options: S3Options, plan: BodyPlan?)
        let cases: [Row] = [
            ("data", .repeatable(length: 101), true, options, .whole(.digested)),
            ("data, cleartext", .repeatable(length: most), false, options, .whole(.digested)),
            ("data, unsigned", .repeatable(length: most), true, never, .whole(.unsigned)),
            ("more data", .repeatable(length: most + 1), true, options, nil),
            ("more data, larger threshold", .repeatable(length: most + 1), true, large, .whole(.digested)),
            ("stream", .stream(length: most), true, options, .whole(.unsigned)),
            ("longer stream", .stream(length: most + 1), true, options, nil),
            ("stream, cleartext", .stream(length: 5), false, options, nil),
            ("stream, signed", .stream(length: 5), true, always, nil),
            ("endless stream", .stream(length: nil), true, options, nil),
        ]
        let wrong = cases.filter { sample in
            let plan = BodyPlan(
                body: sample.body, isObject: true, digest: nil, hasChecksum: true, isSecure: sample.isSecure,
                options: sample.options)
            if case .parts = plan { return sample.plan != nil }
            return plan != sample.plan
        }
        #expect(wrong.map(\.name) == [])
    }

    @Test func fieldsWithAChecksum() {
        let names = ["Content-MD5", "x-amz-checksum-crc32", "X-Amz-Checksum-SHA256", "x-amz-checksum-crc64nvme"]
        let others = [
            "x-amz-checksum-algorithm", "x-amz-checksum-mode", "x-amz-checksum-type", "x-amz-sdk-checksum-algorithm",
            "x-amz-content-sha256", "x-amz-meta-content-md5", "content-type",
        ]
        #expect((names + others).filter(MultipartMessages.isChecksum) == names)
    }

    @Test func partPlans() {
        let cases: [(size: Int64, partSize: Int, expected: Int, count: Int)] = [
            (0, 10, 10, 1), (1, 10, 10, 1), (10, 10, 10, 1), (11, 10, 10, 2), (100_000, 10, 10, 10_000),
            (100_001, 10, 11, 9_091), (5, 0, 1, 5), (-1, 10, 10, 1), (.max, 1, 922_337_203_685_478, 10_000),
        ]
        let wrong = cases.filter { sample in
            let plan = PartPlan(size: sample.size, partSize: sample.partSize)
            let ranges = (1...plan.count).compactMap { plan.range(of: $0) }
            var next: Int64 = 0
            for range in ranges where range.start == next { next += Int64(range.length) }
            return plan.partSize != sample.expected || plan.count != sample.count || next != max(0, sample.size)
                || plan.range(of: 0) != nil || plan.range(of: plan.count + 1) != nil
        }
        #expect(wrong.map(\.size) == [])
    }

    @Test func cutting() {
        let whole = Data((0..<100).map { UInt8($0) })
        var wrong: [String] = []
        for partSize in [1, 7, 25, 99, 100, 101] {
            for pieceSize in [1, 3, 50, 100] {
                var cutter = PartCutter(size: partSize)
                var parts: [Data] = []
                for start in stride(from: 0, to: 100, by: pieceSize) {
                    cutter.append(whole.dropFirst(start).prefix(pieceSize))
                    while let part = cutter.next() { parts.append(part) }
                }
                parts.append(cutter.finish())
                let isRight =
                    parts.dropLast().allSatisfy { $0.count == partSize }
                    && (1...partSize).contains(parts.last?.count ?? 0)
                if parts.reduce(Data(), +) != whole || !isRight { wrong.append("\(partSize) of \(pieceSize)") }
            }
        }
        #expect(wrong == [])
    }

    @Test func retries() throws {
        struct Other: Error {}
        let slow = try Self.error(503, "<Error><Code>SlowDown</Code></Error>", ["Retry-After": "3"])
        let asksForHours = try Self.error(503, "", ["Retry-After": "7200"])
        func answer(_ status: Int, _ code: String) throws -> S3Error {
            try Self.error(status, "<Error><Code>\(code)</Code></Error>")
        }
        let cases: [(name: String, error: any Error, attempt: Int, pause: TimeInterval?)] = [
            ("lost", URLError(.networkConnectionLost), 1, 0.4),
            ("lost again", URLError(.networkConnectionLost), 2, 0.8),
            ("lost too often", URLError(.networkConnectionLost), 3, nil), ("cancelled", URLError(.cancelled), 1, nil),
            ("500", try Self.error(500), 1, 0.4), ("403", try Self.error(403), 1, nil), ("slow", slow, 1, 3),
            ("hours", asksForHours, 1, 30), ("other", Other(), 1, nil), ("cancellation", CancellationError(), 1, nil),
            // The status is sent before the parts are assembled.
            ("failed behind 200", try answer(200, "InternalError"), 1, 0.4),
            ("slow behind 200", try answer(200, "SlowDown"), 1, 0.4),
            ("unavailable behind 200", try answer(200, "ServiceUnavailable"), 1, 0.4),
            ("wrong behind 200", try answer(200, "InvalidPart"), 1, nil),
            ("conflict", try answer(409, "OperationAborted"), 1, 0.4),
            ("other region", try Self.error(301, "", ["x-amz-bucket-region": "eu-west-1"]), 1, 0.4),
            ("other region again", try Self.error(301, "", ["x-amz-bucket-region": "eu-west-1"]), 3, nil),
            ("unknown region", try Self.error(301), 1, nil),
            ("replaced key", try answer(403, "InvalidAccessKeyId"), 1, 0.4),
            ("wrong secret", try answer(403, "SignatureDoesNotMatch"), 1, nil),
        ]
        let wrong = cases.filter { PartRetry.pause(after: $0.error, attempt: $0.attempt, of: 3, random: 1) != $0.pause }
        #expect(wrong.map(\.name) == [])
    }

    @Test func uploadsAreCodable() throws {
        var upload = S3Upload(
            url: try S3Address(bucket: "bucket", key: "a b").url, uploadID: "u", size: 25, partSize: 10, parts: [])
        #expect(upload.missingParts == [1, 2, 3])
        upload.add(S3Upload.Part(number: 3, eTag: "\"c\"", size: 5))
        upload.add(S3Upload.Part(number: 1, eTag: "\"a\"", size: 9))
        #expect(upload.missingParts == [1, 2] && upload.countOfBytesStored == 14)
        upload.add(S3Upload.Part(number: 1, eTag: "\"b\"", size: 10))
        #expect(upload.missingParts == [2] && upload.parts.map(\.number) == [1, 3])
        #expect(try JSONDecoder().decode(S3Upload.self, from: JSONEncoder().encode(upload)) == upload)
        let body = String(decoding: MultipartMessages.completion(upload.parts), as: UTF8.self)
        #expect(body.contains("<Part><PartNumber>1</PartNumber><ETag>&quot;b&quot;</ETag></Part><Part><PartNumber>3"))
    }

    /// A stored upload may contain any numbers.
    @Test func uploadsFromElsewhere() throws {
        let text = """
            {"url": "s3://bucket/k", "uploadID": "u", "size": -5, "partSize": 0, "parts": [{"number": 0, "eTag": "", "size": -1}]}
            """
        let upload = try JSONDecoder().decode(S3Upload.self, from: Data(text.utf8))
        #expect(upload.missingParts == [1] && upload.plan.range(of: 1)?.length == 0)
        for size in [Int64.min, -1, 0, .max] {
            let part = "{\"number\": \(size), \"eTag\": \"\", \"size\": \(size)}"
            let text = """
                {"url": "s3://bucket/k", "uploadID": "u", "size": \(size), "partSize": \(size), "parts": [\(part), \(part)]}
                """
            let upload = try JSONDecoder().decode(S3Upload.self, from: Data(text.utf8))
            #expect(upload.missingParts.count <= PartPlan.maximumParts)
            #expect(upload.countOfBytesStored == max(0, size))
        }
    }

    /// A server's list of parts may contain any numbers.
    @Test func partsFromElsewhere() throws {
        func parts(_ text: String) throws -> (parts: [S3Upload.Part], next: Int?) {
            let text = "<ListPartsResult><UploadId>u</UploadId>\(text)</ListPartsResult>"
            return try MultipartMessages.parts(S3Answer(status: 200, fields: [:], body: Data(text.utf8)))
        }
        func part(_ number: String, _ size: String) -> String {
            "<Part><PartNumber>\(number)</PartNumber><ETag>e</ETag><Size>\(size)</Size></Part>"
        }
        let max = "\(Int.max)"
        let list =
            part("1", "5") + part("0", "5") + part("10001", "5") + part(max, "5") + part("2", "-1") + part("3", max)
        #expect(try parts(list).parts.map(\.number) == [1, 3])
        let more = "<IsTruncated>true</IsTruncated><NextPartNumberMarker>"
        #expect(try parts("\(more)7</NextPartNumberMarker>").next == 7)
        #expect(throws: S3UploadError.self) { try parts("\(more)x</NextPartNumberMarker>") }
    }

    @Test func fieldsOfParts() {
        let names = [
            "content-type", "x-amz-meta-a", "x-amz-server-side-encryption-customer-key", "content-md5",
            "content-length",
            "x-amz-checksum-sha256", "if-none-match", "x-amz-content-sha256",
        ]
        #expect(names.filter(MultipartMessages.isOfCreation) == Array(names.prefix(3)))
        #expect(names.filter(MultipartMessages.isOfPart) == [names[2]])
        #expect(names.filter(MultipartMessages.isOfCompletion) == [names[2], "if-none-match"])
    }
}
