import Foundation
import Glibc
import LoadingKit

// A program with a background session, which the tests kill and start again. It does what it reads, a line each, and writes what
// it is told, a line each:
//
//     get NAME URL          begun NAME          when resume() has returned
//     put NAME URL FILE     wrote NAME          some progress
//     cancel NAME           data NAME BASE64    what the upload can be resumed from; nothing where there is nothing
//     again NAME BASE64     begun NAME          an upload that is resumed
//     renew COUNT           renewed COUNT       a session was made anew so often in didBecomeInvalidWithError
//     finish                end NAME CODE       the error's code; 0 for none
//                           all events          urlSessionDidFinishEvents
//                           tasks NAME...       those that there were at the beginning
//                           invalid CODE        the session has ended
//                           because TEXT        before an end or an invalid that has an error
//
// `PROBE_LAUNCH` is the launch command, its words between `|`; `PROBE_DOWNLOADS` the folder of downloads; `PROBE_IDENTITY` the
// file of a client's certificate and key, and `PROBE_ROOTS` that of the certificates that are trusted.
// Downloads go to FOLDER/NAME; each end is a line of FOLDER/ends, too.

LoadingKitBackground.runIfDaemon()

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(1, bytes, bytes.count)
}

func explain(_ error: (any Error)?) { if let error { say("because \(error.localizedDescription)") } }

let variables = ProcessInfo.processInfo.environment

final class ProbeDelegate: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate {
    let folder: URL
    let ends: Int32

    init(folder: URL) {
        self.folder = folder
        ends = open(folder.appendingPathComponent("ends").path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let place = folder.appendingPathComponent(downloadTask.taskDescription ?? "nameless")
        if rename(location.path, place.path) != 0 { say("error rename \(errno) \(location.path) \(place.path)") }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        say("wrote \(downloadTask.taskDescription ?? "")")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        say("wrote \(task.taskDescription ?? "")")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let line = "\(task.taskDescription ?? "") \(error.map { ($0 as NSError).code } ?? 0)"
        let bytes = Array((line + "\n").utf8)
        _ = write(ends, bytes, bytes.count)
        explain(error)
        say("end \(line)")
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) { say("all events") }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodClientCertificate,
            let path = variables["PROBE_IDENTITY"], let text = try? String(contentsOfFile: path, encoding: .utf8),
            let identity = try? ClientIdentity(pemRepresentation: text)
        else { return (.performDefaultHandling, nil) }
        say("identity")
        return (.useCredential, URLCredential(identity: identity, certificates: nil, persistence: .forSession))
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        explain(error)
        say("invalid \(error.map { ($0 as NSError).code } ?? 0)")
        exit(0)
    }
}

/// Makes a session anew each time that it has become invalid, as programs do to change its settings.
final class Renewer: NSObject, URLSessionDelegate, @unchecked Sendable {  // used by one session's queue at a time
    private let configuration: URLSessionConfiguration
    private let rounds: Int
    private var count = 0

    init(_ configuration: URLSessionConfiguration, rounds: Int) {
        self.configuration = configuration
        self.rounds = rounds
    }

    func start() {
        URLSession(configuration: configuration, delegate: self, delegateQueue: nil).finishTasksAndInvalidate()
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        explain(error)
        if error == nil { count += 1 }
        if error == nil, count < rounds { start() } else { say("renewed \(count)") }
    }
}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else {
    say("usage: BackgroundProbe IDENTIFIER FOLDER [in-process]")
    exit(2)
}
let configuration = URLSessionConfiguration.background(withIdentifier: arguments[1])
configuration.runsInProcess = arguments.count > 3
configuration.timeoutIntervalForRequest = 5
configuration.backgroundLaunchCommand = variables["PROBE_LAUNCH"].map { $0.split(separator: "|").map(String.init) }
configuration.backgroundDownloadFolder = variables["PROBE_DOWNLOADS"].map { URL(fileURLWithPath: $0) }
configuration.httpMaximumConnectionsPerHost = 6
if let path = variables["PROBE_ROOTS"] { configuration.tlsTrustRoots = .file(path: path) }
let folder = URL(fileURLWithPath: arguments[2], isDirectory: true)
let session = URLSession(
    configuration: configuration, delegate: ProbeDelegate(folder: folder), delegateQueue: nil)
session.getAllTasks { tasks in
    say("tasks " + tasks.map { $0.taskDescription ?? "" }.joined(separator: " "))
}
var uploads: [String: URLSessionUploadTask] = [:]
while let line = readLine() {
    let words = line.split(separator: " ").map(String.init)
    switch words.first {
    case "get":
        guard words.count == 3, let url = URL(string: words[2]) else { continue }
        let task = session.downloadTask(with: url)
        task.taskDescription = words[1]
        task.resume()
        say("begun \(words[1])")
    case "put":
        guard words.count == 4, let url = URL(string: words[2]) else { continue }
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        let task = session.uploadTask(with: request, fromFile: URL(fileURLWithPath: words[3]))
        task.taskDescription = words[1]
        uploads[words[1]] = task
        task.resume()
        say("begun \(words[1])")
    case "cancel":
        guard words.count == 2 else { continue }
        uploads[words[1]]?.cancel { say("data \(words[1]) \($0?.base64EncodedString() ?? "")") }
    case "again":
        guard words.count == 3, let data = Data(base64Encoded: words[2]) else { continue }
        let task = session.uploadTask(withResumeData: data)
        task.taskDescription = words[1]
        task.resume()
        say("begun \(words[1])")
    case "renew":
        let other = URLSessionConfiguration.background(withIdentifier: arguments[1] + "-renewed")
        other.runsInProcess = configuration.runsInProcess
        Renewer(other, rounds: words.dropFirst().first.flatMap { Int($0) } ?? 1).start()
    case "finish": session.finishTasksAndInvalidate()
    case _: say("error unknown \(line)")
    }
}
// Without more to do it goes on until it is killed.
while true { pause() }
