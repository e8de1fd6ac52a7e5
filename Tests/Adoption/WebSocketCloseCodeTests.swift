import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Programs that close WebSockets with codes of their own.
@Suite(.timeLimit(.minutes(5))) struct WebSocketCloseCodeTests {
    typealias CloseCode = URLSessionWebSocketTask.CloseCode

    /// As programs have it that name each case of Apple's.
    private static func name(_ code: CloseCode) -> String {
        switch code {
        case .invalid: "invalid"
        case .normalClosure: "normalClosure"
        case .goingAway: "goingAway"
        case .protocolError: "protocolError"
        case .unsupportedData: "unsupportedData"
        case .noStatusReceived: "noStatusReceived"
        case .abnormalClosure: "abnormalClosure"
        case .invalidFramePayloadData: "invalidFramePayloadData"
        case .policyViolation: "policyViolation"
        case .messageTooBig: "messageTooBig"
        case .mandatoryExtensionMissing: "mandatoryExtensionMissing"
        case .internalServerError: "internalServerError"
        case .tlsHandshakeFailure: "tlsHandshakeFailure"
        default: "unknown"
        }
    }

    /// As programs have it that name what they treat differently.
    private static func reconnects(_ code: CloseCode) -> Bool? {
        switch code {
        case .normalClosure, .goingAway: false
        case CloseCode.invalid, .abnormalClosure: true
        default: nil
        }
    }

    private static let named: [CloseCode] = [
        .invalid, .normalClosure, .goingAway, .protocolError, .unsupportedData, .noStatusReceived, .abnormalClosure,
        .invalidFramePayloadData, .policyViolation, .messageTooBig, .mandatoryExtensionMissing, .internalServerError,
        .tlsHandshakeFailure,
    ]

    @Test func codesAreValues() throws {
        let numbers = [0, 1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1015]
        #expect(Self.named.map(\.rawValue) == numbers && numbers.map { CloseCode(rawValue: $0) } == Self.named)
        #expect(Set(Self.named.map(Self.name)).count == Self.named.count)
        let own = try #require(CloseCode(rawValue: 4001))
        #expect(own.rawValue == 4001 && own == CloseCode(rawValue: 4001) && own != CloseCode(rawValue: 4002))
        #expect(!Self.named.contains(own) && Set([own, own, .goingAway]).count == 2)
        #expect([own, .goingAway, .invalid].map(Self.reconnects) == [nil, false, true])
        #expect(Self.name(own) == "unknown" && own == .other(4001) && CloseCode.other(1000) == .normalClosure)
    }

    /// What goes over the wire and comes back: of codes that may not, none does (RFC 6455 §7.4).
    @Test(arguments: [
        (1000, 1000), (1001, 1001), (1003, 1003), (1007, 1007), (1011, 1011), (1012, 1012), (1014, 1014), (3000, 3000),
        (4000, 4000), (4001, 4001), (4999, 4999), (0, 1005), (1, 1005), (999, 1005), (1004, 1005), (1005, 1005),
        (1006, 1005), (1015, 1005), (1016, 1005), (2999, 1005), (5000, 1005), (65_535, 1005), (65_536, 1005),
        (69_536, 1005), (-1, 1005), (.min, 1005), (.max, 1005),
    ])
    func closing(_ number: Int, _ expected: Int) async throws {
        final class Delegate: NSObject, URLSessionWebSocketDelegate {
            let codes = Recorder<CloseCode>()
            func urlSession(
                _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
                didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
            ) {
                codes.append(closeCode)
            }
        }
        let told = Recorder<Int>()
        let server = try LoopbackServer { request in
            .webSocket(request) { socket in
                while let event = try socket.receive() {
                    if case .close(let code, _) = event { told.append(Int(code.rawValue)) }
                }
            }
        }
        defer { server.stop() }
        let delegate = Delegate()
        let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let task = session.webSocketTask(with: try #require(URL(string: "ws" + server.url("/").drop { $0 != ":" })))
        task.resume()
        try await withTimeout {
            try await task.sendPing()
            let code = try #require(CloseCode(rawValue: number))
            #expect(code.rawValue == number)
            task.cancel(with: code, reason: Data("done".utf8))
            await #expect(throws: POSIXError.self) { _ = try await task.receive() }
            #expect(task.closeCode.rawValue == expected && task.error == nil)
            #expect(await delegate.codes.element(at: 0) == CloseCode(rawValue: expected))
            #expect(await told.element(at: 0) == expected)
        }
    }
}
