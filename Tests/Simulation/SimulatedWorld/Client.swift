import CSimulatedSystem
import Foundation
import LoadingKit
import Logging

/// A program with a session of its own, which loads what the seed decides, in ways that the seed decides.
struct Client: Sendable {
    private let number: Int
    private let servers: Servers
    private let ledger: Ledger
    private let network: Network

    init(_ number: Int, _ servers: Servers, _ ledger: Ledger, _ network: Network) {
        (self.number, self.servers, self.ledger, self.network) = (number, servers, ledger, network)
    }

    /// Does operations, several at a time, and invalidates the session.
    func live(_ operations: Int) async {
        let delegate = SessionDelegate(number, ledger)
        ledger.mustEnd(delegate, "the delegate of client \(number)")
        let session = URLSession(configuration: configuration(), delegate: delegate, delegateQueue: nil)
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<(1 + Int(sim_random(5))) {
                group.addTask {
                    for _ in 0..<operations / (lane + 1) { await operate(session) }
                }
            }
        }
        if sim_random(2) == 0 { session.invalidateAndCancel() } else { session.finishTasksAndInvalidate() }
        await delegate.invalidated.wait()
    }

    private func configuration() -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tlsTrustRoots = .pem(servers.certificate)
        configuration.httpMaximumConnectionsPerHost = 1 + Int(sim_random(6))
        configuration.httpShouldUsePipelining = sim_random(4) == 0
        configuration.retriesUnansweredRequests = sim_random(3) == 0
        configuration.httpAdditionalHeaders = ["X-Client": "\(number)"]
        // A session that identifies its user by itself.
        if sim_random(4) == 0 { configuration.httpAdditionalHeaders?["Authorization"] = Servers.login(of: number) }
        if configuration.retriesUnansweredRequests { configuration.httpAdditionalHeaders?["X-Repeats"] = "1" }
        configuration.interceptors = Interceptors.chosen(number)
        configuration.connectionProxyDictionary = servers.proxySettings()
        configuration.logger = Logger(label: "client") { [number] _ in TraceLog(client: number) }
        return configuration
    }

    // MARK: Operations

    private static let kinds = Resource.Kind.allCases.filter { ![.guest, .hostileHTTP2, .changing].contains($0) }

    private func operate(_ session: URLSession) async {
        var kind = Self.kinds[Int(sim_random(UInt64(Self.kinds.count)))]
        let isShared = [.cached, .personal].contains(kind)
        var length = sim_random(3) == 0 ? Int(sim_random(300_000)) : Int(sim_random(3000))
        var number = isShared ? sim_random(3) : sim_random(.max / 2)
        // A request that is sent ahead gets for its answer what follows the response before it.
        if session.configuration.httpShouldUsePipelining, Hostility(number) == .surplus { number += 1 }
        if kind == .hostile, number >> 32 % 2 == 0 { kind = .hostileHTTP2 }
        // Of a file as long as this the system sends a part by itself.
        if kind == .echo, number >> 32 % 4 == 0 { length += 400_000 }
        if sim_random(4) == 0 { try? await Task.sleep(for: .milliseconds(Int(sim_random(5000)))) }
        if network.mayFallSilent {
            switch sim_random(40) {
            case 0: sim_change_networks(300)
            case 1: sim_stop_networks(60_000_000_000)
            default: break
            }
        }
        // Requests that wait get the connections of those before them, after what a hostile server has sent there. Several
        // that may not be sent again are lost together.
        let count = [.hostile, .hostileHTTP2, .echo].contains(kind) ? 1 + sim_random(4) : 1
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                let resource = Resource(
                    kind, client: self.number, number: number &+ index &* UInt64(Hostility.allCases.count),
                    length: isShared ? 500 : length
                ).orChanging
                group.addTask { await load(resource, session) }
            }
        }
    }

    private func load(_ resource: Resource, _ session: URLSession) async {
        let load = Load(resource, servers.url(resource), network, ledger)
        switch resource.kind {
        case .echo where sim_random(3) == 0:
            await FTPUpload(resource, servers.uploads(for: resource), network, ledger).run(session)
        case .echo, .moved307: await load.upload(session)
        case .hostileHTTP2 where sim_random(3) == 0: await load.upload(session)
        case .distrusted: await load.withOrWithoutTrust(session)
        case .talk: await load.listen(session)
        case .parts where sim_random(2) == 0, .changing where sim_random(2) == 0:
            await load.downloadWithResumption(session)
        case .plain where sim_random(6) == 0: await load.messages(session)
        case .plain where sim_random(6) == 0: await load.file(session, servers.files(for: resource))
        case .plain where sim_random(6) == 0:
            await StreamLoad(resource, servers.url(resource), network, ledger).run(session)
        default:
            switch sim_random(5) {
            case 0: await load.data(session)
            case 1: await load.bytes(session)
            case 2: await load.download(session)
            case 3: await load.withCompletionHandler(session)
            default: await load.withDelegate(session)
            }
        }
    }
}
