import Foundation
import LoadingKit

/// Downloads files in the background: the downloads continue when this program ends, or is killed. Started again without
/// URLs, the program reconnects to them, and moves the finished files into the folder.
///
///     swift run BackgroundDownloadExample FOLDER https://example.org/large.iso
///     swift run BackgroundDownloadExample FOLDER
@main
enum BackgroundDownload {
    static func main() async {
        // This program contains the daemon. Where it is started as the daemon, this call does not return.
        LoadingKitBackground.runIfDaemon()
        let arguments = CommandLine.arguments.dropFirst()
        guard let folder = arguments.first else {
            print("usage: BackgroundDownloadExample FOLDER [URL...]")
            exit(2)
        }
        let delegate = Delegate(folder: URL(fileURLWithPath: folder, isDirectory: true))
        let configuration = URLSessionConfiguration.background(withIdentifier: "org.loadingkit.example.downloads")
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        for task in await session.allTasks { print("goes on: \(task.originalRequest?.url?.lastPathComponent ?? "")") }
        // A pipe gets the lines at once.
        fflush(nil)
        for url in arguments.dropFirst().compactMap({ URL(string: $0) }) {
            session.downloadTask(with: url).resume()
            // From here on the program may be killed.
            print("begun: \(url.lastPathComponent)")
        }
        // The session ends when its downloads are done.
        session.finishTasksAndInvalidate()
        for await line in delegate.lines { print(line) }
    }
}

/// Moves each file to its place, and reports it.
final class Delegate: NSObject, URLSessionDownloadDelegate {
    let (lines, input) = AsyncStream<String>.makeStream()
    private let folder: URL

    init(folder: URL) { self.folder = folder }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let name = downloadTask.originalRequest?.url?.lastPathComponent ?? "\(downloadTask.taskIdentifier)"
        // The file is deleted when this method returns, unless it was moved.
        try? FileManager.default.moveItem(at: location, to: folder.appendingPathComponent(name))
        input.yield("done: \(name)")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error { input.yield("failed: \(error.localizedDescription)") }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { input.finish() }
}
