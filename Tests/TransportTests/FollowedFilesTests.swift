import Foundation
import LoadingKitPrimitives
import TestSupport
import Testing

@testable import LoadingKitTransport

/// Checks of files that take long, as on a network file system whose server is away.
@Suite struct FollowedFilesTests {
    /// A file whose checks wait for the test.
    private final class SlowFile: FileSource {
        final class Text: Sendable {
            let text: String
            init(_ text: String) { self.text = text }
        }

        private struct State {
            var text = "old"
            var isHeld = false
        }

        private let state = Guarded(State())
        private let release = DispatchSemaphore(value: 0)
        private let begun = DispatchSemaphore(value: 0)

        var version: Int {
            if state.withLock({ $0.isHeld }) {
                begun.signal()
                release.wait()
            }
            return state.withLock { $0.text.hashValue }
        }

        func read() throws(TransportError) -> (value: Text, places: Set<String>) {
            (Text(state.withLock { $0.text }), [])
        }

        func change(_ text: String, holding isHeld: Bool) { state.withLock { $0 = State(text: text, isHeld: isHeld) } }

        func awaitCheck() { begun.wait() }
        func releaseCheck() { release.signal() }
    }

    private static let due = MonotonicTime(nanoseconds: 0).advanced(byNanoseconds: FileChecks.interval)

    @Test func aCheckThatHangsHoldsUpNoConnectionForLong() async throws {
        let source = SlowFile()
        let files = try FollowedFiles(source, MonotonicTime(nanoseconds: 0), patience: .milliseconds(1))
        source.change("new", holding: true)
        #expect(files.value(Self.due).text == "old")
        source.awaitCheck()
        // The one check that has begun is awaited, and no other begins.
        #expect(files.value(Self.due).text == "old")
        source.change("new", holding: false)
        source.releaseCheck()
        try await withTimeout { try await waitUntil { files.value(Self.due).text == "new" } }
    }

    /// The connections share the time for which they wait: each of them holds up its session's loop.
    @Test(.timeLimit(.minutes(1))) func manyConnectionsWaitNoLongerThanOne() async throws {
        let source = SlowFile()
        let files = try FollowedFiles(source, MonotonicTime(nanoseconds: 0), patience: .milliseconds(50))
        source.change("new", holding: true)
        #expect((0..<5_000).allSatisfy { _ in files.value(Self.due).text == "old" })
        source.change("new", holding: false)
        source.releaseCheck()
        try await withTimeout { try await waitUntil { files.value(Self.due).text == "new" } }
    }

    @Test func aCheckThatIsFastIsAwaited() throws {
        let source = SlowFile()
        let files = try FollowedFiles(source, MonotonicTime(nanoseconds: 0), patience: .never)
        source.change("new", holding: false)
        #expect(files.value(MonotonicTime(nanoseconds: 1)).text == "old")
        #expect(files.value(Self.due).text == "new")
    }
}
