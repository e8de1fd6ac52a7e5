import CSimulatedSystem
import Foundation
import LoadingKit
import LoadingKitLoopbackServer

/// A scenario whose calls fail one after another: each call that it makes, with each error that this can have. After each a load
/// has ended in a proper way, and the next load of the session succeeds.
struct FaultRun: Sendable {
    struct Scenario: Sendable {
        enum Server: CaseIterable, Sendable { case plain, secure, http2 }
        enum Way: CaseIterable, Sendable {
            case data, bytes, download, completion, delegate, upload, fileUpload, resumption, messages, stream, file,
                store
            case backgroundDownload, backgroundUpload
        }

        enum Proxy: Sendable { case http, socks }

        let server: Server
        let way: Way
        let kind: Resource.Kind
        var hasDiskCache = false
        var proxy: Proxy?
        var length = 3000
        var name: String {
            "\(server) \(way) \(kind)\(hasDiskCache ? " on disk" : "")\(proxy.map { " by \($0) proxy" } ?? "")"
        }

        var isInBackground: Bool { way == .backgroundDownload || way == .backgroundUpload }
    }

    static let scenarios: [Scenario] =
        Scenario.Server.allCases.flatMap { server in
            [
                Scenario(server: server, way: .data, kind: .plain), Scenario(server: server, way: .data, kind: .chunks),
                Scenario(server: server, way: .data, kind: .gzip), Scenario(server: server, way: .data, kind: .close),
                Scenario(server: server, way: .data, kind: .slow),
                Scenario(server: server, way: .data, kind: .moved302),
                Scenario(server: server, way: .data, kind: .login), Scenario(server: server, way: .data, kind: .cached),
                Scenario(server: server, way: .data, kind: .cached, hasDiskCache: true),
                Scenario(server: server, way: .bytes, kind: .plain), Scenario(server: server, way: .bytes, kind: .gzip),
                Scenario(server: server, way: .download, kind: .plain),
                Scenario(server: server, way: .download, kind: .chunks),
                Scenario(server: server, way: .completion, kind: .plain),
                Scenario(server: server, way: .delegate, kind: .plain),
                Scenario(server: server, way: .delegate, kind: .slow),
                Scenario(server: server, way: .upload, kind: .echo),
                Scenario(server: server, way: .upload, kind: .moved307),
                Scenario(server: server, way: .resumption, kind: .parts),
                Scenario(server: server, way: .messages, kind: .plain),
            ]
        }
        + Scenario.Server.allCases.flatMap { server in
            [
                Scenario(server: server, way: .backgroundDownload, kind: .plain),
                Scenario(server: server, way: .backgroundDownload, kind: .gzip),
                Scenario(server: server, way: .backgroundUpload, kind: .echo),
                Scenario(server: server, way: .stream, kind: .plain),
                Scenario(server: server, way: .data, kind: .plain, proxy: .http),
                Scenario(server: server, way: .data, kind: .plain, proxy: .socks),
            ]
        } + [
            Scenario(server: .plain, way: .file, kind: .plain),
            // So long that the system sends a part of it by itself.
            Scenario(server: .plain, way: .fileUpload, kind: .echo, length: 400_000),
            Scenario(server: .plain, way: .store, kind: .echo, length: 400_000),
        ]

    /// The errors that calls can have (their manual pages), as far as a program can meet them.
    private static let errors: [(name: String, errors: [Int32])] = [
        ("socket", [EMFILE, ENOBUFS, EAFNOSUPPORT]),
        ("connect", [ECONNREFUSED, ENETUNREACH, ETIMEDOUT, EADDRNOTAVAIL, EINTR]),
        ("recv", [ECONNRESET, ETIMEDOUT, EINTR, ENOMEM]), ("send", [EPIPE, ECONNRESET, EINTR, ENOBUFS]),
        ("sendmsg", [EPIPE, ECONNRESET, EINTR]), ("sendfile", [EPIPE, EINVAL, EINTR]), ("shutdown", [ENOTCONN]),
        ("close", [EINTR, EIO]),
        ("getsockopt", [ENOBUFS]), ("setsockopt", [ENOPROTOOPT, ENOMEM]), ("getsockname", [ENOBUFS]),
        ("epoll_create1", [EMFILE]), ("epoll_ctl", [ENOMEM, ENOSPC]), ("epoll_wait", [EINTR]), ("eventfd", [EMFILE]),
        ("open", [EMFILE, ENOSPC, EACCES, EINTR]), ("read", [EIO, EINTR]), ("write", [ENOSPC, EIO, EINTR, EDQUOT]),
        ("pread", [EIO]), ("preadv2", [EAGAIN, EOPNOTSUPP]), ("pwrite", [ENOSPC, EIO]), ("fsync", [EIO]),
        ("ftruncate", [EIO, ENOSPC]), ("rename", [EXDEV, ENOSPC, EACCES]), ("link", [EXDEV, ENOSPC, EMLINK]),
        ("unlink", [EACCES, EIO]), ("mkdir", [ENOSPC, EACCES]), ("getaddrinfo", [EMFILE]),
        ("pthread_create", [EAGAIN]), ("libcrypto", [ENOMEM]), ("libssl", [ENOMEM]), ("libz", [ENOMEM]),
        ("libsqlite3", [ENOMEM]),
    ]
    /// A handshake allocates thousands of times. Of more calls than this, some are chosen.
    private static let mostCalls: UInt64 = 150

