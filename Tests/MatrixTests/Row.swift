import MatrixPaths

/// A setting of the configuration, or a property of a request, and what is known of it on each path.
struct Row: Sendable {
    enum Subject: String, Sendable, CaseIterable {
        case configuration, request
    }

    enum Cell: Sendable {
        /// Observes the effect.
        case test(@Sendable (MatrixPath) async throws -> Void)
        /// Observes that there is none, as there should be.
        case open(String, @Sendable (MatrixPath) async throws -> Void)
        /// Why there is none, or none that a test could see.
        case reason(String)
    }

    let subject: Subject
    /// As the stored property is called.
    let name: String
    /// What the page calls it, where that is something else.
    var title: String?
    private(set) var cells: [(path: MatrixPath, cell: Cell)] = []

    private init(_ subject: Subject, _ name: String, _ title: String?) {
        self.subject = subject
        self.name = name
        self.title = title
    }

    static func setting(_ name: String, _ title: String? = nil) -> Row { Row(.configuration, name, title) }

    static func property(_ name: String, _ title: String? = nil) -> Row { Row(.request, name, title) }

    /// - Parameter test: is run for each of the paths.
    func on(_ paths: [MatrixPath], _ test: @escaping @Sendable (MatrixPath) async throws -> Void) -> Row {
        adding(paths, .test(test))
    }

    /// - Parameter what: what is wrong there.
    func open(
        _ paths: [MatrixPath], _ what: String, _ test: @escaping @Sendable (MatrixPath) async throws -> Void
    ) -> Row {
        adding(paths, .open(what, test))
    }

    func not(_ paths: [MatrixPath], _ reason: String) -> Row { adding(paths, .reason(reason)) }

    /// On all paths that nothing was said about yet.
    func elsewhere(_ reason: String) -> Row { adding(empty, .reason(reason)) }

    /// On all paths that nothing was said about yet.
    func elsewhere(_ test: @escaping @Sendable (MatrixPath) async throws -> Void) -> Row { adding(empty, .test(test)) }

    var empty: [MatrixPath] { MatrixPath.allCases.filter { path in !cells.contains { $0.path == path } } }

    func cell(_ path: MatrixPath) -> Cell? { cells.first { $0.path == path }?.cell }

    private func adding(_ paths: [MatrixPath], _ cell: Cell) -> Row {
        var row = self
        row.cells += paths.map { ($0, cell) }
        return row
    }
}

extension MatrixPath {
    /// Makes a trial, and runs it.
    func run(_ change: (inout Trial) -> Void = { _ in }) async throws -> Observation {
        var trial = Trial(self)
        change(&trial)
        return try await trial.run()
    }

    static func all(but paths: [MatrixPath]) -> [MatrixPath] { allCases.filter { !paths.contains($0) } }
}

/// Reasons that several settings share.
enum Reason {
    static let streamFields = "A stream task sends the program's bytes alone, and no request."
    static let ftpFields = "FTP has commands, and no fields."
    static let noEffect = "Has no effect on any path, as its documentation says."
    static let backgroundAlone = "Of background sessions alone."
}
