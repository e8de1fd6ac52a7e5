import CSimulatedSystem
import Foundation
import LoadingKit
import LoadingKitTransfers

/// One process of a program with a background session. In the last one of a seed all transfers end.
struct BackgroundLife: Sendable {
    /// How long the last process has for what is left, and for the daemon's end, in seconds.
    private static let timeToEnd = 24 * 3600.0

    private let process: SeedProcess
    private let runsInProcess: Bool
    private let ledger = Ledger()
    private let notes: TransferNotes
    private let network: Network

    /// Lives, and ends the process.
    static func run(_ number: UInt64, isTraced: Bool) -> Never {
        World.prepare(isTraced)
        DaemonProgram.carriesDaemon()
        let process = SeedProcess(number)
        _ = mkdir(process.folder.appendingPathComponent("sources").path, 0o700)
        let notes = TransferNotes(path: process.folder.appendingPathComponent("notes").path)
        sim_begin(number)
        sim_set_time(notes.lastTime + 10_000_000_000)
        let life = BackgroundLife(process, notes)
        World.waitFor { await life.live() }
        World.end("process \(process.number)", life.network, life.ledger, isTraced, status: process.status)
    }

    private init(_ process: SeedProcess, _ notes: TransferNotes) {
        (self.process, self.notes) = (process, notes)
        runsInProcess = process.seed.isMultiple(of: 2)
        network = process.isLast ? .clean : Network()
    }

    private func live() async {
        do {
            // The first sockets of a process, whose ports are the same in each.
            let servers = try await Servers.make(ledger)
            try Data(servers.certificate.utf8).write(to: roots)
            sim_on_start_of_process { descriptor in
                Thread.detachNewThread { SimulatedDaemon.shared.start(readiness: descriptor) }
            }
            process.useDisk()
            bootIdentifier()
            if !process.isLast, process.chooseEnd(seconds: 7200) {
                _ = FileManager.default.createFile(atPath: lostPower.path, contents: nil)
            }
            if network.hasFaults { _ = FileManager.default.createFile(atPath: faults.path, contents: nil) }
            network.begin()
            await use(servers)
        } catch {
            ledger.violation("the servers could not be made: \(error)")
        }
    }

    private var folder: URL { process.folder }
    private var roots: URL { folder.appendingPathComponent("roots.pem") }

    /// Is there where calls have failed in one of the processes.
    private var faults: URL { folder.appendingPathComponent("faults") }

    /// The number of the system's start, which changes where the power was lost.
    private func bootIdentifier() {
        let path = folder.appendingPathComponent("boot")
        if unlink(lostPower.path) == 0 || !FileManager.default.fileExists(atPath: path.path) {
            try? Data("boot-\(process.number)\n".utf8).write(to: path)
        }
        sim_replace_file("/proc/sys/kernel/random/boot_id", path.path)
    }

    /// Is there where the power was lost.
    private var lostPower: URL { folder.appendingPathComponent("lost-power") }

    // MARK: The program

    private func use(_ servers: Servers) async {
        let delegate = BackgroundDelegate(
            notes, ledger, mayFail: FileManager.default.fileExists(atPath: faults.path))
        let session = URLSession(configuration: configuration(), delegate: delegate, delegateQueue: nil)
        let tasks = await session.allTasks
        sim_trace("\(tasks.count) tasks are there")
        if network.hasFaults, await delegate.isInvalid() { return }
        if !process.isLast {
            await begin(Int(sim_random(12)), session, delegate, servers)
            await interfere(with: session, delegate)
            return
        }
        for task in tasks { task.resume() }
        await waitForEnds()
        session.finishTasksAndInvalidate()
        await delegate.invalidated.wait()
        await checkThatNothingIsLeft()
        await servers.stop()
    }

