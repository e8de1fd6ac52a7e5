import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import Synchronization
import TestSupport
import Testing

/// Files that the system sends by itself, where it has their bytes in memory.
@Suite struct UploadedFileTests {
    private typealias Entry = FaultPlan.Entry

    /// What the system can answer when it is to send a file's bytes.
    private static let answers: [(faults: [Entry], code: URLError.Code?)] = [
        ([], nil), ([Entry(.sendfile, .from(1), .short(100_000))], nil),
        ([Entry(.sendfile, .from(1), .fail(EINVAL))], nil), ([Entry(.sendfile, .nth(2), .fail(ENOSYS))], nil),
        ([Entry(.sendfile, .from(3), .fail(EPERM))], nil), ([Entry(.sendfile, .nth(2), .fail(EIO))], nil),
        ([Entry(.sendfile, .nth(2), .fail(EIO)), Entry(.pread, .from(2), .fail(EIO))], .cannotOpenFile),
        ([Entry(.sendfile, .nth(2), .fail(EINVAL)), Entry(.pread, .from(2), .short(0))], .requestBodyStreamExhausted),
        ([Entry(.sendfile, .nth(2), .short(0))], .requestBodyStreamExhausted),
    ]

    /// The first piece is read when the file is opened.
    @Test(arguments: answers.indices) func theSystemSendsAFilesBytesWhereItCan(index: Int) async throws {
        let (faults, code) = Self.answers[index]
        let folder = try TemporaryFolder()
        let body = Data(RangedResource.bytes(6_000_001))
        let file = try folder.write(body, to: "file")
        let server = try LoopbackServer { .bytes($0.body) }
        defer { server.stop() }
        let loop = EventLoop(name: "files", idleConnections: IdleConnections(limit: 8))
        defer { loop.stop() }
        // Not every file system tells that the bytes are in memory, as they are.
        let plan = FaultPlan([Entry(.preadv2, .from(1), .skip)] + faults)
        loop.attach(plan)
        let session = makeSession(on: loop)
        try await withTimeout {
            let request = try BothVersions.request(server, "/", "PUT")
            do {
                let received = try await session.upload(for: request, fromFile: file).0
                #expect(received == body && code == nil)
            } catch let error as URLError {
                #expect(error.code == code && "\(error)".contains(file.path), "\(error)")
            }
            #expect(plan.count(of: .sendfile) > 1)
        }
    }

    /// How a file can change while it is sent.
    enum Change: CaseIterable {
        case isMadeShorter, isReplaced, grows

        func make(on file: URL, in folder: TemporaryFolder) {
            switch self {
            case .isMadeShorter: truncate(file.path, 1000)
            case .isReplaced: rename(folder.file("other").path, file.path)
            case .grows: truncate(file.path, 64 << 20)
            }
        }
    }

    /// Whether its bytes are read, or the system sends them.
    enum Way: CaseIterable {
        case read, sent

        var plan: FaultPlan { FaultPlan(.preadv2, .from(1), self == .read ? .fail(EAGAIN) : .skip) }
    }

    @Test(arguments: Change.allCases, Way.allCases)
    func aFileThatChangesMeanwhile(change: Change, way: Way) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("", to: "file")
        try folder.write(Data(repeating: 1, count: 1 << 20), to: "other")
        // Nothing but a hole, and more than sockets take unread.
        let size = 32 << 20
        try #require(truncate(file.path, size) == 0)
        let recorder = FirstBytesRecorder { change.make(on: file, in: folder) }
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        var options = LoopbackServer.Options()
        options.receiveBody = { request, bytes in
            try request.exchange.wait(for: recorder.hasSent)
            guard let base = bytes.baseAddress, bytes.count <= zeros.count, memcmp(base, zeros, bytes.count) == 0 else {
                throw CocoaError(.fileReadCorruptFile)
            }
        }
        let server = try LoopbackServer(options) { .text("\($0.bodyLength)") }
        defer { server.stop() }
        let loop = EventLoop(name: "files", idleConnections: IdleConnections(limit: 8))
        defer { loop.stop() }
        let plan = way.plan
        loop.attach(plan)
        try await withTimeout {
            let session = makeSession(delegate: recorder, on: loop)
            defer { session.invalidateAndCancel() }
            session.uploadTask(with: try BothVersions.request(server, "/", "PUT"), fromFile: file).resume()
            let end = await recorder.all().last
            if change == .isMadeShorter {
                #expect(end == "complete \(URLError.requestBodyStreamExhausted.rawValue)")
                let words = "\(try #require(recorder.errors.last))"
                #expect(words.contains("\(file.path) was made shorter"), "\(words)")
            } else {
                #expect(end == "complete ok" && recorder.files.snapshot.reduce(Data(), +) == Data("\(size)".utf8))
            }
            #expect((plan.count(of: .sendfile) > 0) == (way == .sent))
        }
    }

    /// A server that reads as fast as a client can send never makes the client wait.
    @Test func otherLoadsEndWhileAFastUploadGoesOn() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("", to: "file")
        let size = Int64(1) << 42
        try #require(truncate(file.path, off_t(size)) == 0)
        let server = try LoopbackServer { _ in .bytes([UInt8](repeating: 1, count: 1024)) }
        defer { server.stop() }
        let loop = EventLoop(name: "fast", idleConnections: IdleConnections(limit: 8))
        defer { loop.stop() }
        // The socket takes every piece whole and at once.
        loop.attach(FaultPlan([Entry(.preadv2, .from(1), .skip), Entry(.sendfile, .from(1), .skip)]))
        try await withTimeout {
            let session = makeSession(on: loop)
            defer { session.invalidateAndCancel() }
            let ends = Recorder<URLError.Code?>()
            // A delegate would be told of each piece, and could not keep up.
            let request = try BothVersions.request(server, "/", "PUT")
            let upload = session.uploadTask(with: request, fromFile: file) { ends.append(($2 as? URLError)?.code) }
            upload.resume()
            _ = await server.openings.count(reaches: 1)
            var sent: [Int64] = [0]
            for _ in 0..<20 {
                #expect(try await session.data(for: BothVersions.request(server, "/")).0.count == 1024)
                sent.append(upload.countOfBytesSent)
            }
            #expect(sent == sent.sorted() && Set(sent).count > 1 && sent.allSatisfy { $0 < size })
            upload.cancel()
            #expect(await ends.count(reaches: 1) == [.cancelled])
        }
    }
}

/// Does something once the first bytes are sent, of which it records nothing more.
private final class FirstBytesRecorder: TransferRecorder, @unchecked Sendable {  // as its superclass
    let hasSent = Signal()
    private let isFirst = Atomic<Bool>(true)
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    override func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        guard isFirst.exchange(false, ordering: .relaxed) else { return }
        body()
        hasSent.fire()
    }
}
