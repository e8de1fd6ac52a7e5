import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitLoopbackServer
import MatrixPaths
import TestSupport
import Testing

/// How long a load may take, and over which networks it goes.
extension Row {
    @Sendable private static func isMarked(_ path: MatrixPath) async throws {
        let seen = try await path.run { $0.change = { $0.networkServiceType = .voice } }
        #expect(seen.outcome?.isLoaded == true)
        #expect(seen.marks == [46])
    }

    static let time: [Row] = [
        .setting("timeoutIntervalForRequest")
            .elsewhere { path in
                let seen = try await path.timedOut {
                    $0.configure = { $0.timeoutIntervalForRequest = 0.3 }
                    // A stream task's reads and writes have time-outs of their own; what this limits is to connect.
                    $0.isSecure = path == .stream
                }
                #expect(seen.connections >= 1)
            },
        .setting("timeoutIntervalForResource")
            .elsewhere { path in
                let seen = try await path.run {
                    $0.isSilent = true
                    $0.configure = { $0.timeoutIntervalForResource = 0.5 }
                }
                #expect(seen.outcome?.code == .timedOut)
            },
        .property("timeoutInterval")
            .on(MatrixPath.all(but: [.stream]), isTimedOut)
            .not([.stream], Reason.streamFields),

        .setting("networkServiceType")
            .elsewhere { path in
                let seen = try await path.run { $0.configure = { $0.networkServiceType = .voice } }
                #expect(seen.outcome?.isLoaded == true)
                #expect(seen.marks == [46])
            },
        .property("networkServiceType")
            .on(MatrixPath.all(but: [.stream]), isMarked)
            .not([.stream], Reason.streamFields),
        .setting("multipathServiceType")
            .elsewhere { path in
                let seen = try await path.run {
                    $0.isMultipath = true
                    $0.configure = { $0.multipathServiceType = .handover }
                }
                #expect(seen.outcome?.isLoaded == true)
                #expect(seen.areMultipath == [MultipathRelay.isThere])
            },
        .setting("requiredInterface")
            .elsewhere { path in
                let seen = try await path.run { $0.configure = { $0.requiredInterface = "127.0.0.9" } }
                #expect(seen.outcome?.isLoaded == true)
                #expect(seen.sockets.addresses == ["127.0.0.9"])
            },
        .setting("requiresDNSSECValidation")
            .elsewhere { path in
                try await path.asksNoProxy { $0.configure = { $0.requiresDNSSECValidation = true } }
            },
        .property("requiresDNSSECValidation")
            .on(MatrixPath.all(but: [.stream])) { path in
                try await path.asksNoProxy { $0.change = { $0.requiresDNSSECValidation = true } }
            }
            .not([.stream], Reason.streamFields),

        .setting("allowsCellularAccess").elsewhere { path in try await path.isRefused(by: .cellular) },
        .setting("allowsExpensiveNetworkAccess").elsewhere { path in try await path.isRefused(by: .expensive) },
        .property("allowsCellularAccess")
            .on(MatrixPath.all(but: [.stream])) { path in try await path.isRefused(by: .requestCellular) }
            .not([.stream], Reason.streamFields),
        .property("allowsExpensiveNetworkAccess")
            .on(MatrixPath.all(but: [.stream])) { path in try await path.isRefused(by: .requestExpensive) }
            .not([.stream], Reason.streamFields),
        .setting("waitsForConnectivity")
            .not([.stream], "A stream task does not wait: it fails.")
            .not(MatrixPath.background, "Transfers always wait.")
            .elsewhere(
                "One place has all tasks wait: tested by a network that comes later, in `HTTPTests/NetworkTests`."),
    ]
}

extension MatrixPath {
    /// Runs a trial whose server says nothing, and that fails for that; where the load is tried again after that, until it is.
    func timedOut(_ change: (inout Trial) -> Void) async throws -> Observation {
        let seen = try await run {
            $0.isSilent = true
            $0.awaitsConnection = true
            if Self.background.contains(self) { $0.isEnough = { await $0.count(reaches: 2) } }
            change(&$0)
        }
        if !Self.background.contains(self) { #expect(seen.outcome?.code == .timedOut) }
        return seen
    }

    /// A load through a proxy that looks the server's name up, which is not to be sent to it then.
    func asksNoProxy(_ change: (inout Trial) -> Void) async throws {
        let proxy = try ProxyPeer()
        defer { proxy.stop() }
        let seen = try await run {
            change(&$0)
            $0.hasFirstPart = false
            let configure = $0.configure
            $0.host = "matrix.invalid"
            $0.configure = { configuration in
                configure(configuration)
                configuration.connectionProxyDictionary = proxy.dictionary
                configuration.appTransportSecurity.allowsArbitraryLoads = true
                // A background session's load is tried again until then.
                configuration.timeoutIntervalForResource = Self.background.contains(self) ? 1 : 1000
            }
        }
        if !Self.background.contains(self) { #expect(seen.outcome?.code == .dnsLookupFailed) }
        #expect(seen.outcome?.isLoaded == false && proxy.connections == 0)
    }
}

/// A request whose own limit were lost would have the session's, for which no trial lasts long enough.
@Sendable private func isTimedOut(_ path: MatrixPath) async throws {
    let seen = try await path.timedOut {
        $0.change = { $0.timeoutInterval = 0.5 }
        // The limit is for the part that is to fail.
        $0.hasFirstPart = false
    }
    #expect(seen.connections >= 1)
}