    private func configuration() -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.background(withIdentifier: "simulated")
        configuration.runsInProcess = runsInProcess
        configuration.tlsTrustRoots = .file(path: roots.path)
        configuration.timeoutIntervalForRequest = 60
        configuration.timeoutIntervalForResource = 12 * 3600
        configuration.httpMaximumConnectionsPerHost = 1 + Int(sim_random(6))
        configuration.httpAdditionalHeaders = ["X-Client": "0", "X-Own": "own", "X-Repeats": "1000"]
        return configuration
    }

    private static let kinds: [Resource.Kind] = [
        .plain, .chunks, .close, .gzip, .slow, .moved302, .login, .parts, .parts,
    ]

    private func begin(
        _ count: Int, _ session: URLSession, _ delegate: BackgroundDelegate, _ servers: Servers
    ) async {
        for index in 0..<count {
            let isUpload = sim_random(3) == 0
            let kind = isUpload ? .echo : Self.kinds[Int(sim_random(UInt64(Self.kinds.count)))]
            let length = Int(sim_random(sim_random(3) == 0 ? 2_000_000 : 20_000))
            let resource = Resource(kind, client: 0, number: sim_random(1 << 40), length: length).orChanging
            let transfer = Transfer(Int(process.number) * 1000 + index, isUpload: isUpload, resource)
            let url = servers.url(resource, at: servers.all[Int(sim_random(3))])
            let task = isUpload ? upload(transfer, to: url, session) : session.downloadTask(with: url)
            if sim_random(5) == 0 { task.earliestBeginDate = Date(timeIntervalSinceNow: Double(sim_random(4000))) }
            task.priority = Float(sim_random(10)) / 10
            await start(task, transfer, delegate)
            if sim_random(2) == 0 { try? await Task.sleep(for: .milliseconds(Int(sim_random(20_000)))) }
        }
    }

    private func upload(_ transfer: Transfer, to url: URL, _ session: URLSession) -> URLSessionTask {
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        let file = folder.appendingPathComponent("sources/\(transfer.number)")
        let body = Data(transfer.resource.body())
        if !FileManager.default.createFile(atPath: file.path, contents: body) { ledger.violation("no file to upload") }
        return session.uploadTask(with: request, fromFile: file)
    }

    /// When `resume()` returns, the transfer is in the journal, unless the session could not attach to it.
    private func start(_ task: URLSessionTask, _ transfer: Transfer, _ delegate: BackgroundDelegate) async {
        task.taskDescription = transfer.name
        task.resume()
        if network.hasFaults, await delegate.isInvalid() { return }
        notes.add(.begun, transfer)
    }

    /// Suspends, cancels and resumes; the daemon ends, and the networks change.
    private func interfere(with session: URLSession, _ delegate: BackgroundDelegate) async {
        for round in 0..<Int(sim_random(20)) {
            try? await Task.sleep(for: .milliseconds(Int(sim_random(sim_random(2) == 0 ? 2000 : 600_000))))
            let tasks = await session.allTasks.sorted { $0.taskIdentifier < $1.taskIdentifier }
            guard !tasks.isEmpty else { continue }
            let task = tasks[Int(sim_random(UInt64(tasks.count)))]
            switch sim_random(8) {
            case 0: task.suspend()
            case 1: for task in tasks { task.resume() }
            case 2: cancel(task)
            case 3: await resumeElsewhere(task, session, delegate, Int(process.number) * 1000 + 500 + round)
            case 4: SimulatedDaemon.shared.stop()
            case 5: sim_change_networks(300)
            case 6: sim_stop_networks(60_000_000_000)
            default: break
            }
        }
    }

    private func cancel(_ task: URLSessionTask) {
        guard let transfer = task.taskDescription.flatMap({ Transfer(name: $0) }) else { return }
        notes.add(.cancelled, transfer)
        task.cancel()
    }

    /// Cancels a download, and begins another one with its resume data.
    private func resumeElsewhere(
        _ task: URLSessionTask, _ session: URLSession, _ delegate: BackgroundDelegate, _ number: Int
    ) async {
        guard let download = task as? URLSessionDownloadTask,
            let transfer = task.taskDescription.flatMap({ Transfer(name: $0) })
        else { return }
        notes.add(.cancelled, transfer)
        guard let data = await download.cancelByProducingResumeData() else { return }
        let following = Transfer(number, isUpload: false, transfer.resource)
        await start(session.downloadTask(withResumeData: data), following, delegate)
    }

    // MARK: The end

    private func waitForEnds() async {
        let end = sim_time() + UInt64(Self.timeToEnd * 1e9)
        while !notes.pending.isEmpty, sim_time() < end { try? await Task.sleep(for: .seconds(60)) }
        // Calls fail, and power is lost, but nothing damages a file.
        if process.files.contains(where: { $0.hasSuffix(".damaged") }) { ledger.violation("the journal is put aside") }
        for transfer in notes.pending { ledger.violation("\(transfer.name) has not ended") }
    }

    private func checkThatNothingIsLeft() async {
        try? await Task.sleep(for: .seconds(3600))
        if SimulatedDaemon.shared.isRunning { ledger.violation("the daemon goes on without anything to do") }
        let left = process.files.filter { path in [".part", ".upload", ".decoded"].contains { path.hasSuffix($0) } }
        for path in left { ledger.violation("the file \(path) is left") }
    }
}
