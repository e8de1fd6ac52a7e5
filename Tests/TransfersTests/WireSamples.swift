import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransfers
import LoadingKitTransport

/// One of each message, command and event.
enum WireSamples {
    static let request: TransferRequest = {
        var request = URLRequest(url: URL(fileURLWithPath: "/a"))
        request.url = URL(string: "https://example.org/a?b=c")
        request.setValue("ä\u{7f}", forHTTPHeaderField: "X-Field")
        request.httpBody = Data((0...255).map { UInt8($0) })
        guard let made = TransferRequest(request) else { preconditionFailure("the sample has a URL") }
        return made
    }()

    static let transfer: TransferRecord = {
        var transfer = TransferRecord(identifier: 7, kind: .upload, request: request)
        (transfer.uploadFile, transfer.taskDescription, transfer.priority) = ("/file/ü", "one \"two\"", 0.25)
        (transfer.created, transfer.earliestBeginDate) = (
            Date(timeIntervalSince1970: 5), Date(timeIntervalSince1970: 10)
        )
        return transfer
    }()

    static let session: SessionDescription = {
        var settings = URLSessionConfiguration.ephemeral.settings
        // Whatever this process's are.
        (settings.tlsEnvironment, settings.proxyEnvironment) = (TLSEnvironment(), ProxyEnvironment([:]))
        let made = try? SessionDescription(
            settings, identifier: "a/b\0é", program: "/bin/program", storeFolder: nil)
        guard let session = made else { preconditionFailure("the sample can be described") }
        return session
    }()

    static let end = TransferStatus(
        error: TransferError(.timedOut, "It took too long.", url: "https://example.org/"), file: "/file")

    static let commands: [TransferCommand] = [
        .begin(transfer), .suspend(1), .resume(2), .cancel(3, producingResumeData: true),
        .change(4, priority: 1, taskDescription: nil), .take(5, .metrics), .answerBeginning(6, request),
        .answerBeginning(6, nil),
        .answerChallenge(7, challenge: 1, ChallengeReply(.useCredential, user: "u", password: "p")),
        .endSession, .reset,
    ]

    static let events: [TransferEvent] = [
        .attached(SessionState(nextIdentifier: 8, transfers: [transfer])),
        .detached(TransferError(.cancelled, "It is over.")), .progress(7, TransferProgress()),
        .didResume(7, offset: 10, expected: -1), .redirected(7, request), .willBegin(7),
        .ended(7, end), .deliveredEarlierEvents,
    ]

    static let overview: SessionOverview = {
        var waiting = transfer
        (waiting.stage, waiting.status.error) = (.backingOff, end.error)
        return SessionOverview(identifier: "a", program: "/bin/program", isAttached: true, transfers: [waiting])
    }()

    static let messages: [TransferMessage] =
        [
            .hello(TransferMessage.Hello(process: 5, isIdle: true)), .goodbye(.init()),
            .goodbye(.init(error: TransferError(.unknown, "No."), endsDaemon: .always)), .attach(session),
            .overviewRequest(number: 1), .control(number: 2, session: "s", .suspend(1)),
            .performed(number: .max, error: nil), .performed(number: 4, error: end.error),
            .transfer(transfer), .overview(number: 5, overview),
        ] + commands.enumerated().map { .command(number: UInt64($0), $1) } + events.map { .event($0) }

    /// All of them, one after the other.
    static func bytes() throws -> [UInt8] { try messages.flatMap { try MessageFrame($0).bytes } }
}

/// What a reader makes of bytes: each message as text, and the error.
struct WireReading: Equatable {
    var messages: [String] = []
    var error: WireError?

    init() {}

    /// - Parameters:
    ///   - cuts: Where one piece ends and the next begins.
    ///   - afterHello: Whether the peer has greeted before.
    init(_ bytes: [UInt8], cuts: [Int] = [], afterHello: Bool = false) {
        var reader = MessageReader()
        if afterHello, let hello = try? MessageFrame(.hello(TransferMessage.Hello(process: 1))) {
            read(hello.bytes[...], &reader)
            messages = []
        }
        var start = 0
        for end in cuts + [bytes.count] where error == nil {
            read(bytes[start..<end], &reader)
            start = end
        }
    }

    mutating func read(_ bytes: ArraySlice<UInt8>, _ reader: inout MessageReader) {
        let (taken, failure) = bytes.withUnsafeBytes { reader.receive($0) }
        messages += taken.map { "\($0.descriptorCount): \($0.message)" }
        error = failure
    }
}
