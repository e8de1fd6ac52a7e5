import Foundation
import LoadingKit

/// A HAR file that a test's session is recorded to, or replayed from.
///
/// ```swift
/// let cassette = HARCassette(URL(fileURLWithPath: "Fixtures/users.har"))
/// try cassette.install(in: configuration, mode: .automatic)
/// let session = URLSession(configuration: configuration)
/// // … what is to be tested …
/// try cassette.finish()
/// ```
public final class HARCassette: Sendable {
    /// Whether a session is recorded or replayed.
    public enum Mode: Sendable, Hashable {
        /// Recorded, where the environment's `LOADINGKIT_RECORD` is `1`, or where the file is missing; else replayed.
        /// With `LOADINGKIT_RECORD=0`, as for a build server, a missing file is an error.
        case automatic
        /// Replayed, unless the environment's `LOADINGKIT_RECORD` is `1`. A missing file is an error.
        case replayUnlessTold
        /// Replayed, whatever the environment says.
        case replay
        /// Recorded, whatever the environment says.
        case record
    }

    /// What a session is used for.
    public enum Use: Sendable {
        /// It is being recorded.
        case records(HARRecorder)
        /// It is being replayed.
        case replays(HARPlayer)
    }

    /// The environment variable that decides.
    public static let environmentVariable = "LOADINGKIT_RECORD"

    /// The file.
    public let file: URL
    private let recorderOptions: HARRecorder.Options
    private let playerOptions: HARPlayer.Options
    private let environment: [String: String]
    private let onFailure: @Sendable (String) -> Void
    private let used = UseList()

    /// A cassette. Nothing is read or written yet.
    ///
    /// - Parameters:
    ///   - environment: by default the process's.
    ///   - onFailure: gets the text of each request that a replayed recording does not have.
    public init(
        _ file: URL, recorder: HARRecorder.Options = HARRecorder.Options(),
        player: HARPlayer.Options = HARPlayer.Options(),
        environment: [String: String] = ProcessInfo.processInfo.environment,
        onFailure: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.file = file
        recorderOptions = recorder
        playerOptions = player
        self.environment = environment
        self.onFailure = onFailure
    }

    /// Has the sessions that are made of a configuration from now on be recorded, or replayed.
    ///
    /// - Throws: ``HARError`` where the recording is to be replayed, and is missing or cannot be read.
    @discardableResult
    public func install(
        in configuration: URLSessionConfiguration, mode: Mode = .automatic, schemes: [String] = ["http", "https"]
    ) throws(HARError) -> Use {
        guard shouldRecord(mode) else {
            guard fileExists else {
                throw HARError(
                    "\(file.path): there is no such recording. Make it with \(Self.environmentVariable)=1.")
            }
            let player = HARPlayer(try HARLog(contentsOf: file), options: playerOptions, onFailure: onFailure)
            player.install(in: configuration, schemes: schemes)
            used.append(.replays(player))
            return .replays(player)
        }
        let recorder = HARRecorder(options: recorderOptions)
        recorder.install(in: configuration, schemes: schemes)
        used.append(.records(recorder))
        return .records(recorder)
    }

    /// Writes the file, where the session was recorded; where it was replayed, checks that every request was in the
    /// recording. To be called when the session's tasks are over. Without it nothing is written.
    ///
    /// - Parameter playsAll: whether it also is an error that some of the recording was not played. Default true.
    public func finish(playsAll: Bool = true) throws {
        var entries: [HAREntry] = []
        var hasRecorded = false
        for use in used.all {
            switch use {
            case .records(let recorder):
                hasRecorded = true
                entries += recorder.log.entries
            case .replays(let player):
                if playsAll || !player.unexpected.isEmpty { try player.verify() }
            }
        }
        if hasRecorded { try HARLog(creator: recorderOptions.creator, entries: entries).write(to: file) }
    }

    private var fileExists: Bool { FileManager.default.fileExists(atPath: file.path) }

    private func shouldRecord(_ mode: Mode) -> Bool {
        let wish = environment[Self.environmentVariable]
        return switch mode {
        case .record: true
        case .replay: false
        case .replayUnlessTold: wish == "1"
        case .automatic: wish == "1" || wish != "0" && !fileExists
        }
    }
}
