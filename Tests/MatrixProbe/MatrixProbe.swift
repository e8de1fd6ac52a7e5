import CTestNetworks
import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import MatrixPaths

/// Loads by each path in a network namespace of its own, whose only interface is one of a modem. Prints what was seen, a line for
/// each path; run by tests.
///
///     unshare --user --map-root-user --net MatrixProbe open|cellular|expensive|requestCellular|requestExpensive
@main enum MatrixProbe {
    static func main() async {
        let mode = CommandLine.arguments.dropFirst().first ?? ""
        guard lk_test_rename("lo", "wwan0") == 0, lk_test_bring_up("wwan0") == 0 else { return print("no network") }
        await withTaskGroup(of: String.self) { group in
            for path in MatrixPath.allCases { group.addTask { await line(path, mode) } }
            for await line in group { print(line) }
        }
    }

    /// The path, how many connections its server has accepted, and the load's error.
    private static func line(_ path: MatrixPath, _ mode: String) async -> String {
        var trial = Trial(path)
        trial.configure = { configuration in
            configuration.allowsCellularAccess = mode != "cellular"
            configuration.allowsExpensiveNetworkAccess = mode != "expensive"
            // A transfer in the background is tried again until then.
            if MatrixPath.background.contains(path) { configuration.timeoutIntervalForResource = 2 }
        }
        if mode.hasPrefix("request") {
            trial.hasFirstPart = false
            trial.change = { request in
                request.allowsCellularAccess = mode != "requestCellular"
                request.allowsExpensiveNetworkAccess = mode != "requestExpensive"
            }
        }
        do {
            let seen = try await trial.run()
            return "\(path)|\(seen.connections)|\(seen.outcome?.code?.rawValue ?? 0)"
        } catch {
            return "\(path)|0|\(error)"
        }
    }
}