    let scenario: Scenario
    let ledger: Ledger

    static func run(scenario number: Int, isTraced: Bool) -> Never {
        World.prepare(isTraced)
        sim_begin(UInt64(number) + 1)
        let run = FaultRun(scenario: scenarios[number], ledger: Ledger())
        World.waitFor { await run.failEachCall() }
        for violation in run.ledger.violations { print("\(run.scenario.name): \(violation)") }
        print("\(run.scenario.name): \(run.ledger.summary)")
        fflush(nil)
        _exit(run.ledger.violations.isEmpty ? 0 : 1)
    }

    private func failEachCall() async {
        do {
            let servers = try await Servers.make(ledger)
            Network.clean.begin()
            await load(servers, .clean, (name: "", number: 0, error: 0))
            for (name, errors) in Self.errors {
                let count = await load(servers, .clean, (name: name, number: 0, error: 0))
                if count > 0 { sim_trace("\(name) is called \(count) times") }
                for number in Self.chosen(count) {
                    for error in errors { await load(servers, .faulty, (name, number, error)) }
                }
            }
            await servers.stop()
        } catch {
            ledger.violation("the servers could not be made: \(error)")
        }
    }

    private static func chosen(_ count: UInt64) -> [UInt64] {
        guard count > mostCalls else { return count == 0 ? [] : Array(1...count) }
        let step = count / mostCalls + 1
        return stride(from: 1 + sim_random(step), through: count, by: Int(step)).map { $0 }
    }

    /// A session that loads, while a call fails, and loads once more. Returns how many such calls there were in the first load.
    @discardableResult
    private func load(
        _ servers: Servers, _ network: Network, _ failing: (name: String, number: UInt64, error: Int32)
    ) async -> UInt64 {
        if failing.number > 0 {
            ledger.context = "\(failing.name) \(failing.number) fails with \(failing.error)"
            ledger.note("calls failed")
        }
        let count =
            scenario.isInBackground
            ? await loadInBackground(servers, failing) : await loadTwice(servers, network, failing)
        ledger.context = ""
        return count
    }

    /// Two loads of one session. Returns how many such calls there were in the first.
    private func loadTwice(
        _ servers: Servers, _ network: Network, _ failing: (name: String, number: UInt64, error: Int32)
    ) async -> UInt64 {
        let delegate = SessionDelegate(0, ledger)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "cache-\(UInt64.random(in: .min ... .max))")
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tlsTrustRoots = .pem(servers.certificate)
        configuration.timeoutIntervalForRequest = 20
        configuration.retriesUnansweredRequests = false
        configuration.connectionProxyDictionary = scenario.proxy.map { servers.settings(of: $0) }
        if scenario.hasDiskCache {
            configuration.urlCache = URLCache(memoryCapacity: 0, diskCapacity: 1 << 20, directory: folder)
        }
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        sim_fail_call(failing.name, failing.number, failing.error)
        await once(session, servers, network)
        let count = sim_call_count(failing.name)
        sim_fail_call("", 0, 0)
        await once(session, servers, .clean)
        session.finishTasksAndInvalidate()
        await delegate.invalidated.wait()
        try? FileManager.default.removeItem(at: folder)
        return count
    }

    /// Two background sessions, one after the other, with a transfer each: the first one may become invalid.
    private func loadInBackground(
        _ servers: Servers, _ failing: (name: String, number: UInt64, error: Int32)
    ) async -> UInt64 {
        let resource = Resource(scenario.kind, client: 0, number: sim_random(.max / 2), length: scenario.length)
        let load = BackgroundLoad(
            resource, servers.url(resource, at: server(of: servers)), isUpload: scenario.way == .backgroundUpload,
            servers.certificate, ledger)
        sim_fail_call(failing.name, failing.number, failing.error)
        await load.run(mayFail: failing.number > 0)
        let count = sim_call_count(failing.name)
        sim_fail_call("", 0, 0)
        await load.run(mayFail: false)
        load.remove()
        return count
    }

    private func server(of servers: Servers) -> LoopbackServer {
        switch scenario.server {
        case .plain: servers.plain
        case .secure: servers.secure
        case .http2: servers.http2
        }
    }

    private func once(_ session: URLSession, _ servers: Servers, _ network: Network) async {
        let resource = Resource(scenario.kind, client: 0, number: sim_random(.max / 2), length: scenario.length)
        let load = Load(resource, servers.url(resource, at: server(of: servers)), network, ledger, disturbs: false)
        switch scenario.way {
        case .data: await load.data(session)
        case .bytes: await load.bytes(session)
        case .download: await load.download(session)
        case .completion: await load.withCompletionHandler(session)
        case .delegate: await load.withDelegate(session)
        case .upload: await load.upload(session)
        case .fileUpload: await load.upload(session, in: .file)
        case .resumption: await load.downloadWithResumption(session)
        case .messages: await load.messages(session)
        case .stream: await StreamLoad(resource, load.url, network, ledger, disturbs: false).run(session)
        case .file: await load.file(session, servers.files)
        case .store:
            // Its server does all well.
            let even = Resource(.echo, client: 0, number: resource.number & ~1, length: resource.length)
            await FTPUpload(even, servers.uploads, network, ledger, disturbs: false).run(session, from: .file)
        case .backgroundDownload, .backgroundUpload: break
        }
    }
}
