import Foundation
import LoadingKitCore

/// The progress of a resumable upload, and its next action (draft-ietf-httpbis-resumable-upload). The methods return
/// the action when the value is consistent, and the load carries it out.
///
/// ```
///   creating ──broken──▶ pausing ──▶ retrieving ──offset──▶ appending ──▶ delivering
///      │                    ▲            │                     │
///      │                    └── broken ──┴──────── broken ─────┘
///      └──▶ delivering: the server has responded to the request
/// ```
struct UploadState {
    /// A part of the body that is appended.
    struct Part: Equatable {
        let offset: Int64
        /// Nil for a stream of unknown length, until its end has been read.
        let count: Int64?
        let isLast: Bool
    }

    enum Step: Equatable {
        case new
        /// The program's request is under way with the whole body.
        case creating
        /// The server's offset is being retrieved.
        case retrieving
        case appending(Part)
        case pausing
        /// The program gets the response.
        case delivering
        case over
    }

    enum Action {
        case nothing
        /// Send the program's request.
        case create
        /// Retrieve the server's offset with HEAD.
        case retrieve
        /// Send a part with PATCH.
        case append(Part)
        /// Wait for this number of seconds.
        case pause(Double)
        case fail(any Error)
    }

    enum Verdict {
        /// The program gets the response.
        case deliver
        /// The response concerns only the upload. The action follows after the response has ended.
        case discard(Action)
    }

    /// In seconds, before the offset is retrieved again. Without progress after the last one the upload fails.
    static let pauses: [Double] = [0, 0.5, 1, 2]
    static let longestPause = 60.0
    /// The progress in bytes after which the pauses start over. Without it, a server that takes a few bytes of each
    /// request would be sent requests forever.
    static let leastProgress: Int64 = 16 * 1024
    /// If a server's limit would lead to more parts, the body is sent at once.
    static let mostParts: Int64 = 10_000

    private(set) var step = Step.new
    /// The body's size; nil for a stream of unknown length.
    let total: Int64?
    /// Whether the body can be sent in parts that end before it does. A stream is always sent to its end.
    private let isDivisible: Bool
    /// The resource at which the upload continues; nil until the server has named it.
    private(set) var resource: URL?
    private var largestPart: Int64?
    /// Set if the whole body exceeds the server's limit.
    private var excess: LoadFailure?
    private var failures = 0
    private var progress: Int64 = 0
    private var lastOffset: Int64?
    private var cause: (any Error)?
    /// The server's refusal of the rest of the body, all of which was sent. If the server has the whole body then, the
    /// refusal is its result.
    private var refusal: LoadFailure?

    init(total: Int64?, isDivisible: Bool, resumption: UploadResumption?) {
        self.total = total
        self.isDivisible = isDivisible
        resource = resumption?.resource
    }

    var offset: Int64 { if case .appending(let part) = step { part.offset } else { 0 } }

    // MARK: Inputs

    mutating func begin() -> Action {
        guard case .new = step else { return .nothing }
        return resource == nil ? move(to: .creating, .create) : move(to: .retrieving, .retrieve)
    }

    /// ``heedLimits()`` must follow after all that was received with the interim response.
    mutating func receive(interim answer: UploadAnswer) {
        guard answer.status == 104, step == .creating, answer.interopVersion.map({ 6...8 ~= $0 }) ?? true else {
            return
        }
        switch answer.location {
        case .resource(let url): resource = url
        case .elsewhere: resource = nil
        case nil: break
        }
        guard let limits = answer.limits else { return }
        if let most = limits.maxSize, let total, total > most { excess = .tooLarge(total, most) }
        _ = note(limits)
    }

    /// Ends the request that is under way if it exceeds the server's limits, unless it was answered with them.
    mutating func heedLimits() -> Action {
        guard step == .creating else { return .nothing }
        if let excess { return giveUp(excess) }
        return resource != nil && exceedsPart ? retrieve() : .nothing
    }

    /// Returns whether the redirect is of the program's request, and the program decides about it.
    mutating func receiveRedirect() -> Bool {
        guard step == .creating else { return false }
        _ = deliver()
        return true
    }

