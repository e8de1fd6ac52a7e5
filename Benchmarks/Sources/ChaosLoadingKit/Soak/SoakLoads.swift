import Foundation
import LoadingKit

/// The random loads of one worker.
struct SoakLoads: Sendable {
    private var state: UInt64
    let plan: SoakPlan
    let ledger: SoakLedger

    init(_ worker: Int, _ plan: SoakPlan, _ ledger: SoakLedger) {
        state = plan.seed &+ UInt64(worker) &* 0x9E37_79B9_7F4A_7C15
        (self.plan, self.ledger) = (plan, ledger)
    }

    /// A random number below `count` (SplitMix64).
    mutating func pick(_ count: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((value ^ (value >> 31)) % UInt64(max(1, count)))
    }

    mutating func loadOnce(in soakSession: SoakSession) async {
        guard let session = soakSession.session else { return }
        let kind = SoakKind.allCases[pick(SoakKind.allCases.count)]
        let servers = kind.servers(plan, throughProxy: soakSession.usesProxy)
        let version = servers.keys.sorted()[pick(servers.count)]
        guard let base = servers[version] else { return }
        let size = SoakContent.sizes[pick(SoakContent.sizes.count)]
        let load = SoakLoad(
            session: session, number: soakSession.number, base: base, size: size, chance: pick(1000), plan: plan,
            ledger: ledger)
        let number = ledger.begin("\(kind) \(version)")
        do {
            try await kind.run(load)
            ledger.end(number)
        } catch let fault as SoakFault where soakSession.usesProxy && fault.status == 502 {
            // The proxy's connection to a server that was being reloaded.
            ledger.end(number, expected: "\(fault)")
        } catch let fault as SoakFault {
            ledger.end(number, fault: "\(kind) \(version): \(fault)")
        } catch {
            let code = (error as? URLError)?.code
            let mayEnd = soakSession.isInvalidated.load(ordering: .sequentiallyConsistent) && code == .cancelled
            if mayEnd {
                ledger.end(number, expected: "its session ended")
            } else if let code, kind.expects(code) {
                ledger.end(number, expected: "\(code.rawValue)")
            } else {
                let text = code.map { "\($0.rawValue) \(error.localizedDescription)" } ?? "\(error)"
                let fault = "\(kind) \(version): \(text)"
                ledger.end(number, fault: fault)
                let record = (error as? URLError)?.loadRecord ?? "no record"
                FileHandle.standardError.write(Data("\(fault)\n\(record)\n".utf8))
            }
        }
    }
}

/// One load's session, server and size.
struct SoakLoad: Sendable {
    let session: URLSession
    /// The session's number.
    let number: Int
    let base: URL
    let size: Int
    /// A random number below 1,000.
    let chance: Int
    let plan: SoakPlan
    let ledger: SoakLedger

    func url(_ path: String) -> URL { URL(string: path, relativeTo: base)?.absoluteURL ?? base }

    var file: URL { url("files/\(size)") }
}
