import Foundation
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import LoadingKitTesting

@Suite(.timeLimit(.minutes(5))) struct LoadCompletionTests {
    /// A load that has ended before anyone waits is not started.
    @Test(arguments: [false, true])
    func whoComesSecondGivesTheResult(endsFirst: Bool) async throws {
        let (completion, starts) = (LoadCompletion(), Recorder<Int>())
        if endsFirst { completion.end(with: .success(Data([1]))) }
        let data = try await withTimeout {
            try await completion.result {
                starts.append(1)
                completion.end(with: .success(Data([1])))
            }
        }
        #expect(data == Data([1]) && starts.count == (endsFirst ? 0 : 1))
    }

    @Test func aFailureIsThrown() async throws {
        let completion = LoadCompletion()
        completion.end(with: .failure(CancellationError()))
        await #expect(throws: CancellationError.self) { try await withTimeout { try await completion.result {} } }
    }
}