    /// - Parameter isSent: whether all of the request was sent before the response.
    mutating func receive(_ answer: UploadAnswer, isSent: Bool) -> Verdict {
        switch step {
        case .creating: receiveCreated(answer, isSent: isSent)
        case .retrieving: receiveRetrieved(answer)
        case .appending(let part): receiveAppended(answer, part, isSent: isSent)
        case .new, .pausing, .delivering, .over: .deliver
        }
    }

    /// - Parameter isInterruption: whether the reason was the network, or the end of a connection by the server.
    mutating func requestDidFail(_ error: any Error, isInterruption: Bool) -> Action {
        switch step {
        case .creating where excess != nil: return heedLimits()
        case .creating where resource != nil && isInterruption: return interrupt(error)
        case .retrieving where isInterruption, .appending where isInterruption: return interrupt(error)
        case .new, .creating, .retrieving, .appending, .pausing, .delivering: return fail(error)
        case .over: return .nothing
        }
    }

    mutating func pauseDidEnd() -> Action {
        guard case .pausing = step else { return .nothing }
        return move(to: .retrieving, .retrieve)
    }

    // MARK: Responses

    /// The program gets every response except one that reports an interrupted upload by the draft's rules.
    private mutating func receiveCreated(_ answer: UploadAnswer, isSent: Bool) -> Verdict {
        guard answer.isComplete != true else { return deliver() }
        if let excess, answer.status >= 400 { return .discard(giveUp(excess)) }
        guard resource != nil else { return deliver() }
        switch answer.status {
        // The program gets the server's result for the whole body. A gateway's response is no such result.
        case 502...504: return .discard(interrupt(answer))
        case 500...599 where !isSent: return .discard(interrupt(answer))
        case 200..<300 where answer.isComplete == false: return .discard(retrieve())
        case 413 where noteLowerLimit(answer) || exceedsPart: return .discard(interrupt(answer))
        case _: return deliver()
        }
    }

    private mutating func receiveRetrieved(_ answer: UploadAnswer) -> Verdict {
        switch answer.status {
        case 200..<300: break
        case 408, 409, 423, 425, 429, 500...599: return .discard(interrupt(answer))
        case 401, 407: return .discard(fail(LoadFailure.refused(answer.status)))
        case _: return .discard(giveUp(cause ?? LoadFailure.forgotten(answer.status)))
        }
        if let length = answer.length, let total, length != total {
            return .discard(giveUp(LoadFailure.wrongLength(length, total)))
        }
        if answer.isComplete == true {
            if let offset = answer.offset, let total, offset != total {
                return .discard(giveUp(LoadFailure.wrongLength(offset, total)))
            }
            if let refusal { return .discard(giveUp(refusal)) }
            // The response to the body was lost.
            return deliver()
        }
        guard let offset = answer.offset else { return .discard(giveUp(LoadFailure.withoutOffset)) }
        // The number of bytes that have left this machine is unknown: bytes may have been sent without a report.
        if let total, offset > total { return .discard(giveUp(LoadFailure.ahead(offset, total))) }
        guard offset >= lastOffset ?? 0 else { return .discard(giveUp(LoadFailure.behind(offset, lastOffset ?? 0))) }
        if let limits = answer.limits {
            if let most = limits.maxSize, let total, total > most {
                return .discard(giveUp(LoadFailure.tooLarge(total, most)))
            }
            _ = note(limits)
        }
        noteProgress(offset)
        return .discard(append(from: offset))
    }

    private mutating func receiveAppended(_ answer: UploadAnswer, _ part: Part, isSent: Bool) -> Verdict {
        if answer.isComplete == true { return deliver() }
        switch answer.status {
        case 200..<300 where !part.isLast:
            let end = part.offset + (part.count ?? 0)
            noteProgress(end)
            return .discard(append(from: end))
        case 200..<300 where answer.isComplete == nil: return deliver()
        case 413 where noteLowerLimit(answer): return .discard(interrupt(answer))
        case 200..<300, 408, 409, 423, 425, 429, 500...599:
            // The server's result for the whole body, or an interruption of the upload: the offset shows which. A
            // gateway's response is no such result.
            if part.isLast, isSent, answer.status >= 500, !(502...504).contains(answer.status) {
                refusal = LoadFailure.interrupted(answer.status)
            }
            return .discard(interrupt(answer))
        case _: return deliver()
        }
    }

