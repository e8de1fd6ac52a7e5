import LoadingKitPrimitives
import LoadingKitTransport

/// The methods that a program may implement in either of two forms: with a completion handler, or asynchronously.
enum AsyncDelegateMethod: Int, CaseIterable {
    case sessionChallenge, taskChallenge, delayedRequest, redirection, newBodyStream, newBodyStreamFromOffset, response,
        caching, taskCookies
}

/// Calls the asynchronous form of a method whose completion-handler form the program does not implement.
///
/// Swift cannot report whether a type implements a requirement, or uses its default implementation. The default of the
/// completion-handler form therefore calls the asynchronous form in a Swift task. Where that form is also the default,
/// it recognizes the call (``AsynchronousCall``), and the type is recorded as one without the method: from then on no
/// Swift task is made for the type.
package enum AsynchronousForm {
    private struct Facts {
        /// A bit for each method that the type implements in neither form.
        var missing = 0
        var startedTasks = 0
    }

    private static let facts = Guarded<[ObjectIdentifier: Facts]>([:])

    /// Whether the object's class is known to implement neither form: an earlier call reached the defaults of both.
    static func isKnownMissing(_ method: AsyncDelegateMethod, of object: some AnyObject) -> Bool {
        let type = ObjectIdentifier(type(of: object))
        return facts.withLock { $0[type]?.missing ?? 0 } & method.bit != 0
    }

    /// Whether the object's class may implement the asynchronous form. Called by the default of the completion-handler
    /// form.
    static func mayExist(_ method: AsyncDelegateMethod, of object: some AnyObject) -> Bool {
        !isKnownMissing(method, of: object)
            && !AsynchronousCall.isUnderWay(method, of: object, from: .asynchronousForm)
    }

    /// Calls the asynchronous form, and passes its result to `answer`. Where that form is the default, it calls
    /// `passOn` instead: before it returns, if that is known by then, and otherwise through `later`.
    static func call<Answer>(
        _ method: AsyncDelegateMethod, of object: some AnyObject & Sendable,
        _ form: @escaping @Sendable () async -> Answer,
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

    /// Starts a detached task: the program's code gets neither the task-local values nor the priority of the caller.
    /// With a compiler that supports it, the task starts on the calling thread, in the order of the delegate queue's
    /// other calls.
    static func startTask(_ operation: @escaping @Sendable () async -> Void) {
        #if compiler(>=6.2)
            _ = Task.immediateDetached { await operation() }
        #else
            _ = Task.detached { await operation() }
        #endif
    }

    /// The default implementation of the asynchronous form.
    ///
    /// - Parameters:
    ///   - placeholder: The result when the completion-handler form's default is the caller; it is not used.
    ///   - complete: Calls the completion-handler form, which the program may implement.
    static func byDefault<Answer>(
        _ method: AsyncDelegateMethod, of object: some AnyObject & Sendable, placeholder: Answer,
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

    /// The number of Swift tasks that were started for calls of a class's objects.
    package static func startedTasks(for type: AnyClass) -> Int {
        facts.withLock { $0[ObjectIdentifier(type)]?.startedTasks ?? 0 }
    }
}

/// Takes the first answer, and ignores any further one, as a session does.
private final class AnswerWaiter<Answer>: Sendable {
    private let continuation: Guarded<CheckedContinuation<LoopTransfer<Answer>, Never>?>

    init(_ continuation: CheckedContinuation<LoopTransfer<Answer>, Never>) {
        self.continuation = Guarded(continuation)
    }

    func take(_ answer: Answer) {
        continuation.withLock { $0.take() }?.resume(returning: LoopTransfer(answer))
    }
}

extension AsyncDelegateMethod {
    fileprivate var bit: Int { 1 << rawValue }
}

/// A call of one form of a method by the default of the other form. Code within the call recognizes it as such.
final class AsynchronousCall: Sendable {
    enum Origin {
        case completionForm, asynchronousForm
    }

    enum Outcome {
        case answered
        /// The asynchronous form is the default. Late: the caller had returned before this was known.
        case isMissing(isLate: Bool)
    }

    private struct State {
        var isOver = false
        var hasReachedDefault = false
        var hasCallerReturned = false
    }

    /// The call within which the current Swift task runs. Tasks that a program makes within the call inherit it.
    @TaskLocal static var current: AsynchronousCall?

    private let method: AsyncDelegateMethod
    /// The object lives as long as the call.
    private let object: ObjectIdentifier
    private let origin: Origin
    private let state = Guarded(State())

    init(_ method: AsyncDelegateMethod, _ object: some AnyObject, from origin: Origin) {
        self.method = method
        self.object = ObjectIdentifier(object)
        self.origin = origin
    }

    static func isUnderWay(_ method: AsyncDelegateMethod, of object: some AnyObject, from origin: Origin) -> Bool {
        guard let call = current, call.method == method, call.object == ObjectIdentifier(object) else { return false }
        return call.origin == origin && !call.state.withLock { $0.isOver }
    }

    func reachedDefault() { state.withLock { $0.hasReachedDefault = true } }

    /// Calls the asynchronous form of a method without a default implementation: a superclass's result is an answer,
    /// too.
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

    /// The completion-handler form returns. The result is true where the program is known to implement neither form.
    func callerReturns() -> Bool {
        state.withLock { state in
            state.hasCallerReturned = true
            return state.isOver && state.hasReachedDefault
        }
    }
}
