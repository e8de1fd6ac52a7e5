import Foundation
import LoadingKit
import TestSupport
import Testing

/// The actions of a delegate on its task, and on others, in each of its calls.
@Suite struct ReentranceTests {
    enum Event: String, Sendable, CaseIterable {
        case challenge, response, data, metrics
    }

    enum Act: String, Sendable, CaseIterable {
        case cancel, suspendAndResume, loadAnother, invalidate
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let event: Event
        let act: Act

        var testDescription: String { "\(act) at \(event)" }

        static let all = Event.allCases.flatMap { event in Act.allCases.map { Row(event: event, act: $0) } }

        /// How the task may end. The metrics come when the load is over: what is done then comes too late. What is done to the
        /// session at the first bytes may come too late, as all bytes may be there by then.
        var outcomes: [URLError.Code?] {
            switch (act, event) {
            case (.cancel, .metrics), (.invalidate, .metrics), (.suspendAndResume, _), (.loadAnother, _): [nil]
            case (.invalidate, .data): [.cancelled, nil]
            case (.cancel, _), (.invalidate, _): [.cancelled]
            }
        }
    }

    @Test(arguments: Row.all) func row(_ row: Row) async throws {
        // The first password is refused, so that there is a challenge.
        let server = try FaultyFTPServer([.init(step: "PASS", act: .reply("530 no\r\n"))])
        defer { server.stop() }
        let url = try #require(URL(string: server.url()))
        let delegate = Meddler(row, url)
        let session = makeFTPSession(delegate: delegate)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: url)
        task.taskDescription = "first"
        task.resume()
        await delegate.ended.wait()
        let outcome = try #require(delegate.results.value["first"])
        #expect(row.outcomes.contains(outcome))
        guard row.act == .loadAnother else { return }
        await delegate.otherEnded.wait()
        #expect(delegate.results.value["other"] == .some(nil))
        #expect(delegate.counts.value == ["first": FaultyFTPServer.file.count, "other": FaultyFTPServer.file.count])
    }

    private final class Meddler: NSObject, URLSessionDataDelegate, Sendable {
        let (ended, otherEnded) = (Signal(), Signal())
        let results = Box<[String: URLError.Code?]>([:])
        let counts = Box<[String: Int]>([:])
        private let row: Row
        private let url: URL
        private let isDone = Box(false)

        init(_ row: Row, _ url: URL) { (self.row, self.url) = (row, url) }

        private func name(_ task: URLSessionTask) -> String { task.taskDescription ?? "" }

        private func didReach(_ event: Event, _ session: URLSession, _ task: URLSessionTask) {
            guard event == row.event, name(task) == "first",
                !isDone.update({ done in
                    defer { done = true }
                    return done
                })
            else { return }
            switch row.act {
            case .cancel: task.cancel()
            case .suspendAndResume:
                task.suspend()
                DispatchQueue.global().async { task.resume() }
            case .loadAnother:
                let other = session.dataTask(with: url)
                other.taskDescription = "other"
                other.resume()
            case .invalidate: session.invalidateAndCancel()
            }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            didReach(.challenge, session, task)
            completionHandler(
                .useCredential, URLCredential(user: "ada", password: "secret", persistence: .forSession))
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            didReach(.response, session, dataTask)
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            counts.update { $0[name(dataTask), default: 0] += data.count }
            didReach(.data, session, dataTask)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            didReach(.metrics, session, task)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            results.update { $0[name(task)] = .some((error as? URLError)?.code) }
            (name(task) == "first" ? ended : otherEnded).fire()
        }
    }
}
