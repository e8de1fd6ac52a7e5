import Foundation

// Stores things for ever, and says which it knows to be safe: `StoreWriter cookies FILE` or `StoreWriter responses FOLDER`.
// It is killed while it does so, again and again.
//
// For each line `FIRST-STEP ACKNOWLEDGEMENTS MICROSECONDS` of the input it starts this program once more, with the first
// step as another argument, which stores from that step on; kills it so long after so many acknowledgements; and says which
// was the last step that was acknowledged.

let arguments = CommandLine.arguments
guard arguments.count >= 3, let kind = StoreKind(rawValue: arguments[1]) else { exit(2) }
let path = arguments[2]
if arguments.count == 4 {
    guard let first = Int(arguments[3]) else { exit(2) }
    kind.store(at: path, from: first, acknowledging: STDOUT_FILENO)
}

while let line = readLine() {
    let numbers = line.split(separator: " ").compactMap { Int($0) }
    guard numbers.count == 3 else { exit(2) }
    let writer = try KilledWriter(kind, path, from: numbers[0])
    let last = writer.killed(afterLines: numbers[1], andMicroseconds: UInt32(numbers[2]))
    FileHandle.standardOutput.write(Data("\(last)\n".utf8))
}
