import DequeModule
import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// A task, as far as a mailbox knows it.
protocol MailboxTask: AnyObject, Sendable {
    var identifier: Int { get }
    /// The calls that may be made for the task now.
    var delivery: MailboxDelivery { get }
}

/// The calls that may be made for a task now.
enum MailboxDelivery {
    case goesOn
    /// The task is suspended, or waits for an answer about the cache.
    case waits
    /// The program has cancelled the task.
    case endsOnly
}

/// Calls for a delegate queue, in order. To the program, each call is a separate operation: another operation that
/// waits in the queue, such as a block that a delegate's method has added, runs before the next call.
///
/// The effect of a call on a task applies to the next calls. When the program suspends the task, the task's calls wait
/// until it is resumed. When the program cancels the task, only the end is reported.
package final class DelegateMailbox: Sendable {
    fileprivate enum Subject {
        /// The session. No task's state delays the call.
        case session
        case task(any MailboxTask)
        /// Reported also for a task that the program has cancelled, after `turns` turns of the loop.
        case end(any MailboxTask, turns: Int)
        /// No call of its own: the calls that are parked for the task, whose end has waited, come next.
        case due(any MailboxTask)
        /// The last call, after all others, including those that wait for their task.
        case last
    }

    fileprivate struct Call {
        let subject: Subject
        let body: @Sendable () -> Void
    }

    /// The action for a call. The values that the call holds are released after the lock is released.
    fileprivate enum Turn {
        case make(Call)
        case drop(Call)
        /// The call is parked until the loop has completed a turn.
        case awaitTurn
    }

    fileprivate struct State {
        /// The most calls at a time whose memory is kept for further ones.
        static let mostKeptCalls = 4096

        var calls = Deque<Call>()
        /// Whether more than ``mostKeptCalls`` calls have waited since the memory was last released.
        var hasMuchMemory = false
        var isScheduled = false
        /// Calls of tasks that are suspended, or whose end waits for a turn of the loop, by the tasks' identifiers: a
        /// task that has replaced another has the same one.
        var parked: [Int: Deque<Call>] = [:]
        /// The tasks whose end waits for a requested turn of the loop, in order.
        var ending: [any MailboxTask] = []
    }

    private let state = Guarded(State())
    let loop: EventLoop
    private let madeQueue: Guarded<OperationQueue?>

    /// - Parameter queue: nil: the session's own serial queue, which is made for the first call.
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

    /// Runs `call` on the queue, after the calls posted before it. The queue is scheduled at the end of the loop's
    /// turn, when more calls may have been posted.
    package func post(_ call: @escaping @Sendable () -> Void) { post(Call(subject: .session, body: call)) }

    /// Runs `call`, unless the program has cancelled the task before. It does not run while the task is suspended.
    func post(for task: any MailboxTask, _ call: @escaping @Sendable () -> Void) {
        post(Call(subject: .task(task), body: call))
    }

    /// Runs `call` even if the program has cancelled the task before, because it reports the task's end, or a file on
    /// disk. It does not run while the task is suspended.
    ///
    /// - Parameter isFirst: whether this call is the first to report the end. Such a call waits for turns of the loop,
    ///   each time behind the calls that are in the queue. Meanwhile, work that a delegate's method has dispatched to
    ///   other queues of the program, such as a block that cancels the task, can run.
    func postEnd(of task: any MailboxTask, isFirst: Bool = false, _ call: @escaping @Sendable () -> Void) {
        post(Call(subject: .end(task, turns: isFirst ? Self.turnsBeforeEnd : 0), body: call))
    }

    /// Each turn is two thread switches. Programs have queues for their state, their parsing and their users.
    private static let turnsBeforeEnd = 2

    /// Runs `call` after all other calls. No call is posted after it.
    func postLast(_ call: @escaping @Sendable () -> Void) { post(Call(subject: .last, body: call)) }

    private func post(_ call: Call) {
        let isFirst = state.withLock { state -> Bool in
            state.calls.append(call)
            return state.requestScheduling()
        }
        if isFirst { schedule() }
    }

    /// Whether the memory of many calls is still to be released. For tests.
    var hasMuchMemory: Bool { state.withLock { $0.hasMuchMemory } }

    // MARK: Calls that wait for their task

    /// The tasks for which calls are still waiting, by identifier.
    var tasks: [Int: any MailboxTask] {
        state.withLock { state in
            // The last call may be for a task that has replaced that of the others.
            let tasks = state.parked.values.compactMap { $0.last?.task } + state.calls.compactMap(\.task)
            return Dictionary(tasks.map { ($0.identifier, $0) }) { $1 }
        }
    }

    /// The task was resumed or cancelled: its parked calls run next.
    func release(_ task: any MailboxTask) {
        let isFirst = state.withLock { state -> Bool in
            guard let calls = state.parked.removeValue(forKey: task.identifier) else { return false }
            state.calls.prepend(contentsOf: calls)
            return state.requestScheduling()
        }
        if isFirst { schedule() }
    }

    /// The loop has completed a turn: the waiting ends are reported behind the calls posted meanwhile, or wait for
    /// another turn.
    private func releaseEnds() {
        let isFirst = state.withLock { state -> Bool in
            state.releaseEnds()
            return state.requestScheduling()
        }
        if isFirst { schedule() }
    }

    // MARK: On the queue

    private func schedule() {
        if loop.isCurrent { loop.executeAtEndOfTurn { self.addOperation() } } else { addOperation() }
    }

    private func addOperation() { queue.addOperation(DelegateOperation(self)) }

    /// Runs the next call, and several more in the same operation, because an operation costs more than a call. It
    /// stops when an operation of the program waits in the queue.
    fileprivate func makeCalls() {
        for _ in 0..<Self.mostCallsInARow {
            switch state.withLock({ $0.next() }) {
            case .make(let call): call.body()
            case .drop: continue
            case .awaitTurn:
                loop.execute { self.releaseEnds() }
                continue
            case .none: return
            }
            if mayOthersWait { break }
        }
        addOperation()
    }

    /// A limit, because the queue does not count barriers among the operations that wait in it.
    private static let mostCallsInARow = 16

    /// Whether other work may wait for the queue. It is assumed where this cannot be known: when the queue has an
    /// underlying queue, and on the main queue.
    private var mayOthersWait: Bool {
        let queue = queue
        return queue === OperationQueue.main || queue.underlyingQueue != nil || queue.isSuspended
            || queue.operationCount > 1
    }
}

