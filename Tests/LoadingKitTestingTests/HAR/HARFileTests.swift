import Foundation
import LoadingKitCore
import LoadingKitHAR
import LoadingKitTransport
import Testing

/// A file that is recorded: its timings, and what happens where the system fails.
@Suite struct HARFileTests {
    private let folder: TemporaryFolder
    private let path: URL

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("traffic.har")
    }

    /// Metrics of a load with one transaction.
    private func metrics(
        _ number: Int, _ note: (inout TransactionTimings, WallClockAnchor) -> Void = { _, _ in }
    ) -> URLSessionTaskMetrics {
        let (date, time) = (Date(), TimeSource.system.now)
        let anchor = WallClockAnchor(date: date, monotonicTime: time)
        var timings = TransactionTimings(fetchStart: time)
        note(&timings, anchor)
        let transaction = URLSessionTaskTransactionMetrics(
            request: URLRequest(url: url("http://h/\(number)")), response: nil, timings: timings, anchor: anchor)
        return URLSessionTaskMetrics(
            transactionMetrics: [transaction], taskInterval: DateInterval(start: date, end: date), redirectCount: 0)
    }

    private func paths() throws -> [String] {
        try HARLog(contentsOf: path).entries.map { URL(string: $0.request.url)?.path ?? "" }
    }

    /// No time counts twice where the response begins before the request's end.
    @Test func anEarlyResponse() throws {
        let file = try HARFile.at(path, replacing: true, on: OrderedWork(isOnDemand: true))
        let early = metrics(0) { timings, anchor in
            let times = ([0, 1, 3, 4] as [Double]).map { anchor.time(of: anchor.date + $0) }
            (timings.requestStart, timings.requestEnd) = (times[0], times[2])
            (timings.responseStart, timings.responseEnd) = (times[1], times[3])
        }
        file.recorder().record(early, nil, ofTask: 1, from: nil, in: SessionIdentity())
        file.finish()
        let entry = try #require(try HARLog(contentsOf: path).entries.first)
        let timings = [entry.timings.send, entry.timings.wait, entry.timings.receive, entry.time]
        #expect(timings.map { $0.rounded() } == [1000, 0, 3000, 4000])
    }

    /// The file is whole after a write that failed in the middle, and goes on when there is space again.
    @Test(arguments: [1, 2]) func aFullDisk(_ failing: Int) throws {
        // The faults are of this thread, which does all the work.
        let file = try HARFile.at(path, replacing: true, on: OrderedWork(isOnDemand: true))
        let recorder = file.recorder()
        recorder.record(metrics(0), nil, ofTask: 1, from: nil, in: SessionIdentity())
        file.finish()
        let faults: [FaultPlan.Entry] = [
            .init(.pwrite, .nth(1), .short(10)), .init(.pwrite, .nth(failing), .fail(ENOSPC)),
        ]
        let plan = FaultPlan(faults.suffix(failing))
        plan.run {
            recorder.record(metrics(1), nil, ofTask: 1, from: nil, in: SessionIdentity())
            file.finish()
        }
        #expect(plan.injectedCount == failing)
        #expect(try paths() == ["/0"])
        #expect(throws: HARError.self) { try file.check() }
        recorder.record(metrics(2), nil, ofTask: 1, from: nil, in: SessionIdentity())
        file.finish()
        #expect(try paths() == ["/0", "/2"])
    }

    /// The transactions of a background task may begin after its redirect.
    @Test func aLaterAttemptWithASecretLocation() throws {
        let file = try HARFile.at(path, replacing: true, on: OrderedWork(isOnDemand: true))
        let recorder = file.recorder(.standard.adding(headerFields: "location"))
        for first in ["http://h/first", "http://h/7"] {
            recorder.record(metrics(7), nil, ofTask: 1, from: url(first), in: SessionIdentity())
        }
        file.finish()
        #expect(try paths() == ["/(redacted)", "/7"])
    }

    /// Anything but a regular file is refused, and keeps its permissions.
    @Test(arguments: [true, false]) func aPipe(_ replaces: Bool) throws {
        try #require(mkfifo(path.path, 0o644) == 0 && chmod(path.path, 0o644) == 0)
        let error = #expect(throws: HARError.self) { try HARFile.at(path, replacing: replaces) }
        #expect(error?.description.contains("no regular file") == true)
        #expect(try FileManager.default.attributesOfItem(atPath: path.path)[.posixPermissions] as? Int == 0o644)
    }

    @Test func aFileCannotBeOpened() throws {
        _ = FaultPlan(.open, .nth(1), .fail(EACCES)).run {
            #expect(throws: HARError.self) { try HARFile.at(path, replacing: true) }
        }
        #expect(throws: HARError.self) { try HARFile.at(url("http://h/"), replacing: true) }
        // One that others could read is its owner's alone afterwards.
        try Data("old".utf8).write(to: path)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path.path)
        #expect(throws: HARError.self) { try HARFile.at(path, replacing: false) }
        let file = try HARFile.at(path, replacing: true)
        #expect(try paths() == [] && file.path == path.path)
        #expect(try FileManager.default.attributesOfItem(atPath: path.path)[.posixPermissions] as? Int == 0o600)
    }
}
