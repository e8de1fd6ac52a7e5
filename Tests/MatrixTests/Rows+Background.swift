import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitLoopbackServer
import MatrixPaths
import TestSupport
import Testing

/// What is of background sessions alone.
extension Row {
    static let background: [Row] = [
        .setting("identifier", "background(withIdentifier:)")
            .on(MatrixPath.background) { path in
                let configuration = Trial(path).makeConfiguration()
                let watches = [Invalidation(), Invalidation()]
                let first = URLSession(configuration: configuration, delegate: watches[0], delegateQueue: nil)
                defer { first.invalidateAndCancel() }
                // Each session has a connection of its own to the daemon: the first is attached before the second is made.
                _ = await first.allTasks
                let second = URLSession(configuration: configuration, delegate: watches[1], delegateQueue: nil)
                defer { second.invalidateAndCancel() }
                let error = await watches[1].errors.element(at: 0)
                #expect(error??.code == .backgroundSessionInUseByAnotherProcess)
                #expect(watches[0].errors.count == 0)
            }
            .elsewhere(Reason.backgroundAlone),
        .setting("runsInProcess")
            .on(MatrixPath.background) { path in
                let seen = try await path.run()
                #expect(seen.outcome?.text == "hello")
                #expect(seen.areOfThisProcess == [path == .inProcess])
            }
            .elsewhere(Reason.backgroundAlone),
        .setting("makeBackground", "what makes the transfers")
            .on([.inProcess]) { path in
                // Without it the session is one as any other, in this process.
                let seen = try await path.run { $0.configure = { $0.settings.makeBackground = nil } }
                #expect(seen.outcome?.text == "hello" && seen.areOfThisProcess == [true])
            }
            .not([.daemon], "Without it there is no way to the daemon.")
            .elsewhere(Reason.backgroundAlone),
        .setting("backgroundDownloadFolder")
            .on(MatrixPath.background) { path in
                let folder = try TemporaryFolder()
                let found = Box(false)
                let seen = try await path.run {
                    $0.configure = { $0.backgroundDownloadFolder = folder.url }
                    $0.answer = { _ in
                        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
                        found.value = names == [".loadkit-downloads"]
                        return nil
                    }
                }
                #expect(seen.outcome?.text == "hello" && found.value)
            }
            .elsewhere(Reason.backgroundAlone),
        .setting("isDiscretionary")
            .not(
                MatrixPath.background,
                "The transfer waits for up to a minute: tested by a clock that is moved, in `TransfersTests`."
            )
            .elsewhere(Reason.backgroundAlone),
        .setting("sessionSendsLaunchEvents")
            .not(
                MatrixPath.background,
                "A program is started once it has ended: tested with programs that are killed, in `TransfersTests`."
            )
            .elsewhere(Reason.backgroundAlone),
        .setting("backgroundLaunchCommand")
            .not(
                MatrixPath.background,
                "A program is started once it has ended: tested with programs that are killed, in `TransfersTests`."
            )
            .elsewhere(Reason.backgroundAlone),
    ]
}

private final class Invalidation: NSObject, URLSessionDelegate, Sendable {
    let errors = Recorder<URLError?>()

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        errors.append(error as? URLError)
    }
}
