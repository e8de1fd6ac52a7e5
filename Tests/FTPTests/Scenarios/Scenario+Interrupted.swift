import Foundation
import LoadingKit
import TestSupport

extension Scenario {
    /// Loads that do not go on to the end at once.
    static let interrupted = [
        Scenario(name: "resume data of a cancelled download") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            // Resume data has no password: what goes on with it gets it from elsewhere.
            run.keepCredential(in: session)
            let data = try await resumeData(of: run.request("/large.bin", credential: ""), in: session)
            let (file, response) = try await session.download(resumeFrom: data)
            defer { try? FileManager.default.removeItem(at: file) }
            try run.expect(Array(try Data(contentsOf: file)), ScenarioRun.large)
            try run.expect((response as? HTTPURLResponse)?.statusCode, 206, "the status")
        },
        Scenario(name: "resume data, and the file has changed") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            let path = "changing-\(run.server.security)"
            let file = run.server.folder.appendingPathComponent(path)
            try Data(ScenarioRun.large).write(to: file)
            run.keepCredential(in: session)
            let data = try await resumeData(of: run.request("/" + path, credential: ""), in: session)
            try Data(ScenarioRun.text).write(to: file)
            let (result, _) = try await session.download(resumeFrom: data)
            defer { try? FileManager.default.removeItem(at: result) }
            try run.expect(Array(try Data(contentsOf: result)), ScenarioRun.text)
        },
        Scenario(name: "cancelled amid a download") { run in
            let watcher = Watcher { $0.cancel() }
            let session = run.makeSession(delegate: watcher)
            defer { session.invalidateAndCancel() }
            let task = session.dataTask(with: try run.request("/large.bin"))
            task.resume()
            await watcher.ended.wait()
            try run.expect(watcher.error.value, .cancelled, "the error")
            try run.expect(try await run.load("/a.txt", in: session), ScenarioRun.text)
        },
        Scenario(name: "cancelled amid an upload") { run in
            let session = run.makeSession()
            defer { session.invalidateAndCancel() }
            let request = try run.request("/written/cancelled", method: "PUT")
            let error = try await inTime {
                let watcher = Watcher { $0.cancel() }
                let task = session.uploadTask(with: request, from: Data(ScenarioRun.large))
                task.delegate = watcher
                task.resume()
                await watcher.ended.wait()
                return watcher.error.value
            }
            try run.expect(error, .cancelled, "the error")
            _ = try await session.upload(
                for: run.request("/written/after", method: "PUT"), from: Data(ScenarioRun.text))
            try run.expect(try run.stored("written/after"), ScenarioRun.text)
        },
        Scenario(name: "suspended") { run in
            let watcher = Watcher { $0.suspend() }
            let session = run.makeSession(delegate: watcher)
            defer { session.invalidateAndCancel() }
            let task = session.dataTask(with: try run.request("/large.bin"))
            task.resume()
            await watcher.began.wait()
            // Others go on meanwhile.
            for _ in 0..<10 { try run.expect(try await run.load("/a.txt", in: session), ScenarioRun.text) }
            try run.expect(watcher.count.value < ScenarioRun.large.count, "all came while the task was suspended")
            task.resume()
            await watcher.ended.wait()
            try run.expect(watcher.error.value, nil, "the error")
            try run.expect(watcher.count.value, ScenarioRun.large.count, "the number of bytes")
        },
    ]

    /// The resume data of a download that is cancelled when the first bytes are there.
    private static func resumeData(of request: URLRequest, in session: URLSession) async throws -> Data {
        try await inTime {
            let watcher = Watcher { $0.suspend() }
            let task = session.downloadTask(with: request)
            task.delegate = watcher
            task.resume()
            await watcher.began.wait()
            return await task.cancelByProducingResumeData()
        }
    }

    /// Makes attempts until one has a result: on a busy machine all bytes may be there before the delegate is told of the first
    /// ones.
    private static func inTime<Value>(_ attempt: () async throws -> Value?) async throws -> Value {
        for _ in 0..<100 { if let value = try await attempt() { return value } }
        throw ScenarioRun.Deviation(description: "no attempt was in time")
    }
}

/// Tells when a load has begun, and when it has ended.
final class Watcher: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
    let began = Signal()
    let ended = Signal()
    let count = Box(0)
    let error = Box<URLError.Code?>(nil)
    private let whenBegun: @Sendable (URLSessionTask) -> Void

    /// - Parameter whenBegun: called by the delegate's method when the first bytes come or go, so that no more are told of before
    ///   it has returned.
    init(whenBegun: @escaping @Sendable (URLSessionTask) -> Void) { self.whenBegun = whenBegun }

    private func begin(_ task: URLSessionTask) {
        if !began.hasFired { whenBegun(task) }
        began.fire()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        count.update { $0 += data.count }
        begin(dataTask)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        begin(downloadTask)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        begin(task)
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.error.value = (error as? URLError)?.code
        began.fire()
        ended.fire()
    }
}

/// Answers challenges with one password after the other.
final class Answering: NSObject, URLSessionTaskDelegate, Sendable {
    let spaces = Box<[String]>([])
    let cancels = Box(false)
    private let user: String
    private let passwords: [String]
    private let next = Box(0)

    init(user: String, passwords: [String]) {
        self.user = user
        self.passwords = passwords
    }

    func reset() { next.value = 0 }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        guard space.authenticationMethod == NSURLAuthenticationMethodDefault else {
            return completionHandler(.performDefaultHandling, nil)
        }
        spaces.update { $0.append("\(space.protocol ?? "") \(space.host)") }
        if cancels.value { return completionHandler(.cancelAuthenticationChallenge, nil) }
        let index = next.update { index in
            defer { index += 1 }
            return index
        }
        guard passwords.indices.contains(index) else { return completionHandler(.performDefaultHandling, nil) }
        let credential = URLCredential(user: user, password: passwords[index], persistence: .forSession)
        completionHandler(.useCredential, credential)
    }
}
