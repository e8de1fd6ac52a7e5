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
        if configuration.retriesUnansweredRequests { configuration.httpAdditionalHeaders?["X-Repeats"] = "1" }
        configuration.interceptors = Interceptors.chosen(number)
        configuration.connectionProxyDictionary = servers.proxySettings()
        configuration.logger = Logger(label: "client") { [number] _ in TraceLog(client: number) }
        return configuration
    }

    // MARK: Operations

    private func operate(_ session: URLSession) async {
        let kind = Resource.Kind.allCases[Int(sim_random(UInt64(Resource.Kind.allCases.count)))]
        let length = sim_random(3) == 0 ? Int(sim_random(300_000)) : Int(sim_random(3000))
        let number = kind == .cached ? sim_random(3) : sim_random(.max / 2)
        let resource = Resource(kind, client: self.number, number: number, length: kind == .cached ? 500 : length)
        let load = Load(resource, servers.url(resource), network, ledger)
        if sim_random(4) == 0 { try? await Task.sleep(for: .milliseconds(Int(sim_random(5000)))) }
        if !network.isReliable, sim_random(40) == 0 { sim_change_networks(300) }
        switch kind {
        case .echo, .moved307: await load.upload(session)
        case .parts where sim_random(2) == 0: await load.downloadWithResumption(session)
        case .plain where sim_random(6) == 0: await load.messages(session)
        case .plain where sim_random(6) == 0: await load.file(session, servers.files)
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
