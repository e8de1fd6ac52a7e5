import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

/// Files that the system sends by itself, where it has their bytes in memory, to an ftp server.
@Suite struct UploadedFileTests {
    private let folder: TemporaryFolder
    private let file: URL
    private let loop = EventLoop(name: "files", idleConnections: IdleConnections(limit: 8))
    private let server: FaultyFTPServer

    /// The file is nothing but a hole.
    init() throws {
        folder = try TemporaryFolder()
        file = try folder.write("", to: "file")
        try #require(truncate(file.path, 1 << 42) == 0)
        server = try FaultyFTPServer()
    }

    /// With the file's bytes on the disk, from which they are read; and in memory.
    @Test(arguments: [FaultPlan.Fault.fail(EAGAIN), .skip])
    func aFileThatIsMadeShorterMeanwhileIsAnError(fault: FaultPlan.Fault) async throws {
        defer { loop.stop() }
        let plan = FaultPlan(.preadv2, .from(1), fault)
        loop.attach(plan)
        let recorder = UploadRecorder { [file] in truncate(file.path, 1000) }
        makeFTPSession(delegate: recorder, on: loop).uploadTask(with: try request, fromFile: file).resume()
        try await withTimeout {
            let error = try #require(await recorder.ends.count(reaches: 1).first as? URLError)
            #expect(error.code == .requestBodyStreamExhausted)
            #expect("\(error)".contains("\(file.path) was made shorter"), "\(error)")
            #expect((plan.count(of: .sendfile) > 0) == (fault == .skip))
        }
    }

    /// A server that reads as fast as a client can send never makes the client wait.
    @Test func otherLoadsEndWhileAFastUploadGoesOn() async throws {
        defer { loop.stop() }
        // The socket takes every piece whole and at once.
        loop.attach(FaultPlan([.init(.preadv2, .from(1), .skip), .init(.sendfile, .from(1), .skip)]))
        let ends = Recorder<URLError.Code?>()
        let session = makeFTPSession(on: loop)
        // A delegate would be told of each piece, and could not keep up.
        let upload = session.uploadTask(with: try request, fromFile: file) { ends.append(($2 as? URLError)?.code) }
        upload.resume()
        try await withTimeout {
            await server.step("STOR")
            for _ in 0..<10 { #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file)) }
            #expect(upload.countOfBytesSent < 1 << 42)
            upload.cancel()
            #expect(await ends.count(reaches: 1) == [.cancelled])
        }
    }

    private var request: URLRequest {
        get throws {
            var request = URLRequest(url: try #require(URL(string: server.url("/written.bin"))))
            request.httpMethod = "PUT"
            return request
        }
    }
}

/// Does something once the first bytes are sent.
private final class UploadRecorder: NSObject, URLSessionTaskDelegate, Sendable {
    let begun = Recorder<Int64>()
    let ends = Recorder<(any Error)?>()
    private let afterFirstBytes: @Sendable () -> Void

    init(_ afterFirstBytes: @escaping @Sendable () -> Void) { self.afterFirstBytes = afterFirstBytes }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        guard begun.count == 0 else { return }
        afterFirstBytes()
        begun.append(totalBytesSent)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ends.append(error)
    }
}
