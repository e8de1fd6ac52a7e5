import Foundation
import LoadingKit

/// Uploads whose bodies are the input ends of bound pairs that nobody has written to yet.
struct BoundProbe {
    private static let count = 64
    let loads: Loads

    init(_ loads: Loads) { self.loads = loads }

    func run() async throws {
        var outputs: [OutputStream] = []
        var uploads: [Task<String, Never>] = []
        for number in 0..<Self.count {
            var (input, output): (InputStream?, OutputStream?)
            Stream.getBoundStreams(withBufferSize: 4096, inputStream: &input, outputStream: &output)
            guard let input, let output else { return }
            outputs.append(output)
            // To a server, and to a handler.
            let body = Body(input)
            uploads.append(Task { await loads.text(number % 2 == 0 ? "/echo" : "echo://x", body: body.stream) })
        }
        // The server has half of the heads.
        while loads.server.openings.snapshot.count < Self.count / 2 { await Task.yield() }
        say("elsewhere \(await loads.text("/"))")
        say("threads \(Threads.count(named: "LoadingKit-user"))")
        for output in outputs {
            output.open()
            _ = output.write(Array("body".utf8), maxLength: 4)
            output.close()
        }
        var results: [String: Int] = [:]
        for upload in uploads { results[await upload.value, default: 0] += 1 }
        for result in results.sorted(by: { $0.key < $1.key }) { say("\(result.value) times \(result.key)") }
        say("threads \(Threads.count(named: "LoadingKit-user"))")
    }

    private struct Body: @unchecked Sendable {  // used by one task
        let stream: InputStream
        init(_ stream: InputStream) { self.stream = stream }
    }
}
