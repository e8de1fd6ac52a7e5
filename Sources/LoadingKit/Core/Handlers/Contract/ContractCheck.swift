import LoadingKitPrimitives
import Logging

/// Detects handler events that break the handlers' contract (`HandlerContract.md`), and decides which are dropped.
///
///     begun ──response, data──▶ responded
///       │                          │
///       ├──redirect, cached────────┼──▶ handedOver   the session does the rest
///       │                          │        │
///       └──end, returned───────────┴────────┴──▶ ended
struct ContractCheck {
    /// The rules that events can break, by their numbers.
    enum Rule: Int {
        case responseComesFirst = 8
        case nothingFollowsTheEnd = 10
        case receiveIsAwaited = 13
    }

    /// An event of a handler, without its content. See ``HandlerLoad/Event``.
    enum Event: Hashable {
        case response, data, passed, redirect, challenge, withdrawn, cached
        case end(isError: Bool)
        case returned(isError: Bool)

        /// The event's name, for messages.
        var name: String {
            switch self {
            case .response: "a response"
            case .data: "body bytes"
            case .passed: "a forwarded load's response"
            case .redirect: "a redirect"
            case .challenge: "a challenge"
            case .withdrawn: "a withdrawn challenge"
            case .cached: "a stored response"
            case .end(let isError), .returned(let isError): isError ? "an error" : "an end"
            }
        }
    }

    /// The decision about an event.
    struct Verdict: Equatable {
        let isTaken: Bool
        /// The rule that the event breaks.
        var broken: Rule?
    }

    private enum Stage {
        case begun
        /// A response was received.
        case responded
        /// The handler has requested a redirect, or has answered with a stored response.
        case handedOver
        case ended
    }

    private var stage = Stage.begun
    private var hasOverlapped = false

    /// Whether the handler itself has ended the load.
    var isOver: Bool {
        switch stage {
        case .handedOver, .ended: true
        case .begun, .responded: false
        }
    }

    /// Whether this is the first time that a handler gives data while its last call waits for room. It breaks rule 13.
    mutating func noteOverlap() -> Bool {
        defer { hasOverlapped = true }
        return !hasOverlapped
    }

    mutating func accept(_ event: Event) -> Verdict {
        switch (stage, event) {
        // A redirect and a stored response make `load(_:)` throw. Afterwards, handlers of Apple's kind finish, or fail
        // with a cancellation, as Apple's examples do. Dropping this event loses nothing.
        case (.handedOver, .end), (.handedOver, .returned):
            stage = .ended
            return Verdict(isTaken: false)
        case (.ended, .returned), (.ended, .withdrawn), (.handedOver, .withdrawn): return Verdict(isTaken: false)
        case (.handedOver, _), (.ended, _): return Verdict(isTaken: false, broken: .nothingFollowsTheEnd)
        case (.begun, .data):
            stage = .responded
            return Verdict(isTaken: true, broken: .responseComesFirst)
        case (_, .response), (_, .passed): stage = .responded
        case (_, .redirect), (_, .cached): stage = .handedOver
        case (_, .end), (_, .returned): stage = .ended
        case (.responded, .data), (_, .challenge), (_, .withdrawn): break
        }
        return Verdict(isTaken: true)
    }
}

/// Events that arrive after a handler has ended its load: they are dropped. Events that break the contract are logged,
/// from any thread, in any order.
final class LateEvents: Sendable {
    private let contract: Guarded<ContractCheck>
    private let logger: Logger
    private let handler: Any.Type

    init(_ contract: ContractCheck, _ logger: Logger, _ handler: Any.Type) {
        self.contract = Guarded(contract)
        self.logger = logger
        self.handler = handler
    }

    func check(_ event: ContractCheck.Event) {
        guard let rule = contract.withLock({ $0.accept(event).broken }) else { return }
        logger.warn(of: rule, event.name, handler)
    }
}

extension Logger {
    func warn(of rule: ContractCheck.Rule, _ action: String, _ handler: Any.Type) {
        warning(
            "\(handler) breaks rule \(rule.rawValue) of the contract of handlers with \(action)",
            metadata: ["rule": "\(rule.rawValue)", "handler": "\(handler)"])
    }
}
