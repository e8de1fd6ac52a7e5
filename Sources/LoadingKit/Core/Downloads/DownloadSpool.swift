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
        body.settle { [file, body] in
            body.perform(
                {
                    try file.close()
                    return URL(fileURLWithPath: file.path ?? file.name)
                }, done)
        }
    }

    /// Calls `done` when the file is closed. The file is deleted unless resume data names it. Only while the spool is idle,
    /// and no call may follow.
    func end(keepsFile: Bool, _ done: @escaping () -> Void) {
        // Nothing was written: there is no file.
        if file.path == nil { return done() }
        body.perform({ [file] in if keepsFile { file.leave() } else { file.remove() } }, { _ in done() })
    }
}
