import Foundation
import LoadingKit
import Synchronization

/// A HAR file to which a test's session is recorded, or from which it is replayed.
///
/// ```swift
/// let cassette = HARCassette(URL(fileURLWithPath: "Fixtures/users.har"))
/// try cassette.install(in: configuration, mode: .automatic)
/// let session = URLSession(configuration: configuration)
/// // … the code under test …
/// try cassette.finish()
/// ```
public final class HARCassette: Sendable {
    /// Whether a session is recorded or replayed.
    public enum Mode: Sendable, Hashable {
        /// Recorded where the environment's `LOADINGKIT_RECORD` is `1`, or where the file is missing; otherwise
        /// replayed. With `LOADINGKIT_RECORD=0`, for example on a build server, a missing file is an error.
        case automatic
        /// Replayed, unless the environment's `LOADINGKIT_RECORD` is `1`. A missing file is an error.
        case replayUnlessTold
        /// Replayed, regardless of the environment.
        case replay
        /// Recorded, regardless of the environment.
        case record
    }

    /// The use of a session.
    public enum Use: Sendable {
        /// The session is being recorded.
        case records(HARRecorder)
        /// The session is being replayed.
        case replays(HARPlayer)
    }

    /// The environment variable that selects the mode.
    public static let environmentVariable = "LOADINGKIT_RECORD"

    /// The file.
    public let file: URL
    private let recorderOptions: HARRecorder.Options
    private let playerOptions: HARPlayer.Options
    private let environment: [String: String]
    private let onFailure: @Sendable (String) -> Void
    /// Nil until the cassette is installed.
    private let use = Mutex<Use?>(nil)

    /// Makes a cassette. Nothing is read or written yet.
    ///
    /// - Parameters:
    ///   - environment: the environment variables; by default the process's.
    ///   - onFailure: gets a text for each request that a replayed recording does not contain.
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

    /// Records, or replays, the sessions that are made from a configuration from now on.
    ///
    /// A cassette that is installed in several configurations has one recording of all of them, in the order of their
    /// requests. The first call decides whether they are recorded or replayed. The recorder's
    /// `maximumEntries` counts the requests of all of them.
    ///
    /// - Throws: ``HARError`` where a recording to be replayed is missing or cannot be read.
    @discardableResult
    public func install(
        in configuration: URLSessionConfiguration, mode: Mode = .automatic, schemes: [String] = ["http", "https"]
    ) throws(HARError) -> Use {
        let common = try use.withLock { use throws(HARError) -> Use in
            if let use { return use }
            let first = try makeUse(mode)
            use = first
            return first
        }
        switch common {
        case .records(let recorder): recorder.install(in: configuration, schemes: schemes)
        case .replays(let player): player.install(in: configuration, schemes: schemes)
        }
        return common
    }

    private func makeUse(_ mode: Mode) throws(HARError) -> Use {
        if shouldRecord(mode) { return .records(HARRecorder(options: recorderOptions)) }
        guard fileExists else {
            throw HARError("\(file.path): there is no such recording. Make it with \(Self.environmentVariable)=1.")
        }
        return .replays(HARPlayer(try HARLog(contentsOf: file), options: playerOptions, onFailure: onFailure))
    }

    /// Writes the file, where the session was recorded; where it was replayed, checks that the recording contained
    /// every request. Call it after the session's tasks have ended. Nothing is written without this call.
    ///
    /// - Parameter playsAll: whether an unused part of the recording is an error, too. Default true.
    public func finish(playsAll: Bool = true) throws {
        switch use.withLock({ $0 }) {
        case nil: break
        case .records(let recorder)?: try recorder.log.write(to: file)
        case .replays(let player)?: if playsAll || !player.unexpected.isEmpty { try player.verify() }
        }
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
