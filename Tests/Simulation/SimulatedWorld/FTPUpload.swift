import CSimulatedSystem
import Foundation
import LoadingKit
import LoadingKitPrimitives
import Synchronization

/// An upload to an ftp server, which has what the program has sent, or the task has failed.
struct FTPUpload: Sendable {
    enum Source: UInt64 { case data, request, file, stream, boundStream }

    /// The longest that it may take, in milliseconds.
    private static let longest: UInt64 = 3_600_000

    private let resource: Resource
    private let server: StoringFTPServer
    private let network: Network
    private let ledger: Ledger
    /// Whether the program may cancel and suspend it.
    private let disturbs: Bool
    private let start = sim_time() / 1_000_000

    init(_ resource: Resource, _ server: StoringFTPServer, _ network: Network, _ ledger: Ledger, disturbs: Bool = true)
    {
        (self.resource, self.server, self.network, self.ledger) = (resource, server, network, ledger)
        self.disturbs = disturbs
    }

    private var name: String { "\(server.isProtected ? "ftp with TLS" : "ftp")\(resource)" }

    /// Nil where the server does all well.
    private var act: StoringAct? { StoringAct(resource) }

    private func request() -> URLRequest? {
        guard let url = server.url(resource) else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = resource.number >> 34 % 4 == 0 ? "APPE" : "PUT"
        if server.isProtected { request.setValue("required", forHTTPHeaderField: "FTP-TLS") }
        if resource.number >> 36 % 2 == 0 { request.setValue("make", forHTTPHeaderField: "FTP-Folders") }
        return request
    }

    // MARK: The program

    func run(_ session: URLSession, from source: Source? = nil) async {
        guard var request = request() else { return }
        let cancellation = disturbs && sim_random(5) == 0 ? Int(sim_random(sim_random(2) == 0 ? 20 : 3000)) : nil
        let body = Data(resource.body())
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("store-\(resource.number)")
        defer { try? FileManager.default.removeItem(at: file) }
        switch source ?? Source(rawValue: sim_random(5)) {
        case .data, nil:
            await load(cancellation) { [request] in session.uploadTask(with: request, from: body, completionHandler: $0)
            }
        case .request:
            request.httpBody = body
            await load(cancellation) { [request] in session.dataTask(with: request, completionHandler: $0) }
        case .file:
            do { try body.write(to: file) } catch { return ledger.violation("no file to upload: \(error)") }
            await load(cancellation) { [request] in
                session.uploadTask(with: request, fromFile: file, completionHandler: $0)
            }
        case .stream:
            request.httpBodyStream = InputStream(data: body)
            await load(cancellation) { [request] in session.dataTask(with: request, completionHandler: $0) }
        case .boundStream: await fromBoundStream(session, request, body, cancellation)
        }
    }

    /// The program writes the body, piece by piece, while it is sent.
    private func fromBoundStream(_ session: URLSession, _ request: URLRequest, _ body: Data, _ cancellation: Int?) async
    {
        var request = request
        let writer = BodyWriter()
        request.httpBodyStream = writer.write(body)
        await load(cancellation) { [request] in session.dataTask(with: request, completionHandler: $0) }
        writer.abandon()
    }

    private typealias Completion = @Sendable (Data?, URLResponse?, (any Error)?) -> Void

    private func load(_ cancellation: Int?, _ make: (@escaping Completion) -> URLSessionTask) async {
        let isEnded = Atomic<Bool>(false)
        let (response, error) = await withCheckedContinuation {
            (continuation: CheckedContinuation<(URLResponse?, (any Error)?), Never>) in
            let task = make { _, response, error in
                if isEnded.exchange(true, ordering: .relaxed) { return ledger.violation("\(name) ended twice") }
                continuation.resume(returning: (response, error))
            }
            ledger.mustEnd(task, "the task of \(name)")
            task.resume()
            interfere(with: task, cancellation)
        }
        if sim_time() / 1_000_000 - start > Self.longest { ledger.violation("\(name) took too long") }
        if let error { failed(error, isCancelled: cancellation != nil) } else { succeeded(response) }
        check()
    }

