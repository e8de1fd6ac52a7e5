/// A function that is called with random inputs, and throws where the library breaks its contract: any input gives a
/// result or an error of the codec's type, the same one however the input is divided.
struct FuzzTarget: Sendable {
    let name: String
    private let body: @Sendable (inout FuzzInput) throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (inout FuzzInput) throws -> Void) {
        self.name = name
        self.body = body
    }

    func run(_ bytes: some Sequence<UInt8>) throws {
        var input = FuzzInput(bytes)
        try body(&input)
    }
}

/// The failure of a target.
struct BrokenContract: Error, CustomStringConvertible {
    let description: String
}

func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
    if !condition { throw BrokenContract(description: text()) }
}

func requireEqual<Value: Equatable>(_ first: Value, _ second: Value, _ text: @autoclosure () -> String) throws {
    if first != second { throw BrokenContract(description: "\(text()): \(first) and \(second)") }
}
