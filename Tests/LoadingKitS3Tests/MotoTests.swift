import Foundation
import LoadingKit
import LoadingKitLoopbackServer
@_spi(LoadingKitPlugins) import LoadingKitPrimitives
import LoadingKitTesting
import TestSupport
import Testing

@testable import LoadingKitS3

/// Against moto, which was written for Amazon's own client.
@Suite(.usesPeers, .timeLimit(.minutes(5)))
struct MotoTests {
    private static func session(_ server: MotoServer) async throws -> URLSession {
        let session = try URLSession.s3(server.url)
        _ = try await session.load("PUT", "s3://bucket")
        return session
    }

    @Test func objects() async throws {
        let server = try MotoServer()
        let session = try await Self.session(server)
        let put = try await session.load(
            "PUT", "s3://bucket/a", body: content(1_000),
            fields: ["Content-Type": "text/x-test", "x-amz-meta-a": "b  c"])
        #expect(put.response.statusCode == 200 && put.response.value(forHTTPHeaderField: "ETag") != nil)
        let got = try await session.load("GET", "s3://bucket/a")
        #expect(got.data == content(1_000) && got.response.mimeType == "text/x-test")
        #expect(got.response.url?.absoluteString == "s3://bucket/a" && got.response.expectedContentLength == 1_000)
        #expect(got.response.value(forHTTPHeaderField: "x-amz-meta-a") == "b  c")
        let part = try await session.load("GET", "s3://bucket/a", fields: ["Range": "bytes=10-19"])
        #expect(part.response.statusCode == 206 && part.data == content(1_000).dropFirst(10).prefix(10))
        let head = try await session.load("HEAD", "s3://bucket/a")
        #expect(head.data.isEmpty && head.response.expectedContentLength == 1_000)
        let eTag = try #require(got.response.value(forHTTPHeaderField: "ETag"))
        let same = try await session.load("GET", "s3://bucket/a", fields: ["If-None-Match": eTag])
        #expect(same.response.statusCode == 304 && same.data.isEmpty)
        #expect(
            await s3Error { try await session.load("GET", "s3://bucket/a", fields: ["Range": "bytes=5000-"]) }?.kind
                == .invalidRange)
        #expect(try await session.load("DELETE", "s3://bucket/a").response.statusCode == 204)
        let missing = await s3Error { try await session.load("GET", "s3://bucket/a") }
        #expect(missing?.kind == .noSuchKey && missing?.code == "NoSuchKey" && missing?.statusCode == 404)
        #expect(missing?.requestID?.isEmpty == false)
        #expect(await s3Error { try await session.load("HEAD", "s3://bucket/a") }?.kind == .noSuchKey)
        #expect(await s3Error { try await session.load("GET", "s3://no-such-bucket/a") }?.kind == .noSuchBucket)
    }

    /// Keys of all kinds are stored and listed as they are, with pages of two.
    @Test func keysAndListings() async throws {
        let server = try MotoServer()
        let session = try await Self.session(server)
        let s3 = S3(session)
        let keys = [
            "a b", "a+b", "a%2Bb", "a//b", "a/b/c", "a/b/d", "ü/😀", "q?x=y&z", "h#h", "'quotes\"&<>", "~-._", "e=f",
            "日本",
        ]
        for key in keys {
            let url = try S3Address(bucket: "bucket", key: key).url
            _ = try await session.load("PUT", url.absoluteString, body: Data(key.utf8))
        }
        var found: [String] = []
        for try await object in s3.objects(in: "bucket", pageSize: 2) {
            let (data, _) = try await session.load("GET", try #require(object.url).absoluteString)
            #expect(String(decoding: data, as: UTF8.self) == object.key && object.size == object.key.utf8.count)
            found.append(object.key)
        }
        #expect(Set(found) == Set(keys) && found.count == keys.count)
        let entries = try await s3.entries(in: "bucket", prefix: "a/", delimiter: "/").reduce(into: []) {
            $0.append($1)
        }
        #expect(entries.contains(.prefix("a/b/")) && entries.contains(.prefix("a//")) && entries.count == 2)
        let raw = try await session.load("GET", "s3://bucket/?prefix=a+&max-keys=1")
        #expect(String(decoding: raw.data, as: UTF8.self).contains("ListBucketResult"))
        let none = try await s3.objects(in: "bucket", prefix: "none").reduce(into: 0) { count, _ in count += 1 }
        #expect(none == 0)
        await #expect(throws: S3Error.self) { for try await _ in s3.objects(in: "no-such-bucket") {} }
        await #expect(throws: S3AddressError.self) { for try await _ in s3.objects(in: "no/bucket") {} }
    }

    /// moto computes each signature with Amazon's own code, and refuses another one.
    @Test func signatures() async throws {
        let server = try MotoServer()
        let plain = URLSession(configuration: .ephemeral)
        func iam(_ query: String) async throws -> XMLElement {
            let (data, response) = try await plain.load(
                "POST", server.url, body: Data("\(query)&Version=2010-05-08".utf8),
                fields: [
                    "Content-Type": "application/x-www-form-urlencoded",
                    "Authorization":
                        "AWS4-HMAC-SHA256 Credential=a/20200101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=b",
                ])
            #expect(response.statusCode == 200)
            return try XMLElement.parse(data)
        }
        _ = try await iam("Action=CreateUser&UserName=u")
        let policy =
            "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"s3:*\",\"Resource\":\"*\"}]}"
        _ = try await iam(
            "Action=PutUserPolicy&UserName=u&PolicyName=p&PolicyDocument=\(PercentCoding.encoded(policy))")
        let key = try await iam("Action=CreateAccessKey&UserName=u").first("CreateAccessKeyResult")?.first("AccessKey")
        let identifier = try #require(key?["AccessKeyId"])
        let secret = try #require(key?["SecretAccessKey"])
        _ = try await plain.load(
            "POST", server.url + "/moto-api/reset-auth", body: Data("0".utf8), fields: ["Content-Type": "text/plain"])

        let session = try URLSession.s3(server.url, S3Credentials(accessKeyID: identifier, secretAccessKey: secret))
        _ = try await session.load("PUT", "s3://bucket")
        for key in ["plain", "a/b/c", "-._~"] {
            let fields = [
                "Content-Type": "text/plain", "x-amz-meta-note": " two  spaces ", "x-amz-storage-class": "STANDARD_IA",
            ]
            _ = try await session.load("PUT", "s3://bucket/\(key)", body: content(100), fields: fields)
            #expect(try await session.load("GET", "s3://bucket/\(key)").data == content(100))
        }
        // moto signs a query after it has decoded the slashes in it, as Amazon does not: the prefix has none.
        let listed = try await S3(session).objects(in: "bucket", prefix: "a").reduce(into: []) { $0.append($1.key) }
        #expect(listed == ["a/b/c"])
        let wrong = try URLSession.s3(server.url, S3Credentials(accessKeyID: identifier, secretAccessKey: secret + "x"))
        let refused = await s3Error { try await wrong.load("GET", "s3://bucket/plain") }
        #expect(refused?.kind == .badCredentials && refused?.code == "SignatureDoesNotMatch")
        let unknown = try URLSession.s3(server.url, S3Credentials(accessKeyID: "AKIDNONE", secretAccessKey: secret))
        #expect(await s3Error { try await unknown.load("GET", "s3://bucket/plain") }?.kind == .badCredentials)
    }

    @Test func presigned() async throws {
        let server = try MotoServer()
        let session = try await Self.session(server)
        _ = try await session.load("PUT", "s3://bucket/a%20b", body: content(10))
        let client = S3Client(credentials: S3Credentials.ofTests, options: try .forServer(server.url))
        let url = try await client.presignedURL(
            for: try S3Address(bucket: "bucket", key: "a b"), query: ["response-content-type": "text/x-test"])
        let (data, response) = try await URLSession(configuration: .ephemeral).data(from: url)
        #expect(data == content(10) && (response as? HTTPURLResponse)?.statusCode == 200)
        #expect(url.query?.contains("response-content-type=text%2Fx-test") == true)
        #expect(!url.absoluteString.contains("the-secret") && url.absoluteString.contains("the-token"))
    }

    /// A stream of unknown length is sent in parts; a short one in one request.
    @Test func streams() async throws {
        let server = try MotoServer()
        let session = try URLSession.s3(server.url, change: { $0.partSize = 5 << 20 })
        _ = try await session.load("PUT", "s3://bucket")
        for count in [0, 1_000, 5 << 20, (5 << 20) + 1, 12_000_000] {
            var request = URLRequest(url: try #require(URL(string: "s3://bucket/\(count)")))
            request.httpMethod = "PUT"
            request.httpBodyStream = InputStream(data: content(count))
            request.setValue("text/x-test", forHTTPHeaderField: "Content-Type")
            let (_, put) = try await session.load(request)
            let eTag = try #require(put.value(forHTTPHeaderField: "ETag"))
            #expect(eTag.contains("-") == (count > 5 << 20) && put.url == request.url)
            let (data, got) = try await session.load("GET", "s3://bucket/\(count)")
            #expect(data == content(count) && got.mimeType == "text/x-test", "\(count)")
            #expect(got.value(forHTTPHeaderField: "ETag") == eTag)
        }
    }

    /// An upload of a file is interrupted, stored as JSON, and continued in another session.
    @Test func filesThatAreResumed() async throws {
        let server = try MotoServer()
        let session = try await Self.session(server)
        let folder = try TemporaryFolder()
        let file = try folder.write(content(17_000_000), to: "file")
        let url = try #require(URL(string: "s3://bucket/file"))
        var options = S3UploadOptions()
        options.partSize = 5 << 20
        options.partsAtOnce = 1
        options.fields = ["Content-Type": "text/x-test"]
        let stored = Recorder<Data>()
        let task = Signal()
        options.didAdvance = { upload in
            if let data = try? JSONEncoder().encode(upload) { stored.append(data) }
            if upload.parts.count == 2 { task.fire() }
        }
        let first = options
        let running = Task { try await S3(session).upload(fromFile: file, to: url, options: first) }
        await task.wait()
        running.cancel()
        // It may have ended before it was cancelled; then there is nothing to continue.
        let interrupted = await running.result
        guard case .failure(let error) = interrupted, case S3UploadError.interrupted(let upload, _) = error else {
            Issue.record("the upload was not interrupted: \(interrupted)")
            return
        }
        #expect(upload.parts.count >= 2)
        let saved = try JSONDecoder().decode(S3Upload.self, from: try #require(stored.last))
        let s3 = S3(try URLSession.s3(server.url))
        let known = try await s3.storedParts(of: saved)
        #expect(known.parts.prefix(2).map(\.eTag) == saved.parts.prefix(2).map(\.eTag))
        let advances = Recorder<S3Upload>()
        options.didAdvance = { advances.append($0) }
        let object = try await s3.continueUpload(saved, fromFile: file, options: options)
        #expect(object.eTag?.contains("-4") == true)
        #expect(try await session.load("GET", "s3://bucket/file").data == content(17_000_000))
        // A program that has not seen the answer finds the object. One that lacks a part cannot send it any longer.
        options.didAdvance = nil
        let whole = advances.last ?? saved
        #expect(try await s3.continueUpload(whole, fromFile: file, options: options).eTag == object.eTag)
        var partial = whole
        partial.parts.removeLast()
        await #expect(throws: S3UploadError.self) {
            try await s3.continueUpload(partial, fromFile: file, options: options)
        }
    }

    @Test func uploadsThatAreAborted() async throws {
        let server = try MotoServer()
        let session = try await Self.session(server)
        let folder = try TemporaryFolder()
        let file = try folder.write(content(1_000), to: "file")
        let s3 = S3(session)
        let url = try #require(URL(string: "s3://bucket/file"))
        let upload = try await s3.beginUpload(ofFile: file, to: url)
        #expect(try await s3.storedParts(of: upload).parts.isEmpty)
        try await s3.abort(upload)
        #expect(await s3Error { try await s3.storedParts(of: upload) }?.kind == .noSuchUpload)
        let small = try await s3.upload(fromFile: file, to: url)
        #expect(small.eTag?.isEmpty == false)
        #expect(try await session.load("GET", "s3://bucket/file").data == content(1_000))
        try folder.write(content(999), to: "file")
        await #expect(throws: S3UploadError.self) { try await s3.continueUpload(upload, fromFile: file) }
        await #expect(throws: S3UploadError.self) { try await s3.upload(fromFile: folder.url, to: url) }
    }
}