    private func interfere(with task: URLSessionTask, _ cancellation: Int?) {
        let suspends = disturbs && sim_random(6) == 0
        guard suspends || cancellation != nil else { return }
        Task {
            if suspends {
                try? await Task.sleep(for: .milliseconds(Int(sim_random(200))))
                task.suspend()
                try? await Task.sleep(for: .milliseconds(Int(sim_random(20_000))))
                task.resume()
            }
            guard let cancellation else { return }
            try? await Task.sleep(for: .milliseconds(cancellation))
            task.cancel()
        }
    }

    // MARK: What may come of it

    private func succeeded(_ response: URLResponse?) {
        ledger.note("\(server.isProtected ? "ftp uploads with TLS" : "ftp uploads") succeeded")
        let status = (response as? HTTPURLResponse)?.statusCode
        if status != 200, status != 201 { ledger.violation("\(name): \(response.map { "\($0)" } ?? "no response")") }
        // Without TLS, nobody can tell the end of a connection from that of the file.
        let isWhole = server.isProtected || !network.mayEnd
        // A file that ends early may end before the server does what it does amid a transfer.
        if let act, !act.mayStore, isWhole || !act.isAmid {
            return ledger.violation("\(name): \(act) was taken for good")
        }
        // This server has said that it has all before it had, and nobody waits for what is on its way.
        if act == .early { return }
        let upload = server.upload(resource)
        if !upload.isConfirmed { ledger.violation("\(name) succeeded, and its server has not said so") }
        if isWhole, upload.bytes != resource.body() {
            ledger.violation("\(name): the server has \(upload.bytes.count) bytes, \(resource.length) were sent")
        }
    }

    private func failed(_ error: any Error, isCancelled: Bool) {
        if let refusal = error as? Interceptors.Refusal {
            return refusal.path == resource.path
                ? ledger.note("refused") : ledger.violation("\(name): \(refusal) is another load's")
        }
        guard let error = error as? URLError else { return ledger.violation("\(name): \(error)") }
        ledger.note("\(server.isProtected ? "ftp uploads with TLS" : "ftp uploads") failed: \(error.code.rawValue)")
        if error.code == .cancelled, isCancelled { return }
        if network.isReliable, act?.isGood ?? true { ledger.violation("\(name) failed: \(error)") }
    }

    /// However it ended, the server has got no byte twice.
    private func check() {
        let upload = server.upload(resource)
        if upload.transferCount > 1 { ledger.violation("\(name) was sent \(upload.transferCount) times") }
        if upload.commandCount > 2 { ledger.violation("\(name) was asked for \(upload.commandCount) times") }
        if !resource.body().starts(with: upload.bytes) {
            ledger.violation("\(name): the server has \(upload.bytes.count) bytes that were not sent so")
        }
    }
}

/// A pair of streams: a thread writes the body to one of them, and the other is sent.
private final class BodyWriter: Sendable {
    private struct Abandoned: Error {}

    private let isAbandoned = Atomic<Bool>(false)

    /// Returns the stream that is sent.
    func write(_ body: Data) -> InputStream? {
        var (input, output): (InputStream?, OutputStream?) = (nil, nil)
        Stream.getBoundStreams(withBufferSize: 4096, inputStream: &input, outputStream: &output)
        guard let output else { return nil }
        nonisolated(unsafe) let stream = output
        Thread.detachNewThread { self.write(Array(body), to: stream) }
        return input
    }

    private func write(_ body: [UInt8], to stream: OutputStream) {
        var rest = body[...]
        stream.open()
        while !rest.isEmpty, !isAbandoned.load(ordering: .relaxed) {
            guard stream.hasSpaceAvailable else {
                usleep(20_000)
                continue
            }
            let count = Array(rest.prefix(5000)).withUnsafeBufferPointer { piece in
                piece.baseAddress.map { stream.write($0, maxLength: piece.count) } ?? 0
            }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        if !rest.isEmpty { stream.close(throwing: Abandoned()) }
        stream.close()
    }

    /// The task has ended.
    func abandon() { isAbandoned.store(true, ordering: .relaxed) }
}
