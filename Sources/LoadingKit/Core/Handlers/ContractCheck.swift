import LoadingKitPrimitives
import Logging

/// Finds out where a handler's events break the contract of handlers (`HandlerContract.md`), and which of them are dropped.
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
    }

    /// What is done with an event.
    struct Verdict: Equatable {
        let isTaken: Bool
        /// The rule that the event breaks.
        var broken: Rule?
    }

    private enum Stage {
        case begun
        /// A response was received.
        case responded
        /// The handler has asked for another request, or has answered with a stored response.
        case handedOver
        case ended
    }

    private var stage = Stage.begun

    mutating func accept(_ event: CustomLoad.Event) -> Verdict {
        switch (stage, event) {
        // A redirect and a stored response make `load(_:)` throw. After either, handlers of Apple's shape finish, or fail with a
        // cancellation, as Apple's examples do. Nothing is lost by it.
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

/// Events that come when their load is over: they are dropped. Those that break the contract are logged, from any thread.
final class LateEvents: Sendable {
    private let contract: Guarded<ContractCheck>
    private let logger: Logger
    private let handler: Any.Type

    init(_ contract: ContractCheck, _ logger: Logger, _ handler: Any.Type) {
        self.contract = Guarded(contract)
        self.logger = logger
        self.handler = handler
    }

    func check(_ event: CustomLoad.Event) {
        guard let rule = contract.withLock({ $0.accept(event).broken }) else { return }
        logger.warn(of: rule, brokenBy: event, from: handler)
    }
}

extension Logger {
    func warn(
        of rule: ContractCheck.Rule, brokenBy event: CustomLoad.Event, from handler: Any.Type
    ) {
        warning(
            "\(handler) breaks rule \(rule.rawValue) of the contract of handlers with \(event.name)",
            metadata: ["rule": "\(rule.rawValue)", "handler": "\(handler)"])
    }
}

extension CustomLoad.Event {
    /// For messages.
    var name: String {
        switch self {
        case .response: "a response"
        case .data: "body bytes"
        case .passed: "a forwarded load's response"
        case .redirect: "a redirect"
        case .challenge: "a challenge"
        case .withdrawn: "a withdrawn challenge"
        case .cached: "a stored response"
        case .end(nil), .returned(nil): "an end"
        case .end, .returned: "an error"
        }
    }
}