extension DelegateMailbox.Call {
    fileprivate var task: (any MailboxTask)? {
        switch subject {
        case .task(let task), .end(let task, _): task
        case .session, .due, .last: nil
        }
    }
}

extension DelegateMailbox.State {
    /// Marks the queue as scheduled. False where it was already scheduled.
    fileprivate mutating func requestScheduling() -> Bool {
        if calls.count > Self.mostKeptCalls { hasMuchMemory = true }
        defer { isScheduled = true }
        return !isScheduled
    }

    /// Puts the ends that have waited behind the calls posted meanwhile. A call of such a task that is reached earlier
    /// is parked behind the end.
    fileprivate mutating func releaseEnds() {
        for task in ending { calls.append(DelegateMailbox.Call(subject: .due(task), body: {})) }
        ending = []
    }

    /// Removes the next call that can run now. Where there is none, the next posted call schedules the queue again.
    fileprivate mutating func next() -> DelegateMailbox.Turn? {
        while let call = calls.popFirst() {
            switch call.subject {
            case .session: return .make(call)
            case .due(let task):
                // This call may hold the last reference to its task, unless the parked calls are the task's own.
                let waiting = parked.removeValue(forKey: task.identifier) ?? []
                calls.prepend(contentsOf: waiting)
                if waiting.first?.task !== task { return .drop(call) }
            case .last where parked.isEmpty: return .make(call)
            case .last:
                calls.append(call)
                if calls.count > 1 { continue }
                isScheduled = false
                return nil
            case .task(let task), .end(let task, _):
                let key = task.identifier
                let delivery = task.delivery
                if delivery == .waits || parked[key] != nil {
                    parked[key, default: []].append(call)
                } else if case .task = call.subject {
                    return delivery == .endsOnly ? .drop(call) : .make(call)
                } else if case .end(_, let turns) = call.subject, turns > 0 {
                    parked[key] = [DelegateMailbox.Call(subject: .end(task, turns: turns - 1), body: call.body)]
                    ending.append(task)
                    if ending.count == 1 { return .awaitTurn }
                } else {
                    return .make(call)
                }
            }
        }
        if hasMuchMemory {
            calls = Deque()
            hasMuchMemory = false
        }
        isScheduled = false
        return nil
    }
}

/// Runs a mailbox's calls. It cannot be cancelled: a program that cancels all operations of its queue means its own.
/// Tasks are cancelled with their own `cancel()`.
private final class DelegateOperation: Operation, @unchecked Sendable {  // its properties are Sendable
    private let mailbox: DelegateMailbox

    init(_ mailbox: DelegateMailbox) { self.mailbox = mailbox }

    override func main() { mailbox.makeCalls() }

    override func cancel() {}
}
