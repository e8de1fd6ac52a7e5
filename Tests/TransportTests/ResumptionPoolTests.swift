import Dispatch
import Foundation
import LoadingKitPrimitives
import Synchronization
import Testing

@testable import LoadingKitTransport

/// Threads that resume tasks.
@Suite(.timeLimit(.minutes(5))) struct ResumptionPoolTests {
    /// More at a time than a thread runs before it lets others' work go first, from several threads.
    @Test func eachRunsOnce() async {
        let (threads, batches, size) = (4, 20, 100)
        let counts = Guarded(Array(repeating: 0, count: threads * batches * size))
        let left = Atomic<Int>(threads * batches * size)
        let end = Gate()
        for thread in 0..<threads {
            Thread.start {
                for batch in 0..<batches {
                    let first = (thread * batches + batch) * size
                    ResumptionPool.shared.run(
                        (first..<first + size).map { number in
                            ResumptionPool.Resumption {
                                counts.withLock { $0[number] += 1 }
                                if left.subtract(1, ordering: .relaxed).newValue == 0 { end.open() }
                            }
                        })
                }
            }
        }
        #expect(await end.passed())
        let runs = counts.withLock { $0 }
        #expect(runs.allSatisfy { $0 == 1 })
    }

    /// An executor of the program's own may take its time.
    @Test(.enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1, "with one processor there is one thread"))
    func oneThatBlocksHoldsUpNoOther() async {
        let (second, end) = (DispatchSemaphore(value: 0), Gate())
        ResumptionPool.shared.run([
            ResumptionPool.Resumption {
                second.wait()
                end.open()
            },
            ResumptionPool.Resumption { second.signal() },
        ])
        #expect(await end.passed())
    }
}
