import Foundation
import LoadingKit
import LoadingKitNegotiate

// Loads what its argument says, with Negotiate installed, and prints what came of it. The tests run it with Kerberos
// configurations of their own.
//
// With a URL and a number it loads the URL again and again, and ends that many microseconds after the first answer.

let arguments = CommandLine.arguments
if arguments.count == 3, let url = URL(string: arguments[1]), let delay = UInt32(arguments[2]) {
    EndlessLoads(url).run(exitingAfter: delay)
}
guard arguments.count == 2 else { exit(2) }
let plan = try JSONDecoder().decode(Plan.self, from: Data(arguments[1].utf8))
let report = await Run(plan).report()
FileHandle.standardOutput.write(try JSONEncoder().encode(report))
