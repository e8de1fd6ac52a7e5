import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import LoadingKitS3

/// Completions of multipart uploads whose answers are lost.
@Suite(.timeLimit(.minutes(5))) struct UploadCompletionTests {
    /// Which errors of a completion may come from its own success before, and what the object must then share.
    @Test func evidence() {
        typealias Evidence = UploadCompletion.Evidence
        let cases: [(kind: S3Error.Kind, hadAllParts: Bool, first: Evidence?, later: Evidence?)] = [
            (.noSuchUpload, false, .content, .size), (.noSuchUpload, true, .content, .content),
            (.preconditionFailed, false, nil, .content), (.preconditionFailed, true, .content, .content),
            (.other, true, nil, nil), (.serverFailure, true, nil, nil), (.noSuchKey, true, nil, nil),
            (.accessDenied, false, nil, nil),
        ]
        for sample in cases {
            let completion = UploadCompletion(size: 0, parts: [], hadAllParts: sample.hadAllParts)
            #expect(completion.evidence(after: sample.kind, mayBeStored: false) == sample.first, "\(sample.kind)")
            #expect(completion.evidence(after: sample.kind, mayBeStored: true) == sample.later, "\(sample.kind)")
        }
    }

    /// An attempt that the server has refused has stored nothing: an older object of the same size is no evidence.
    @Test(arguments: [("SlowDown", 503, false), ("InternalError", 500, true), ("InternalError", 200, true)])
    func anAttemptThatWasAnswered(_ code: String, _ status: Int, isSuccess: Bool) async throws {
        let address = try S3Address(bucket: "bucket", key: "k")
        func error(_ code: String, _ status: Int) -> S3Error {
            let body = Data("<Error><Code>\(code)</Code></Error>".utf8)
            return S3Error(S3Answer(status: status, fields: [:], body: body), address)
        }
        let parts = [S3Upload.Part(number: 1, eTag: "a", size: 2)]
        let completion = UploadCompletion(size: 2, parts: parts, hadAllParts: false)
        var failures = [error(code, status), error("NoSuchUpload", 404)]
        let head = S3Answer(status: 200, fields: ["ETag": "x-1", "Content-Length": "2"], body: Data())
        do {
            let stored = try await completion.run(attempts: 3, clock: S3Clock(date: { Date() }, sleep: { _ in })) {
                throw failures.removeFirst()
            } head: {
                head
            }
            #expect(isSuccess && stored.object.eTag == "x-1")
        } catch let error as S3Error {
            #expect(!isSuccess && error.kind == .noSuchUpload)
        }
    }

    @Test func objects() {
        // The digests of "a" and "b", and that of both.
        let tags = ["\"0cc175b9c0f1b6a831c399e269772661\"", "92eb5ffee6ae2fec3ad71c777531578f"]
        let whole = "96e024ba2074fe77e8e965ba43a704be-2"
        let cases: [(tags: [String], tag: String?, length: String?, isOfSize: Bool, hasContent: Bool)] = [
            (tags, "\"\(whole)\"", "2", true, true), (tags, whole.uppercased(), "2", true, true),
            (tags, whole, "3", false, false), (tags, whole, nil, false, false), (tags, nil, "2", false, false),
            (tags.reversed(), whole, "2", true, false), (tags, "\"x-2\"", "2", true, false),
            (tags, "\"x-12\"", "2", false, false), (tags, "\"x-1\"", "2", false, false),
            (["a", "b"], "x-2", "2", true, false),
            ([tags[0], String(repeating: "+1", count: 16)], whole, "2", true, false),
        ]
        for sample in cases {
            let parts = sample.tags.enumerated().map { S3Upload.Part(number: $0.offset + 1, eTag: $0.element, size: 1) }
            let completion = UploadCompletion(size: 2, parts: parts.reversed(), hadAllParts: false)
            var fields: [String: String] = [:]
            (fields["ETag"], fields["Content-Length"]) = (sample.tag, sample.length)
            let head = S3Answer(status: 200, fields: fields, body: Data())
            #expect(completion.isStored(head, .size) == sample.isOfSize, "\(sample)")
            #expect(completion.isStored(head, .content) == sample.hasContent, "\(sample)")
        }
    }

    /// The parts' entity tags are MD5s, and the object's is made of them.
    private static let partTags = (1...3).map { "\"\(String(repeating: "\($0)", count: 32))\"" }
    private static let tagOfParts = "\"24321a9c3853e81fd2e5db87eb3bf4b0-3\""

    struct Completed: Sendable {
        /// The answer to the repeated completion.
        var code = "NoSuchUpload"
        var status = 404
        /// What a HEAD of the object says.
        var tag = "\"other-3\""
        var count = 250_000
        var isStored = true
    }

    static let completed = [
        Completed(), Completed(tag: "\"other-2\"", isStored: false), Completed(count: 249_999, isStored: false),
        Completed(tag: tagOfParts),
        // The condition may protect another object of this size.
        Completed(code: "PreconditionFailed", status: 412, isStored: false),
        Completed(code: "PreconditionFailed", status: 412, tag: tagOfParts),
        Completed(code: "InvalidPart", status: 400, tag: tagOfParts, isStored: false),
    ]

    /// - Parameter isLost: whether two completions have no answer: the session sends a request again by itself that had none
    ///   on a connection that was used before.
    private static func server(_ completed: Completed, isLost: Bool = true) throws -> LoopbackServer {
        let completions = Box(0)
        return try SessionTests.multipartServer(
            fails: { number, _ in ServerResponse().adding("ETag", partTags[number - 1]) },
            completes: { request in
                if completions.next() <= 2, isLost { try request.exchange.closeAbruptly() }
                return SessionTests.error(completed.code, completed.status)
            },
            object: .bytes([UInt8](repeating: 0, count: completed.count)).adding("ETag", completed.tag)
                .adding("x-amz-version-id", "v"))
    }

    /// A completion is performed, and its answer lost. A repeated one fails: the object shows whether it is stored.
    @Test(arguments: completed) func aCompletionWhoseAnswerIsLost(_ completed: Completed) async throws {
        let server = try Self.server(completed)
        defer { server.stop() }
        let clock = S3Clock(date: { Date() }, sleep: { _ in })
        let session = try SessionTests.inParts(server) { $0.clock = clock }
        let request = try SessionTests.put(content(250_000), fields: ["If-None-Match": "*"])
        if completed.isStored {
            let (data, response) = try await session.load(request)
            #expect(data.isEmpty && response.statusCode == 200)
            #expect(response.value(forHTTPHeaderField: "ETag") == completed.tag)
            #expect(response.value(forHTTPHeaderField: "x-amz-version-id") == "v")
            #expect(!server.requests.snapshot.contains { $0.method == "DELETE" })
        } else {
            #expect(await s3Error { try await session.load(request) }?.code == completed.code)
        }
    }

    /// The same for a file. An upload that is continued without missing parts may have been completed in an earlier run.
    @Test(arguments: completed, [false, true])
    func aFileWhoseCompletionIsLost(_ completed: Completed, isContinued: Bool) async throws {
        let server = try Self.server(completed, isLost: !isContinued)
        defer { server.stop() }
        let s3 = S3(try URLSession.s3(server.url()))
        let folder = try TemporaryFolder()
        let file = try folder.write(content(250_000), to: "file")
        let url = try #require(URL(string: "s3://bucket/k"))
        var options = S3UploadOptions()
        options.partSize = 100_000
        options.clock = S3Clock(date: { Date() }, sleep: { _ in })
        let sizes = [100_000, 100_000, 50_000]
        let whole = S3Upload(
            url: url, uploadID: "u/1", size: 250_000, partSize: 100_000,
            parts: (1...3).map { S3Upload.Part(number: $0, eTag: Self.partTags[$0 - 1], size: sizes[$0 - 1]) })
        let isStored = completed.isStored && (!isContinued || completed.tag == Self.tagOfParts)
        do {
            let object =
                isContinued
                ? try await s3.continueUpload(whole, fromFile: file, options: options)
                : try await s3.upload(fromFile: file, to: url, options: options)
            #expect(isStored && object == S3StoredObject(eTag: completed.tag, versionID: "v"))
        } catch S3UploadError.interrupted(let upload, let error as S3Error) {
            #expect(!isStored && error.code == completed.code && upload.parts == whole.parts)
        }
    }
}
