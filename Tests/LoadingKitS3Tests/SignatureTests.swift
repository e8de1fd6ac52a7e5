import Foundation
import LoadingKit
@_spi(LoadingKitPlugins) import LoadingKitTransport
import Testing

@_spi(LoadingKitPlugins) @testable import LoadingKitS3

/// The published cases: AWS's *Signature Version 4 test suite*, and the examples of *Authenticating Requests* in Amazon's S3
/// API reference. The suite's cases of normalized paths do not hold for S3, which takes paths as they are.
@Suite struct SignatureTests {
    private struct Case {
        let name: String
        var method = "GET"
        var path = "/"
        var query: [(String, String)] = []
        var fields: [(String, String)] = []
        var body = ""
        let signature: String
    }

    private static let suite: [Case] = [
        Case(
            name: "get-header-key-duplicate",
            fields: [("My-Header1", "value2"), ("My-Header1", "value2"), ("My-Header1", "value1")],
            signature: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"),
        Case(
            name: "get-header-value-order",
            fields: [
                ("My-Header1", "value4"), ("My-Header1", "value1"), ("My-Header1", "value3"), ("My-Header1", "value2"),
            ],
            signature: "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"),
        Case(
            name: "get-header-value-trim",
            fields: [("My-Header1", " value1"), ("My-Header2", " \"a   b   c\"")],
            signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"),
        Case(
            name: "get-unreserved", path: "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
            signature: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"),
        Case(
            name: "get-utf8", path: "/%E1%88%B4",
            signature: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
        Case(
            name: "get-vanilla", signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        Case(
            name: "get-vanilla-empty-query-key", query: [("Param1", "value1")],
            signature: "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"),
        Case(
            name: "get-vanilla-query-order-key-case", query: [("Param2", "value2"), ("Param1", "value1")],
            signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
        Case(
            name: "get-vanilla-query-unreserved",
            query: [
                (
                    "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
                    "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                )
            ],
            signature: "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"),
        Case(
            name: "get-vanilla-utf8-query", query: [("ሴ", "bar")],
            signature: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"),
        Case(
            name: "post-header-key-sort", method: "POST", fields: [("My-Header1", "value1")],
            signature: "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"),
        Case(
            name: "post-header-value-case", method: "POST", fields: [("My-Header1", "VALUE1")],
            signature: "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"),
        Case(
            name: "post-vanilla", method: "POST",
            signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        Case(
            name: "post-vanilla-query", method: "POST", query: [("Param1", "value1")],
            signature: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"),
        Case(
            name: "post-vanilla-query-nonunreserved", method: "POST",
            query: [("@#$%^", ""), ("+", "/,?><`\";:\\|][{}")],
            signature: "66c82657c86e26fb25238d0e69f011edc4c6df5ae71119d7cb98ed9b87393c1e"),
        Case(
            name: "post-vanilla-query-space", method: "POST", query: [("p", "")],
            signature: "e71688addb58a26418614085fb730ba3faa623b461c17f48f2fbdb9361b94a9b"),
        Case(
            name: "post-x-www-form-urlencoded", method: "POST",
            fields: [("Content-Type", "application/x-www-form-urlencoded")], body: "Param1=value1",
            signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
        Case(
            name: "post-x-www-form-urlencoded-parameters", method: "POST",
            fields: [("Content-Type", "application/x-www-form-urlencoded; charset=utf8")], body: "Param1=value1",
            signature: "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe"),
    ]

    private static let suiteSigner = SignatureV4(
        credentials: S3Credentials(
            accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
        region: "us-east-1", service: "service", date: Date(timeIntervalSince1970: 1_440_938_160))

    private static let documentationSigner = SignatureV4(
        credentials: S3Credentials(
            accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        region: "us-east-1", date: Date(timeIntervalSince1970: 1_369_353_600))

    @Test func theTestSuite() {
        let wrong = Self.suite.filter { sample in
            let request = CanonicalRequest(
                method: sample.method, path: sample.path, query: sample.query.map { .init($0.0, $0.1) },
                fields: sample.fields.map { .init($0.0, $0.1) } + [
                    .init("Host", "example.amazonaws.com"), .init("X-Amz-Date", "20150830T123600Z"),
                ], payload: Digest.hex(of: Data(sample.body.utf8)))
            return Self.suiteSigner.signature(of: request) != sample.signature
        }
        #expect(wrong.map(\.name) == [])
    }

    @Test func theHeaderOfTheTestSuite() {
        let request = CanonicalRequest(
            method: "GET", path: "/", query: [],
            fields: [.init("Host", "example.amazonaws.com"), .init("X-Amz-Date", "20150830T123600Z")],
            payload: Digest.ofNothing)
        #expect(
            Self.suiteSigner.authorization(for: request)
                == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
                + "SignedHeaders=host;x-amz-date, "
                + "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31")
    }

    @Test func spacesBeforeACombiningMark() {
        let texts = ["a  \u{301}b ", "a \u{301}b"].map { value in
            CanonicalRequest(
                method: "GET", path: "/", query: [], fields: [.init("X-Amz-Meta-A", value)], payload: Digest.ofNothing
            ).text
        }
        #expect(texts[0] == texts[1])
    }

    /// A request of any service: of the suite, and with a path that is encoded.
    @Test func signedRequests() throws {
        let date = Date(timeIntervalSince1970: 1_440_938_160)
        func signature(
            _ path: String, form: String? = nil, service: String = "service", host: String = "example.amazonaws.com:443"
        ) throws -> String {
            var request = URLRequest(url: try #require(URL(string: "https://\(host)\(path)")))
            if form != nil {
                request.httpMethod = "POST"
                request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
            }
            request.sign(
                Self.suiteSigner.credentials, region: "us-east-1", service: service, body: Data((form ?? "").utf8),
                at: date)
            #expect((request.value(forHTTPHeaderField: "X-Amz-Content-Sha256") != nil) == (service == "s3"))
            return request.value(forHTTPHeaderField: "Authorization")?.components(separatedBy: "Signature=").last ?? ""
        }
        #expect(try signature("/") == "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31")
        let form = try signature("/", form: "Param1=value1")
        #expect(form == "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a")
        let again = CanonicalRequest(
            method: "GET", path: "/a%2520b", query: [],
            fields: [.init("Host", "example.amazonaws.com"), .init("X-Amz-Date", "20150830T123600Z")],
            payload: Digest.ofNothing)
        #expect(try signature("/a%20b") == Self.suiteSigner.signature(of: again))
        #expect(try signature("/a%20b", service: "s3") != signature("/a%20b"))
        #expect(try signature("/", host: "Example.AmazonAWS.com") == signature("/"))
        for host in ["Bücher.example", "b%C3%BCcher.example", "B%C3%9Ccher.example:443"] {
            #expect(try signature("/", host: host) == signature("/", host: "xn--bcher-kva.example"), "\(host)")
        }
    }

    /// The examples with `Authorization`.
    @Test func theExamplesOfS3() {
        let host = "examplebucket.s3.amazonaws.com"
        let cases = [
            Case(
                name: "GET object", path: "/test.txt", fields: [("Range", "bytes=0-9")],
                signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
            Case(
                name: "PUT object", method: "PUT", path: "/test%24file.text",
                fields: [("Date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
                body: "Welcome to Amazon S3.",
                signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
            Case(
                name: "GET bucket lifecycle", query: [("lifecycle", "")],
                signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
            Case(
                name: "GET bucket", query: [("prefix", "J"), ("max-keys", "2")],
                signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
        ]
        let wrong = cases.filter { sample in
            let digest = Digest.hex(of: Data(sample.body.utf8))
            let request = CanonicalRequest(
                method: sample.method, path: sample.path, query: sample.query.map { .init($0.0, $0.1) },
                fields: sample.fields.map { .init($0.0, $0.1) } + [
                    .init("Host", host), .init("x-amz-date", "20130524T000000Z"), .init("x-amz-content-sha256", digest),
                ], payload: digest)
            return Self.documentationSigner.signature(of: request) != sample.signature
        }
        #expect(wrong.map(\.name) == [])
    }

    @Test func thePresignedExampleOfS3() {
        let request = CanonicalRequest(
            method: "GET", path: "/test.txt", query: [], fields: [.init("host", "examplebucket.s3.amazonaws.com")],
            payload: "UNSIGNED-PAYLOAD")
        let query = CanonicalRequest.QueryItem.query(Self.documentationSigner.presignedQuery(request, seconds: 86400))
        #expect(
            query == "X-Amz-Algorithm=AWS4-HMAC-SHA256"
                + "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
                + "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
                + "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404")
    }

    @Test func aClientPresignsTheSame() async throws {
        var options = S3Options(region: "us-east-1")
        options.environment = [:]
        options.clock = S3Clock(date: { Date(timeIntervalSince1970: 1_369_353_600) }, sleep: { _ in })
        let client = S3Client(credentials: Self.documentationSigner.credentials, options: options)
        let url = try await client.presignedURL(
            for: S3Address(bucket: "examplebucket", key: "test.txt"), seconds: 86400)
        // The host of the documentation has no region, so that the signature differs.
        #expect(url.host == "examplebucket.s3.us-east-1.amazonaws.com" && url.path == "/test.txt")
        #expect(url.query?.contains("X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=") == true)
        await #expect(throws: S3OptionsError.invalidLifetime(604_801)) {
            try await client.presignedURL(for: S3Address(bucket: "examplebucket", key: "a"), seconds: 604_801)
        }
    }

    @Test func digestsInPieces() {
        let data = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        var digest = SHA256()
        for start in stride(from: 0, to: data.count, by: 7_777) { digest.update(data.dropFirst(start).prefix(7_777)) }
        let inPieces = Digest.hex(digest)
        #expect(inPieces == Digest.hex(of: data))
        #expect(Digest.ofNothing == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    @Test func dates() {
        let dates: [(String, TimeInterval)] = [
            ("19700101T000000Z", 0), ("20000229T235959Z", 951_868_799), ("20150830T123600Z", 1_440_938_160),
            ("99991231T235959Z", 253_402_300_799), ("19700101T000000Z", -5), ("99991231T235959Z", 1e300),
            ("19700101T000000Z", .nan),
        ]
        #expect(dates.map { AmazonDate.basic(Date(timeIntervalSince1970: $0.1)) } == dates.map(\.0))
        let extended: [(String, TimeInterval?)] = [
            ("2015-08-30T12:36:00Z", 1_440_938_160), ("2015-08-30T12:36:00.000Z", 1_440_938_160),
            ("2015-08-30T12:36:00.500Z", 1_440_938_160.5), ("2015-08-30T12:36:00+00:00", 1_440_938_160),
            ("2015-02-29T00:00:00Z", nil), ("2015-08-30T12:36:00", nil), ("2015-08-30", nil), ("", nil),
            ("2015-13-01T00:00:00Z", nil), ("2015-08-30T24:00:00Z", nil), ("1969-12-31T00:00:00Z", nil),
        ]
        #expect(extended.filter { AmazonDate.parse(extended: $0.0)?.timeIntervalSince1970 != $0.1 }.map(\.0) == [])
    }
}
