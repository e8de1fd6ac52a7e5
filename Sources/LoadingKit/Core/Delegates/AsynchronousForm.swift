import LoadingKitPrimitives
import LoadingKitTransport

/// The methods that a program may implement in either of two forms: with a completion handler, or asynchronously.
enum TwoFormMethod: Int, CaseIterable {
    case sessionChallenge, taskChallenge, delayedRequest, redirection, newBodyStream, newBodyStreamFromOffset, response,
        caching, taskCookies
}

/// Calls the asynchronous form of a method whose form with a completion handler the program does not implement.
///
/// Swift does not tell whether a type implements a requirement, or has the default of it. So the default of the form with a
/// completion handler calls the asynchronous form in a Swift task. Where that is the default, too, it recognizes the call
/// (``AsynchronousCall``), and the type is noted as one without the method: from then on no Swift task is made for it.
package enum AsynchronousForm {
    private struct Facts {
        /// A bit for each method that has no form at all.
        var missing = 0
        var startedTasks = 0
    }

    private static let facts = Guarded<[ObjectIdentifier: Facts]>([:])

    /// Whether the object's class is known to implement neither form: it was called, and both were the default.
    static func isKnownMissing(_ method: TwoFormMethod, of object: some AnyObject) -> Bool {
        let type = ObjectIdentifier(type(of: object))
        return facts.withLock { $0[type]?.missing ?? 0 } & method.bit != 0
    }

    /// Whether the object's class may implement the asynchronous form. Asked by the default of the other form.
    static func mayExist(_ method: TwoFormMethod, of object: some AnyObject) -> Bool {
        !isKnownMissing(method, of: object)
            && !AsynchronousCall.isUnderWay(method, of: object, from: .asynchronousForm)
    }

    /// Calls the asynchronous form, and gives its answer. Where that form is the default one, it calls `passOn` instead:
    /// before it returns, if that is known by then, and else by way of `later`.
    static func call<Answer>(
        _ method: TwoFormMethod, of object: some AnyObject & Sendable, _ form: @escaping @Sendable () async -> Answer,
        answer: @escaping @Sendable (Answer) -> Void,
        later: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        otherwise passOn: @escaping @Sendable () -> Void
    ) {
        let type = ObjectIdentifier(type(of: object))
        let call = AsynchronousCall(method, object, from: .completionForm)
        facts.withLock { $0[type, default: Facts()].startedTasks += 1 }
        startTask {
            let value = await AsynchronousCall.$current.withValue(call) { await form() }
            switch call.end() {
            case .answered: answer(value)
            case .isMissing(let isLate):
                facts.withLock { $0[type, default: Facts()].missing |= method.bit }
                if isLate { later(passOn) }
            }
        }
        if call.callerReturns() { passOn() }
    }

    /// A detached task: the program gets neither the task-local values nor the priority of the caller. Where
    /// the compiler knows how, it begins in the calling thread, in the order of the delegate queue's other calls.
    static func startTask(_ operation: @escaping @Sendable () async -> Void) {
        #if compiler(>=6.2)
            _ = Task.immediateDetached { await operation() }
        #else
            _ = Task.detached { await operation() }
        #endif
    }

    /// The default of the asynchronous form.
    ///
    /// - Parameters:
    ///   - placeholder: Given where the other form's default calls; it is not used.
    ///   - complete: Calls the form with a completion handler, which the program may implement.
    static func byDefault<Answer>(
        _ method: TwoFormMethod, of object: some AnyObject & Sendable, placeholder: Answer,
        _ complete: (@escaping @Sendable (Answer) -> Void) -> Void
    ) async -> Answer {
        if AsynchronousCall.isUnderWay(method, of: object, from: .completionForm) {
            AsynchronousCall.current?.reachedDefault()
            return placeholder
        }
        let call = AsynchronousCall(method, object, from: .asynchronousForm)
        let answer = await withCheckedContinuation { continuation in
            let waiter = AnswerWaiter<Answer>(continuation)
            AsynchronousCall.$current.withValue(call) { complete { waiter.take($0) } }
            _ = call.end()
        }
        return answer.value
    }

    /// How many Swift tasks were made for calls of objects of a class.
    package static func startedTasks(for type: AnyClass) -> Int {
        facts.withLock { $0[ObjectIdentifier(type)]?.startedTasks ?? 0 }
    }
}

/// Takes the first answer; a second one has no effect, as where a session asks.
private final class AnswerWaiter<Answer>: Sendable {
    private let continuation: Guarded<CheckedContinuation<LoopTransfer<Answer>, Never>?>

    init(_ continuation: CheckedContinuation<LoopTransfer<Answer>, Never>) {
        self.continuation = Guarded(continuation)
    }

    func take(_ answer: Answer) {
        continuation.withLock { $0.take() }?.resume(returning: LoopTransfer(answer))
    }
}

extension TwoFormMethod {
    fileprivate var bit: Int { 1 << rawValue }
}

/// A call of one form of a method by the default of the other: what runs within it recognizes that it was called so.
final class AsynchronousCall: Sendable {
    enum Origin {
        case completionForm, asynchronousForm
    }

    enum Outcome {
        case answered
        /// The asynchronous form is the default one. Late: the caller has returned without knowing.
        case isMissing(isLate: Bool)
    }

    private struct State {
        var isOver = false
        var hasReachedDefault = false
        var hasCallerReturned = false
    }

    /// The call that the current Swift task, or what it calls, runs within. Tasks that a program makes there inherit it.
    @TaskLocal static var current: AsynchronousCall?

    private let method: TwoFormMethod
    /// The object lives as long as the call.
    private let object: ObjectIdentifier
    private let origin: Origin
    private let state = Guarded(State())

    init(_ method: TwoFormMethod, _ object: some AnyObject, from origin: Origin) {
        self.method = method
        self.object = ObjectIdentifier(object)
        self.origin = origin
    }

    static func isUnderWay(_ method: TwoFormMethod, of object: some AnyObject, from origin: Origin) -> Bool {
        guard let call = current, call.method == method, call.object == ObjectIdentifier(object) else { return false }
        return call.origin == origin && !call.state.withLock { $0.isOver }
    }

    func reachedDefault() { state.withLock { $0.hasReachedDefault = true } }

    /// Calls the asynchronous form of a method that has no default: what a superclass does is an answer, too.
    func run<Answer>(_ form: @Sendable () async -> Answer) async -> Answer {
        defer { _ = end() }
        return await Self.$current.withValue(self) { await form() }
    }

    /// The asynchronous form has returned. From here on another object may have the object's address.
    func end() -> Outcome {
        state.withLock { state in
            state.isOver = true
            return state.hasReachedDefault ? .isMissing(isLate: state.hasCallerReturned) : .answered
        }
    }

    /// The form with a completion handler returns; gives whether the call is known to have come to nothing.
    func callerReturns() -> Bool {
        state.withLock { state in
            state.hasCallerReturned = true
            return state.isOver && state.hasReachedDefault
        }
    }
}
