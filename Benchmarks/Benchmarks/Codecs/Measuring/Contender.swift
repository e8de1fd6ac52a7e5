/// One implementation in a ``Comparison``.
struct Contender {
    let implementation: String
    /// Does the work once, and gives what came of it (a number of fields, or of bytes): the same for all contenders.
    let work: () throws -> Int

    init(_ implementation: String, _ work: @escaping () throws -> Int) {
        self.implementation = implementation
        self.work = work
    }

    static func ours(_ work: @escaping () throws -> Int) -> Contender { Contender("LoadingKit", work) }
}
