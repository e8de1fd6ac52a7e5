import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Mocks as programs' tests have them: subclasses of `URLProtocol` whose answers are static, of many tests at once.
@Suite struct ProtocolMockTests {
    typealias Answer = @Sendable (URLRequest) throws -> (HTTPURLResponse, Data)

    /// What each class of mocks has of its own.
    struct State: Sendable {
        var answer: Answer?
        var stops = 0
        var isWaiting = false
    }

    class Mock: URLProtocol, @unchecked Sendable {  // no state of an object's own
        class var state: Box<State> { preconditionFailure("a class of mocks has its own") }

        override class func canInit(with request: URLRequest) -> Bool { state.value.answer != nil }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

        override func startLoading() {
            let state = type(of: self).state.value
            guard let answer = state.answer, !state.isWaiting else { return }
            do {
                let (response, data) = try answer(request)
                client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
                client?.urlProtocol(self, didLoad: data)
                client?.urlProtocolDidFinishLoading(self)
            } catch {
                client?.urlProtocol(self, didFailWithError: error)
            }
        }

        override func stopLoading() { type(of: self).state.update { $0.stops += 1 } }
    }

    final class First: Mock, @unchecked Sendable {  // as its superclass
        static let own = Box(State())
        override class var state: Box<State> { own }
    }

    final class Second: Mock, @unchecked Sendable {  // as its superclass
        static let own = Box(State())
        override class var state: Box<State> { own }
    }

    final class Third: Mock, @unchecked Sendable {  // as its superclass
        static let own = Box(State())
        override class var state: Box<State> { own }
        override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "third" }
    }

    final class Waiting: Mock, @unchecked Sendable {  // as its superclass
        static let own = Box(State())
        override class var state: Box<State> { own }
    }

    static func answer(_ text: String) -> Answer {
        { request in
            guard let url = request.url,
                let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: nil)
            else { throw URLError(.badURL) }
            return (response, Data("\(text) \(url.lastPathComponent)".utf8))
        }
    }

    static func session(_ classes: [AnyClass]) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = classes
        return URLSession(configuration: configuration)
    }

    static func load(_ session: URLSession, _ url: String) async throws -> String {
        String(decoding: try await session.data(from: try #require(URL(string: url))).0, as: UTF8.self)
    }

    /// For each row: the classes of a session, and what `https://third/n` and `https://h/n` are answered with.
    private static var rows: [(classes: [AnyClass], third: String, other: String)] {
        [
            ([First.self], "first", "first"),
            ([Second.self], "second", "second"),
            ([First.self, Second.self], "first", "first"),
            ([Second.self, First.self], "second", "second"),
            ([Third.self, Second.self, First.self], "third", "second"),
            ([Third.self, First.self, Third.self], "third", "first"),
            ([First.self, Third.self], "first", "first"),
        ]
    }

    @Test("sessions side by side have their classes, in their order") func sideBySide() async throws {
        First.own.update { $0.answer = Self.answer("first") }
        Second.own.update { $0.answer = Self.answer("second") }
        Third.own.update { $0.answer = Self.answer("third") }
        try await withTimeout {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    for row in Self.rows.indices {
                        group.addTask {
                            let session = Self.session(Self.rows[row].classes)
                            defer { session.finishTasksAndInvalidate() }
                            let third = try await Self.load(session, "https://third/\(number)")
                            let other = try await Self.load(session, "https://h/\(number)")
                            #expect(third == "\(Self.rows[row].third) \(number)", "row \(row)")
                            #expect(other == "\(Self.rows[row].other) \(number)", "row \(row)")
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("a session has the classes that its configuration had when it was made") func changedLater() async throws {
        First.own.update { $0.answer = Self.answer("first") }
        Second.own.update { $0.answer = Self.answer("second") }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [First.self]
        let session = URLSession(configuration: configuration)
        configuration.protocolClasses = [Second.self]
        let later = URLSession(configuration: configuration)
        session.configuration.protocolClasses = [Second.self]
        defer {
            session.invalidateAndCancel()
            later.invalidateAndCancel()
        }
        try await withTimeout {
            let texts = (
                try await Self.load(session, "https://h/1"), try await Self.load(later, "https://h/1")
            )
            #expect(texts == ("first 1", "second 1"))
        }
    }

    @Test(
        "a mock that never answers is stopped at most once, however its task ends", .serialized,
        arguments: [false, true])
    func neverAnswers(isInvalidated: Bool) async throws {
        Waiting.own.value = State(answer: Self.answer("never"), isWaiting: true)
        let session = Self.session([Waiting.self])
        try await withTimeout {
            let ended = Recorder<Int>()
            let url = try #require(URL(string: "https://h/"))
            for _ in 0..<10 {
                let task = session.dataTask(with: url) { _, _, error in
                    ended.append((error as? URLError)?.code.rawValue ?? 0)
                }
                task.resume()
                if !isInvalidated { task.cancel() }
            }
            session.invalidateAndCancel()
            #expect(await ended.count(reaches: 10) == Array(repeating: -999, count: 10))
        }
        // Of those that were cancelled before they began none was made.
        #expect(Waiting.own.value.stops <= 10)
    }
}
