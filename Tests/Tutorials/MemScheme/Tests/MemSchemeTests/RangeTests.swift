import Foundation
import LoadingKit
import MemScheme
import Testing

@Test(arguments: [
    ("bytes=0-1", 206, "01", "bytes 0-1/10"), ("bytes=7-", 206, "789", "bytes 7-9/10"),
    ("bytes=-3", 206, "789", "bytes 7-9/10"), ("bytes=5-99", 206, "56789", "bytes 5-9/10"),
    ("bytes=10-", 416, "", "bytes */10"), ("bytes=-0", 416, "", "bytes */10"),
    ("bytes=5-2", 200, "0123456789", nil), ("bytes=0-1,4-5", 200, "0123456789", nil),
    ("lines=1-2", 200, "0123456789", nil),
])
func ranges(_ range: String, _ status: Int, _ text: String, _ place: String?) async throws {
    let store = MemStore()
    try store.write(Data("0123456789".utf8), to: "digits", type: "text/plain")
    let (data, response) = try await load("mem:digits", from: store) { $0.setValue(range, forHTTPHeaderField: "Range") }
    #expect(response.statusCode == status && String(decoding: data, as: UTF8.self) == text)
    #expect(response.value(forHTTPHeaderField: "Content-Range") == place)
}

/// Breaks what is loaded without a range after 100,000 bytes, as a connection may break.
private struct Breaker: LoadInterceptor {
    func canIntercept(_ request: URLRequest) -> Bool { request.value(forHTTPHeaderField: "Range") == nil }

    func load(_ load: LoadContext) async throws {
        let loaded = try await load.next.load(load.request)
        try await load.receive(loaded.response)
        var count = 0
        for try await piece in loaded.body {
            try await load.receive(piece)
            count += piece.count
            if count >= 100_000 { throw URLError(.networkConnectionLost) }
        }
    }
}

/// Where the entry has changed in between, the download begins anew.
@Test(arguments: [false, true]) func aDownloadGoesOn(isChanged: Bool) async throws {
    let store = MemStore()
    var content = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try store.write(content, to: "long", type: "application/octet-stream")
    let configuration = URLSessionConfiguration.ephemeral
    configuration.interceptors = [Breaker()]
    configuration.addMem(store)
    let session = URLSession(configuration: configuration)
    defer { session.invalidateAndCancel() }
    let url = try #require(URL(string: "mem:long"))

    let error = await #expect(throws: URLError.self) { try await session.download(from: url) }
    let rest = try #require(error?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data)
    if isChanged {
        content.reverse()
        try store.write(content, to: "long", type: "application/octet-stream")
    }
    let (file, response) = try await session.download(resumeFrom: rest)
    defer { try? FileManager.default.removeItem(at: file) }
    #expect((response as? HTTPURLResponse)?.statusCode == (isChanged ? 200 : 206))
    #expect(try Data(contentsOf: file) == content)
}
