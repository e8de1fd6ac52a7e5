import CSimulatedSystem
import Foundation
import LoadingKit

/// A transfer of a background session in this process.
struct BackgroundLoad: Sendable {
    /// How long it may take with all attempts, in seconds.
    private static let limit = 24 * 3600.0

    private let transfer: Transfer
    private let url: URL
    private let certificate: String
    private let ledger: Ledger
    private let folder: URL

    init(_ resource: Resource, _ url: URL, isUpload: Bool, _ certificate: String, _ ledger: Ledger) {
        transfer = Transfer(1, isUpload: isUpload, resource)
        (self.url, self.certificate, self.ledger) = (url, certificate, ledger)
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("background-\(resource.number)")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        _ = FileManager.default.createFile(atPath: source.path, contents: Data(resource.body()))
    }

    private var source: URL { folder.appendingPathComponent("source") }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    func run(mayFail: Bool) async {
        let notes = TransferNotes(path: folder.appendingPathComponent("notes-\(mayFail)").path)
        let delegate = BackgroundDelegate(notes, ledger, mayFail: mayFail)
        let configuration = URLSessionConfiguration.background(
            withIdentifier: "\(transfer.resource.number)-\(mayFail)")
        configuration.runsInProcess = true
        configuration.tlsTrustRoots = .pem(certificate)
        configuration.timeoutIntervalForResource = 3600
        configuration.httpAdditionalHeaders = ["X-Repeats": "1000"]
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let task = task(session)
        task.taskDescription = transfer.name
        task.resume()
        let end = sim_time() + UInt64(Self.limit * 1e9)
        while !notes.has(.ended, transfer), !delegate.invalidated.hasFired {
            if sim_time() > end { return ledger.violation("\(transfer.name) has not ended") }
            try? await Task.sleep(for: .milliseconds(100))
        }
        session.finishTasksAndInvalidate()
        await delegate.invalidated.wait()
    }

    private func task(_ session: URLSession) -> URLSessionTask {
        guard transfer.isUpload else { return session.downloadTask(with: url) }
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        return session.uploadTask(with: request, fromFile: source)
    }
}
