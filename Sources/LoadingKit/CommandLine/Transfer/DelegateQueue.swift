import Foundation

/// Where everything of a run's transfers happens, one thing at a time: delegate calls and timers.
struct DelegateQueue {
    let dispatch = DispatchQueue(label: "loadkit.transfers")
    let operations = OperationQueue()

    init() {
        operations.maxConcurrentOperationCount = 1
        operations.underlyingQueue = dispatch
    }
}
