import Foundation
import LoadingKitCore
import LoadingKitHAR
import LoadingKitPrimitives

extension URLSession {
    /// Records the session's loads from now on into a HAR file, which the developer tools of browsers open, until the
    /// recording is stopped or the session ends.
    ///
    /// There is an entry for each request that is sent, also for redirects, answers to challenges and requests that are
    /// sent again, and for each response from the cache: with the fields as they were sent, the phases' times, the
    /// connection, both bodies, a WebSocket's messages, and the error where the load has failed. An entry is added when its
    /// load ends. The file is whole at any time, also where the process is killed. Sessions may record into one file. See
    /// <doc:Recordings>.
    ///
    /// Data, upload, download and WebSocket tasks are recorded, and transfers of background sessions without their bodies.
    /// Stream tasks are not.
    ///
    /// - Parameters:
    ///   - file: the file. It is replaced, unless another recording of this process adds to it. Only its owner can read it.
    ///   - recordsBodies: whether bodies and messages are recorded.
    ///   - maximumBodySize: the size limit in bytes of each body, and of all messages of a WebSocket: each message
    ///     counts as 64 bytes more than its size. Of a longer body the size is recorded alone.
    ///   - redactsSecrets: whether the values of fields, cookies, query items, and fields of forms and JSON with the usual
    ///     names of secrets are replaced by `(redacted)`. User and password of URLs always are.
    ///   - secretNames: further names of such fields, query items, and fields of forms and JSON, in any case.
    /// - Throws: an error that says why the file cannot be written.
    @discardableResult
    public func recordHAR(
        to file: URL, recordsBodies: Bool = true, maximumBodySize: Int = 1 << 20, redactsSecrets: Bool = true,
        secretNames: Set<String> = []
    ) throws -> HARRecording {
        var redaction = redactsSecrets ? HARRedaction.standard : .none
        redaction.headerFields.formUnion(secretNames)
        redaction.names.formUnion(secretNames)
        let output = try HARFile.at(file, replacing: true)
        return HARRecording(
            output, output.recorder(redaction, bodyLimit: recordsBodies ? maximumBodySize : nil), core)
    }
}

/// A recording of a session's loads into a file: ``URLSession/recordHAR(to:recordsBodies:maximumBodySize:redactsSecrets:secretNames:)``.
/// It goes on where the program does not keep this object.
public final class HARRecording: Sendable {
    private let output: HARFile
    private let recorder: LoadRecording
    private let core: SessionCore

    init(_ output: HARFile, _ recorder: LoadRecording, _ core: SessionCore) {
        self.output = output
        self.recorder = recorder
        self.core = core
        core.add(recorder)
    }

    /// The file.
    public var file: URL { URL(fileURLWithPath: output.path) }

    /// Returns when all loads that have ended are in the file.
    ///
    /// - Throws: the first error of a write, such as that the file was removed or replaced.
    public func flush() async throws {
        await withUnsafeContinuation { continuation in recorder.flush { continuation.resume() } }
        try output.check()
    }

    /// Records no loads that begin later, and returns when those that have ended are in the file. Loads that have begun
    /// are added when they end.
    ///
    /// - Throws: the first error of a write, such as that the file was removed or replaced.
    public func stop() async throws {
        core.remove(recorder)
        try await flush()
    }
}

/// The recording that the environment asks for: where `LOADKIT_HAR` names a file, all sessions of the program add to it.
enum EnvironmentRecording {
    static let recorders: [any LoadRecorder] = {
        guard let path = ProcessEnvironment.secureValue(of: "LOADKIT_HAR"), !path.isEmpty else { return [] }
        do throws(HARError) {
            let file = try HARFile.at(URL(fileURLWithPath: path), replacing: false)
            output.withLock { $0 = file }
            atexit { EnvironmentRecording.output.withLock { $0 }?.finish() }
            return [file.recorder()]
        } catch {
            try? FileHandle.standardError.write(contentsOf: Data("LOADKIT_HAR: \(error)\n".utf8))
            return []
        }
    }()

    private static let output = Guarded<HARFile?>(nil)
}
