import Figures

/// One implementation in a ``Comparison``.
struct Contender {
    let implementation: String
    /// What is to be recorded besides the time.
    let figures: [Figure]
    /// Does the work once, and gives what came of it (a number of fields, or of bytes): the same for all contenders.
    let work: () throws -> Int

    init(_ implementation: String, figures: [Figure] = [], _ work: @escaping () throws -> Int) {
        self.implementation = implementation
        self.figures = figures
        self.work = work
    }

    static func ours(figures: [Figure] = [], _ work: @escaping () throws -> Int) -> Contender {
        Contender("LoadingKit", figures: figures, work)
    }
}
