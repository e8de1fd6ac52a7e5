import Foundation

/// The target that the environment names.
private let target: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    let targets = FuzzTarget.all + DifferentialTargets.all
    guard let target = targets.first(where: { $0.name == name }) else {
        print(targets.map(\.name).joined(separator: "\n"))
        exit(2)
    }
    return target
}()

/// Called once, before the first input.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ count: UnsafeMutablePointer<CInt>?, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    if let name = ProcessInfo.processInfo.environment["FUZZ_ANSWERS"] {
        Answers.answerLines(for: name)
        exit(0)
    }
    _ = target
    return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try target.run(UnsafeBufferPointer(start: bytes, count: count))
    } catch {
        fatalError("\(target.name): \(error)")
    }
    return 0
}
