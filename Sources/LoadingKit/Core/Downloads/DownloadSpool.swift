import Foundation
import LoadingKitTransport

/// Writes a download's bytes into its file, and closes the file. Confined to its loop.
final class DownloadSpool {
    let body: BodySpool
    private let file: DownloadFile

    init(_ loop: EventLoop, _ file: DownloadFile) {
        self.file = file
        body = BodySpool(loop, file)
    }

    var name: String { file.name }

    /// Closes the file when everything is written, and reports its location.
    func finish(_ done: @escaping (Result<URL, any Error>) -> Void) {
        let done = LoopTransfer(done)
        body.settle { [file, loop = body.loop] in
            BlockingPool.shared.run {
                let result = Result {
                    try file.close()
                    return URL(fileURLWithPath: file.path ?? file.name)
                }
                loop.perform { done.value(result) }
            }
        }
    }

    /// Calls `done` when the file is closed. The file is deleted unless resume data names it. No call may follow.
    func end(keepsFile: Bool, _ done: @escaping () -> Void) {
        // Nothing was written: there is no file.
        if file.path == nil { return done() }
        let done = LoopTransfer(done)
        BlockingPool.shared.run { [file, loop = body.loop] in
            if keepsFile { file.leave() } else { file.remove() }
            loop.perform { done.value() }
        }
    }
}