    private mutating func deliver() -> Verdict {
        step = .delivering
        resource = nil
        return .deliver
    }

    // MARK: Actions

    private mutating func move(to next: Step, _ action: Action) -> Action {
        step = next
        return action
    }

    private mutating func fail(_ error: any Error) -> Action { move(to: .over, .fail(error)) }

    /// No other task can continue the upload.
    private mutating func giveUp(_ error: any Error) -> Action {
        resource = nil
        return fail(error)
    }

    private mutating func retrieve() -> Action { move(to: .retrieving, .retrieve) }

    private mutating func append(from offset: Int64) -> Action {
        lastOffset = offset
        refusal = nil
        let rest = total.map { $0 - offset }
        let count = isDivisible ? rest.map { min($0, largestPart ?? .max) } : rest
        let part = Part(offset: offset, count: count, isLast: count == rest)
        return move(to: .appending(part), .append(part))
    }

    private mutating func interrupt(_ answer: UploadAnswer) -> Action {
        interrupt(LoadFailure.interrupted(answer.status), after: answer.retryAfter)
    }

    private mutating func interrupt(_ error: any Error, after wanted: Double? = nil) -> Action {
        if cause == nil { cause = error }
        guard failures < Self.pauses.count, wanted ?? 0 <= Self.longestPause else { return fail(error) }
        let pause = max(Self.pauses[failures], wanted ?? 0)
        failures += 1
        return pause > 0 ? move(to: .pausing, .pause(pause)) : retrieve()
    }

    private mutating func noteProgress(_ offset: Int64) {
        guard offset - progress >= Self.leastProgress else { return }
        progress = offset
        failures = 0
        cause = nil
    }

    // MARK: Limits

    /// Whether the whole body exceeds the limit for a part.
    private var exceedsPart: Bool {
        guard let total, let largestPart else { return false }
        return total > largestPart
    }

    /// Returns whether parts are limited now.
    private mutating func note(_ limits: UploadLimits) -> Bool {
        guard isDivisible, let total, let most = limits.maxAppendSize, most > 0, total / most < Self.mostParts else {
            return false
        }
        largestPart = most
        return true
    }

    /// Returns whether the limit by which the server has refused a part is new.
    private mutating func noteLowerLimit(_ answer: UploadAnswer) -> Bool {
        let old = largestPart
        guard let limits = answer.limits, note(limits), let largestPart else { return false }
        return largestPart < old ?? total ?? 0
    }
}

/// The reasons why an upload does not continue.
extension LoadFailure {
    static func forgotten(_ status: Int) -> LoadFailure {
        LoadFailure(.resourceUnavailable, "the server does not continue the upload (status \(status))")
    }

    static func interrupted(_ status: Int) -> LoadFailure {
        LoadFailure(.badServerResponse, "the server has interrupted the upload (status \(status))")
    }

    static func refused(_ status: Int) -> LoadFailure {
        LoadFailure(
            .userAuthenticationRequired,
            "the server requires credentials to report the offset of the upload (status \(status))")
    }

    static func tooLarge(_ size: Int64, _ most: Int64) -> LoadFailure {
        LoadFailure(
            .dataLengthExceedsMaximum,
            "the body has \(size) bytes, and the server takes \(most) at most (Upload-Limit)")
    }

    static func wrongLength(_ length: Int64, _ total: Int64) -> LoadFailure {
        LoadFailure(.badServerResponse, "the server's upload has \(length) bytes, and the body has \(total)")
    }

    static var withoutOffset: LoadFailure {
        LoadFailure(.badServerResponse, "the server does not report the offset of the upload (Upload-Offset)")
    }

    static func ahead(_ offset: Int64, _ total: Int64) -> LoadFailure {
        LoadFailure(
            .badServerResponse, "the server reports \(offset) bytes of the upload, which has \(total)")
    }

    static func behind(_ offset: Int64, _ before: Int64) -> LoadFailure {
        LoadFailure(
            .badServerResponse, "the server has lost a part of the upload: it had \(before) bytes, and has \(offset)")
    }
}
