extension [String] {
    /// The elements with a separator between them, as `joined(separator:)` returns them.
    ///
    /// For the way of a process's first load: the first use of `joined` looks through all of the program's conformances.
    package func joined(by separator: String) -> String {
        dropFirst().reduce(into: first ?? "") { $0 += separator + $1 }
    }
}
