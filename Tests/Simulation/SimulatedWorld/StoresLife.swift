import CSimulatedSystem
import Foundation
import LoadingKit
import Logging

/// One process of a program that changes its cookies, credentials, secure hosts and cached responses. It checks first what
/// the processes before it have left of them.
struct StoresLife: Sendable {
    /// The time in which a process ends, in seconds.
    private static let time: UInt64 = 300
    /// The greatest number of changes of a store.
    private static let mostChanges: UInt64 = 100

    private let process: SeedProcess
    private let ledger = Ledger()
    private let notes: [StoreNotes]
    /// Calls of files fail in some processes. There are no networks.
    private let network: Network

    /// Lives, and ends the process.
    static func run(_ number: UInt64, isTraced: Bool) -> Never {
        World.prepare(isTraced)
        LoggingSystem.bootstrap { _ in TraceLog(client: 0) }
        let process = SeedProcess(number)
        let names = [
            SimulatedCookies.name, SimulatedCredentials.name, SimulatedSecureHosts.name, SimulatedCache.name,
        ]
        let notes = names.map { StoreNotes($0, process) }
        sim_begin(number)
        sim_set_time((notes.map(\.lastTime).max() ?? 0) + 10_000_000_000)
        let life = StoresLife(process, notes)
        World.waitFor { await life.live() }
        World.end("process \(process.number)", life.network, life.ledger, isTraced, status: process.status)
    }

    private init(_ process: SeedProcess, _ notes: [StoreNotes]) {
        (self.process, self.notes) = (process, notes)
        network = process.isLast ? .clean : Network()
    }

    private func live() async {
        process.useDisk()
        let losesPower = !process.isLast && process.chooseEnd(seconds: Self.time)
        if losesPower { for notes in notes { notes.becomeUncertain() } }
        await use(losesPower)
        guard process.isLast else { return }
        // The stores are gone: those that are made now read the disk.
        await settle()
        _ = await stores(losesPower)
        await settle()
        await checkFiles()
    }

    private typealias Stores = (SimulatedCookies, SimulatedCredentials, SimulatedSecureHosts, SimulatedCache)

    private func stores(_ losesPower: Bool) async -> Stores {
        async let cookies = checked(SimulatedCookies.self, notes[0], losesPower)
        async let credentials = checked(SimulatedCredentials.self, notes[1], losesPower)
        async let hosts = checked(SimulatedSecureHosts.self, notes[2], losesPower)
        async let cache = checked(SimulatedCache.self, notes[3], losesPower)
        return await (cookies, credentials, hosts, cache)
    }

    private func use(_ losesPower: Bool) async {
        let stores = await stores(losesPower)
        network.begin()
        if network.hasFaults { for notes in notes { notes.becomeUncertain() } }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await change(stores.0, notes[0]) }
            group.addTask { await change(stores.1, notes[1]) }
            group.addTask { await change(stores.2, notes[2]) }
            group.addTask { await change(stores.3, notes[3]) }
        }
    }

    /// The store, with the contents that it has on the disk, which are compared with the truth.
    private func checked<Store: SimulatedStore>(
        _: Store.Type, _ notes: StoreNotes, _ losesPower: Bool
    ) async -> Store {
        let store = Store()
        let found = store.contents
        if let fault = notes.fault(in: found, isCertain: Store.isCertain) {
            ledger.violation("\(Store.name): \(fault)")
        }
        // Calls fail, and power is lost, but nothing damages a file.
        if process.files.contains(where: { $0.hasSuffix("/\(Store.file).damaged") }) {
            ledger.violation("\(Store.name): the file is put aside as damaged")
        }
        notes.didFind(found)
        if losesPower { notes.becomeUncertain() }
        return store
    }

    /// Waits until no thread uses a store any more that nothing refers to.
    private func settle() async { try? await Task.sleep(for: .seconds(1)) }

    private func change<Store: SimulatedStore>(_ store: Store, _ notes: StoreNotes) async {
        for index in 0..<Int(sim_random(Self.mostChanges)) {
            store.change(Int(process.number) * 1000 + index, notes)
            switch sim_random(10) {
            case 0: await flush(store, notes)
            case 1: try? await Task.sleep(for: .milliseconds(Int(sim_random(20_000))))
            case 2 where Store.isWhollyOnDisk && !network.hasFaults: compare(store, notes)
            case 3 where sim_random(5) == 0 && !network.hasFaults:
                await flush(store, notes)
                compare(Store(), notes)
            default: break
            }
        }
        if process.isLast || sim_random(2) == 0 { await flush(store, notes) }
    }

    private func flush(_ store: some SimulatedStore, _ notes: StoreNotes) async {
        let count = notes.changeCount
        await store.flush()
        if !network.hasFaults { notes.didFlush(count) }
    }

    private func compare(_ store: some SimulatedStore, _ notes: StoreNotes) {
        let found = store.contents
        if found != notes.contents { ledger.violation("\(notes.store): \(found) is there, not \(notes.contents)") }
    }

    // MARK: Files

    private static let files: Set<String> = [
        "Cookies.sqlite", "Credentials.sqlite", "Credentials.key", "StrictTransport.sqlite", "Responses.sqlite",
        "Responses.key", "Lock",
    ]

    /// Each file belongs to a store.
    private func checkFiles() async {
        let count = SimulatedCache().fileCount
        let files = process.files.filter { path in
            let isFolder = (try? FileManager.default.contentsOfDirectory(atPath: process.disk.path + "/" + path)) != nil
            return !isFolder
        }
        let contents = files.filter { $0.contains("/Contents/") }
        if contents.count != count {
            ledger.violation("\(contents.count) files have contents of \(count) responses")
        }
        for path in files where !contents.contains(path) {
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            let plain = ["-wal", "-shm"].reduce(name) { $0.hasSuffix($1) ? String($0.dropLast($1.count)) : $0 }
            if !Self.files.contains(plain) { ledger.violation("the file \(path) is left") }
        }
    }
}
