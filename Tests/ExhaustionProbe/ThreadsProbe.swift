import Foundation
import LoadingKit

/// The system has no further thread to give: there are no addresses left for its stack.
struct ThreadsProbe {
    let loads: Loads

    init(_ loads: Loads) { self.loads = loads }

    func run() async throws {
        let folder = NSTemporaryDirectory() + "ExhaustionProbe-\(getpid())"
        try Data("file".utf8).write(to: URL(fileURLWithPath: folder))
        defer { unlink(folder) }
        // The loop, the connection and the threads that Swift runs tasks on are there.
        say("before \(await loads.text("/"))")
        // Less than a thread's stack, and enough for what is small.
        Limit.memory(4 << 20)
        var thread = pthread_t()
        say("thread \(pthread_create(&thread, nil, { _ in nil }, nil) == EAGAIN ? "refused" : "given")")
        await load("limited", folder)
        Limit.memory(nil)
        await load("after", folder)
    }

    private func load(_ when: String, _ file: String) async {
        say("\(when) connection \(await loads.text("/"))")
        say("\(when) file \(await loads.text("file://\(file)"))")
        say("\(when) data \(await loads.text("data:,data"))")
        say("\(when) startLoading \(await loads.text("classic://x"))")
        say("\(when) stream \(await loads.text("echo://x", body: InputStream(data: Data("stream".utf8))))")
        say("\(when) name \(await loads.text("http://nonexistent.invalid/"))")
    }
}
