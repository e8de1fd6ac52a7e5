import Glibc

// SimulatedWorld [--seeds FIRST-LAST | --background FIRST-LAST | --stores FIRST-LAST] [--seconds N] [--trace]
// SimulatedWorld --faults [FIRST-LAST] [--trace]
//
// Each seed runs in a process of its own. A seed that fails is printed with what was wrong; the same seed fails in the same way
// again. A background seed is several processes, one after another, and so is one of stores. With `--faults`, each scenario of a
// table runs once for each call that it makes and each error which that can have.
let arguments = CommandLine.arguments
if arguments.count == 4, let mode = Mode(rawValue: arguments[1]), let number = UInt64(arguments[2]) {
    mode.run(number, isTraced: arguments[3] == "--trace")
}
exit(Runner(Array(arguments.dropFirst())).run())
