import Foundation
import LoadingKit
import LoadingKitForms
import LoadingKitLoopbackServer
import Synchronization

/// A folder that is removed with all that is in it.
final class Folder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("forms-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func write(_ bytes: some DataProtocol, to name: String) throws -> URL {
        let file = url.appendingPathComponent(name)
        try Data(bytes).write(to: file)
        return file
    }

    /// A file of zeros that takes no room.
    func sparse(_ name: String, size: Int) throws -> URL {
        let file = try write(Data(), to: name)
        guard truncate(file.path, off_t(size)) == 0 else { throw POSIXError(.EIO) }
        return file
    }
}

/// All that a stream of the body gives, read with buffers of one size; throws its error. On a thread of its own: a thread of
/// Swift's must not wait for a sequence, which may need it.
func readAll(_ body: MultipartBody, by size: Int = 4096) async throws -> Data {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try readBlocking(body.makeStream(), by: size) }) }
    }
}

private func readBlocking(_ stream: InputStream, by size: Int) throws -> Data {
    var whole = Data()
    stream.open()
    defer { stream.close() }
    var buffer = [UInt8](repeating: 0, count: size)
    while true {
        let count = stream.read(&buffer, maxLength: size)
        if count == 0 { return whole }
        if count < 0 { throw stream.streamError ?? POSIXError(.EIO) }
        whole.append(contentsOf: buffer.prefix(count))
    }
}

func makeSession() -> URLSession { URLSession(configuration: .ephemeral) }

func request(_ text: String, _ method: String = "POST") throws -> URLRequest {
    var request = URLRequest(url: try url(text))
    request.httpMethod = method
    return request
}

struct NotAURL: Error {}

func url(_ text: String) throws -> URL {
    guard let url = URL(string: text) else { throw NotAURL() }
    return url
}

/// Pieces that come one by one.
func pieces(_ texts: String...) -> AsyncStream<Data> {
    AsyncStream { continuation in
        for text in texts { continuation.yield(Data(text.utf8)) }
        continuation.finish()
    }
}

/// The result of a program that has ended.
struct ProcessResult {
    var status: Int32
    var output: Data
}

func run(_ path: String, _ arguments: [String], input: Data = Data(), environment: [String: String]? = nil) async throws
    -> ProcessResult
{
    let folder = try Folder()
    let inputFile = try folder.write(input, to: "input")
    let outputFile = try folder.write(Data(), to: "output")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    if let environment { process.environment = environment }
    process.standardInput = try FileHandle(forReadingFrom: inputFile)
    process.standardOutput = try FileHandle(forWritingTo: outputFile)
    process.standardError = FileHandle.nullDevice
    let ended = Signal()
    process.terminationHandler = { _ in ended.fire() }
    try process.run()
    await ended.wait()
    return ProcessResult(status: process.terminationStatus, output: try Data(contentsOf: outputFile))
}

/// The path of a program in PATH; nil where it is not installed.
func find(_ program: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return path.split(separator: ":").map { "\($0)/\(program)" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }
}
