import CSimulatedSystem
import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives

/// The delegate of a background session, which notes what it is told.
final class BackgroundDelegate: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate {
    let invalidated = Signal()
    private let notes: TransferNotes
    private let ledger: Ledger
    /// Whether calls have failed on purpose in this process, or in one before.
    private let mayFail: Bool
    private let bodies = Guarded<[Transfer: [UInt8]]>([:])

    init(_ notes: TransferNotes, _ ledger: Ledger, mayFail: Bool) {
        (self.notes, self.ledger, self.mayFail) = (notes, ledger, mayFail)
    }

    /// Whether the session has become invalid. Waits, because it is told of that later.
    func isInvalid() async -> Bool {
        try? await Task.sleep(for: .milliseconds(100))
        return invalidated.hasFired
    }

    private func transfer(_ task: URLSessionTask) -> Transfer? {
        let transfer = task.taskDescription.flatMap { Transfer(name: $0) }
        if transfer == nil { ledger.violation("a task has the description \(task.taskDescription ?? "")") }
        return transfer
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        guard let transfer = transfer(downloadTask) else { return }
        let body = (try? Data(contentsOf: location)).map { Array($0) } ?? []
        let version = (downloadTask.response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Version")
        let expected = transfer.resource.body(version: version.flatMap { UInt64($0) } ?? 0)
        // What ends with the connection may end early.
        let mayBe = transfer.resource.kind == .close ? expected.starts(with: body) : body == expected
        if !mayBe, !Self.isRefusal(downloadTask.response) {
            ledger.violation("\(transfer.name): \(body.count) bytes are not its own")
        }
        notes.add(.file, transfer)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let transfer = transfer(dataTask) else { return }
        bodies.withLock { $0[transfer, default: []] += data }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let transfer = transfer(task) else { return }
        if notes.hasEndedNow(transfer) { ledger.violation("\(transfer.name) ended twice") }
        if let error { check(error, transfer) } else { checkSuccess(transfer, task.response) }
        notes.add(.ended, transfer)
    }

    /// What responses that networks have cut off may end with.
    private static let failures: Set<URLError.Code> = [
        .timedOut, .badServerResponse, .cannotParseResponse, .cannotDecodeContentData, .cannotDecodeRawData,
    ]

    private func check(_ error: any Error, _ transfer: Transfer) {
        ledger.note("transfers failed: \((error as NSError).code)")
        if let error = error as? URLError {
            if error.code == .cancelled, notes.has(.cancelled, transfer) { return }
            if mayFail || Self.failures.contains(error.code) { return }
        }
        ledger.violation("\(transfer.name) failed: \(error)")
    }

    /// Whether the server has seen a part of the request.
    private static func isRefusal(_ response: URLResponse?) -> Bool {
        (response as? HTTPURLResponse)?.statusCode == 400
    }

    private func checkSuccess(_ transfer: Transfer, _ response: URLResponse?) {
        if Self.isRefusal(response) { return ledger.note("transfers were refused") }
        ledger.note("transfers succeeded")
        if (response as? HTTPURLResponse)?.statusCode != 200, (response as? HTTPURLResponse)?.statusCode != 206 {
            return ledger.violation("\(transfer.name): \(response.map { "\($0)" } ?? "no response")")
        }
        if !transfer.isUpload, !notes.has(.file, transfer) { ledger.violation("\(transfer.name) has no file") }
        let body = bodies.withLock { $0[transfer] } ?? []
        // An end that comes again may come without its content.
        guard transfer.isUpload, !notes.has(.ended, transfer) || !body.isEmpty else { return }
        if body != transfer.resource.body() {
            ledger.violation("\(transfer.name): \(body.count) bytes came back, \(transfer.resource.length) were sent")
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let (disposition, credential) = SessionDelegate.answer(challenge, client: 0)
        completionHandler(disposition, credential)
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        if let error, !mayFail || !(error is URLError) { ledger.violation("the session became invalid: \(error)") }
        if let error { ledger.note("sessions became invalid: \((error as NSError).code)") }
        invalidated.fire()
    }
}
