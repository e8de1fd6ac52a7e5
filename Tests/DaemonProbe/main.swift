import Foundation
import LoadingKitTransfers

// The daemon with transfers that load nothing and are kept in a folder: `DaemonProbe`, with the environment variable
// DAEMON_PROBE_FOLDER, and DAEMON_PROBE_IDLE_TIME in seconds.
let environment = ProcessInfo.processInfo.environment
var limits = DaemonServer.Limits()
if let time = environment["DAEMON_PROBE_IDLE_TIME"].flatMap({ Double($0) }) { limits.idleTime = time }
let folder = environment["DAEMON_PROBE_FOLDER"] ?? "."
DaemonMain.run(limits: limits) { try KeptTransfers(folder: URL(fileURLWithPath: folder)) }
