import Foundation
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// `UseBucketExample` against a server that keeps one object.
@Suite(.timeLimit(.minutes(5))) struct UseBucketTests {
    @Test func storesLoadsAndLists() async throws {
        let stored = Box<[UInt8]>([])
        let server = try LoopbackServer { request in
            guard request.fields[name: "Authorization"]?.contains("Credential=AKIDTEST/") == true else {
                return .text("", status: 403)
            }
            switch (request.method, request.path) {
            case ("PUT", "/bucket/notes/a%20b.txt"):
                stored.value = request.body
                return .text("")
            case ("GET", "/bucket/notes/a%20b.txt"): return .bytes(stored.value)
            case ("GET", "/bucket") where request.query?.contains("prefix=notes%2F") == true:
                return .text(
                    "<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>notes/a+b.txt</Key>"
                        + "<Size>5</Size></Contents></ListBucketResult>")
            default: return .text("<Error><Code>NoSuchBucket</Code></Error>", status: 404)
            }
        }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let file = try folder.write("hello", to: "file")
        let environment = [
            "AWS_ACCESS_KEY_ID": "AKIDTEST", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL_S3": server.url(), "AWS_CONFIG_FILE": "/nowhere",
        ]
        func run(_ url: String) async throws -> ProgramRun {
            try await ProgramRun("UseBucketExample", [url, file.path], environment: environment)
        }
        let done = try await run("s3://bucket/notes/a%20b.txt")
        #expect(done.text == "stored and loaded 5 bytes\n5 notes/a b.txt\n" && done.status == 0)
        let missing = try await run("s3://missing/notes")
        #expect(missing.text == "there is no bucket missing\n" && missing.status == 1)
    }
}
