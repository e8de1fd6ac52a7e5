import LoadingKitPrimitives
import LoadingKitTransport
import Testing

@testable import LoadingKitCore

/// The steps of a load, picked from its session's events.
@Suite struct LoadStepsTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Milliseconds, task, connection, event.
        let events: [(Int, Int, UInt32, SessionEvent)]
        let lines: [String]

        init(_ name: String, _ events: [(Int, Int, UInt32, SessionEvent)], _ lines: [String]) {
            (testDescription, self.events, self.lines) = (name, events, lines)
        }
    }

    private static let one = IPAddress.v4(0x0A00_0001)
    private static let two = IPAddress.v4(0x0A00_0002)

    private static let cases = [
        Case("no event", [(0, 2, 0, .loadBegan)], []),
        Case(
            "two addresses refuse",
            [
                (0, 0, 1, .connect(.lookUpBegan)), (10, 1, 0, .taskBegan), (10, 1, 0, .loadBegan),
                (10, 0, 2, .connect(.lookUpBegan)), (12, 0, 2, .connect(.lookUpEnded(addressCount: 2))),
                (12, 0, 2, .connect(.connecting(to: one, port: 443))),
                (13, 0, 2, .connect(.connectFailed(to: one, errno: 111))),
                (13, 0, 2, .connect(.connecting(to: two, port: 443))),
                (15, 0, 2, .connect(.connectFailed(to: two, errno: 111))), (15, 0, 2, .connect(.failed(.connect))),
                (15, 1, 2, .connectionFailed), (15, 1, 0, .taskFailed(code: -1004)),
            ],
            [
                "0.0000 s  the task begins", "0.0000 s  the load begins",
                "0.0000 s  connection 2: looking up the name",
                "0.0020 s  connection 2: 2 addresses found (2.00 ms)",
                "0.0020 s  connection 2: connecting to 10.0.0.1:443",
                "0.0030 s  connection 2: no connection to 10.0.0.1: Connection refused (1.00 ms)",
                "0.0030 s  connection 2: connecting to 10.0.0.2:443",
                "0.0050 s  connection 2: no connection to 10.0.0.2: Connection refused (2.00 ms)",
                "0.0050 s  connection 2: failed while connecting",
                "0.0050 s  connection 2: no connection was opened",
            ]),
        Case(
            "a used connection, and others beside it",
            [
                (0, 0, 3, .connect(.connecting(to: one, port: 80))), (1, 0, 3, .connect(.connected(to: one))),
                (1, 0, 3, .connectionOpened(.http1)), (2, 8, 3, .requestBegan(isReusedConnection: false)),
                (3, 8, 0, .taskSucceeded(bytes: 1)), (4, 9, 3, .requestBegan(isReusedConnection: true)),
                (2001, 1, 0, .taskBegan), (2001, 1, 3, .requestBegan(isReusedConnection: true)),
                (2005, 9, 4, .requestBegan(isReusedConnection: false)), (2006, 0, 4, .connectionClosed(.lost)),
                (2011, 0, 3, .connectionClosed(.lost)), (2011, 1, 0, .retried(.connectionLost)),
                (2012, 1, 5, .requestBegan(isReusedConnection: false)), (2014, 1, 0, .responded(status: 500)),
            ],
            [
                "0.0000 s  the task begins",
                "0.0000 s  connection 3: the request is sent on a used connection (opened 2.00 s earlier, "
                    + "2 requests before this task)",
                "0.0100 s  connection 3: closed by the peer, or failed",
                "0.0100 s  the request is sent again: the connection was lost before the server answered",
                "0.0110 s  connection 5: the request is sent on a new connection",
                "0.0130 s  status 500 (2.00 ms)",
            ]),
        Case(
            "a wait for a connection that was begun for another load",
            [
                (0, 0, 1, .connect(.connecting(to: one, port: 80))),
                (0, 0, 2, .connect(.connecting(to: two, port: 80))),
                (1, 0, 2, .connect(.connected(to: two))), (1, 0, 2, .connectionOpened(.http1)),
                (100, 1, 0, .loadBegan),
            ],
            ["-0.1000 s  connection 1: connecting to 10.0.0.1:80", "0.0000 s  the load begins"]),
    ]

    private static func steps(_ events: [(Int, Int, UInt32, SessionEvent)]) -> LoadSteps? {
        LoadSteps(
            of: 1,
            in: events.map { time, task, connection, event in
                SessionEventRecord(
                    time: MonotonicTime(nanoseconds: UInt64(time + 1) * 1_000_000), task: Int32(task),
                    connection: connection, event: event)
            })
    }

    private static func lines(_ steps: LoadSteps?) -> [String] {
        steps?.text.split(separator: "\n").map { String($0.drop { $0 == " " }) } ?? []
    }

    @Test(arguments: cases)
    private func stepsAreTold(_ testCase: Case) {
        #expect(Self.lines(Self.steps(testCase.events)) == testCase.lines)
    }

    @Test func manyStepsAreCutInTheMiddle() throws {
        let lines = Self.lines(Self.steps((0..<1000).map { ($0, 1, 0, .responded(status: UInt16($0))) }))
        #expect(lines.count == 41)
        #expect(lines.first == "0.0000 s  status 0")
        #expect(lines[12] == "… 960 steps are left out")
        #expect(lines.last == "0.9990 s  status 999")
    }
}
