import DequeModule
import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// Calls for a delegate queue, in order. To the program each is an operation of its own: whatever else waits in the queue,
/// such as a block that a delegate's method has put there, has its turn between two calls.
///
/// What the program has done to a task in one call holds for those behind it: of a task that was suspended they wait until
/// it is resumed, and of one that was cancelled only the end is told.
package final class DelegateMailbox: Sendable {
    fileprivate enum Subject {
        /// Nothing that a task's state holds back.
        case session
        case task(URLSessionTask)
        /// Is told also of a task that the program has cancelled.
        case end(URLSessionTask)
        /// Behind all others, also those that wait for their task.
        case last
    }

    fileprivate struct Call {
        let subject: Subject
        let body: @Sendable () -> Void
    }

    /// What is done with a call; what it holds is let go of when the lock is open.
    fileprivate enum Turn {
        case make(Call)
        case drop(Call)
    }

    fileprivate struct State {
        var calls = Deque<Call>()
        var isScheduled = false
        /// Calls of suspended tasks.
        var parked: [ObjectIdentifier: Deque<Call>] = [:]
    }

    private let state = Guarded(State())
    let loop: EventLoop
    private let madeQueue: Guarded<OperationQueue?>

    /// - Parameter queue: nil: a serial queue of the session's own, made when there is something for it.
    init(_ queue: OperationQueue?, _ loop: EventLoop) {
        madeQueue = Guarded(queue)
        self.loop = loop
    }

    var queue: OperationQueue {
        madeQueue.withLock { made in
            let queue = made ?? Self.serialQueue()
            made = queue
            return queue
        }
    }

    private static func serialQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.name = "LoadingKit.URLSession.delegate"
        return queue
    }

    // MARK: Posting

    /// Runs `call` on the queue, after those posted before it. The queue is told at the end of the loop's turn, when
    /// there may be more for it.
    package func post(_ call: @escaping @Sendable () -> Void) { post(Call(subject: .session, body: call)) }

    /// Runs `call` unless the program has cancelled the task by then; not while the task is suspended.
    func post(for task: URLSessionTask, _ call: @escaping @Sendable () -> Void) {
        post(Call(subject: .task(task), body: call))
    }

    /// Runs `call` also when the program has cancelled the task, as it tells of the task's end, or of what is on disk; not
    /// while the task is suspended.
    func postEnd(of task: URLSessionTask, _ call: @escaping @Sendable () -> Void) {
        post(Call(subject: .end(task), body: call))
    }

    /// Runs `call` after all others: none is posted later.
    func postLast(_ call: @escaping @Sendable () -> Void) { post(Call(subject: .last, body: call)) }

    private func post(_ call: Call) {
        let isFirst = state.withLock { state -> Bool in
            state.calls.append(call)
            return state.needsScheduling()
        }
        if isFirst { schedule() }
    }

    // MARK: Calls that wait for their task

    /// The tasks of which something is still to be told, by identifier.
    var tasks: [Int: URLSessionTask] {
        state.withLock { state in
            let tasks = state.calls.compactMap(\.task) + state.parked.values.compactMap { $0.first?.task }
            return Dictionary(tasks.map { ($0.taskIdentifier, $0) }) { $1 }
        }
    }

    /// The task was resumed, or is cancelled: what waits for that goes first.
    func release(_ task: URLSessionTask) {
        let isFirst = state.withLock { state -> Bool in
            guard let calls = state.parked.removeValue(forKey: ObjectIdentifier(task)) else { return false }
            state.calls.prepend(contentsOf: calls)
            return state.needsScheduling()
        }
        if isFirst { schedule() }
    }

    // MARK: On the queue

    private func schedule() {
        if loop.isCurrent { loop.atEndOfTurn { self.addOperation() } } else { addOperation() }
    }

    private func addOperation() { queue.addOperation(DelegateOperation(self)) }

    /// Makes the next call, and some of those behind it as long as nothing else waits for the queue: what is the program's
    /// own has its turn then. An operation costs more than a call.
    fileprivate func makeCalls() {
        for _ in 0..<Self.mostCallsInARow {
            switch state.withLock({ $0.next() }) {
            case .make(let call): call.body()
            case .drop: continue
            case .none: return
            }
            if mayOthersWait { break }
        }
        addOperation()
    }

    /// Barriers are not among those that the queue counts.
    private static let mostCallsInARow = 16

    /// What is below the queue, or is done by the main thread beside it, is not known.
    private var mayOthersWait: Bool {
        let queue = queue
        return queue === OperationQueue.main || queue.underlyingQueue != nil || queue.isSuspended
            || queue.operationCount > 1
    }
}

extension DelegateMailbox.Call {
    fileprivate var task: URLSessionTask? {
        switch subject {
        case .task(let task), .end(let task): task
        case .session, .last: nil
        }
    }
}

extension DelegateMailbox.State {
    /// Whether the queue is to be told that there are calls.
    fileprivate mutating func needsScheduling() -> Bool {
        defer { isScheduled = true }
        return !isScheduled
    }

    /// Takes out the next call that can be made now. Without one the queue is told of the next that is posted.
    fileprivate mutating func next() -> DelegateMailbox.Turn? {
        while let call = calls.popFirst() {
            switch call.subject {
            case .session: return .make(call)
            case .last where parked.isEmpty: return .make(call)
            case .last:
                calls.append(call)
                if calls.count > 1 { continue }
                isScheduled = false
                return nil
            case .task(let task), .end(let task):
                let key = ObjectIdentifier(task)
                let delivery = task.delivery
                if delivery == .waits || parked[key] != nil {
                    parked[key, default: []].append(call)
                } else if delivery == .endsOnly, case .task = call.subject {
                    return .drop(call)
                } else {
                    return .make(call)
                }
            }
        }
        isScheduled = false
        return nil
    }
}

/// Makes a mailbox's calls. It cannot be cancelled: a program that cancels all operations of its queue cancels its own;
/// tasks are cancelled by their ``URLSessionTask/cancel()``.
private final class DelegateOperation: Operation, @unchecked Sendable {  // what it has is Sendable
    private let mailbox: DelegateMailbox

    init(_ mailbox: DelegateMailbox) { self.mailbox = mailbox }

    override func main() { mailbox.makeCalls() }

    override func cancel() {}
}
