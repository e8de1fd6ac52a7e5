import Foundation
import LoadingKit
import LoadingKitLoopbackServer

// Reaches a limit of the process on purpose, in a process of its own, loads, and leaves the limit again; or has many of
// something, and counts threads. Prints what happens, a line each; run by tests.
//
//     ExhaustionProbe threads|memory|bound
//     ExhaustionProbe descriptors PORT   of a server in another process, which has descriptors of its own
//     ExhaustionProbe disk FOLDER        the folder is a small file system of its own

let arguments = CommandLine.arguments.dropFirst()
let parameter = arguments.dropFirst().first ?? ""
if arguments.first == "descriptors" {
    await DescriptorsProbe(port: parameter).run()
    exit(0)
}
let server = try LoopbackServer(route: Answers.route)
let loads = Loads(server)
switch arguments.first {
case "threads": try await ThreadsProbe(loads).run()
case "memory": try await MemoryProbe(loads).run()
case "bound": try await BoundProbe(loads).run()
case "disk": try await DiskProbe(loads, parameter).run()
case _: exit(2)
}
exit(0)
