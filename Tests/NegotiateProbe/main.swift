import Foundation
import LoadingKit
import LoadingKitNegotiate

// Loads what its argument says, with Negotiate installed, and prints what came of it. The tests run it with Kerberos
// configurations of their own.

let arguments = CommandLine.arguments
guard arguments.count == 2 else { exit(2) }
let plan = try JSONDecoder().decode(Plan.self, from: Data(arguments[1].utf8))
let report = await Run(plan).report()
FileHandle.standardOutput.write(try JSONEncoder().encode(report))
