/// An `#if` up to its `#endif`, at one of its lines.
struct ConditionalBlock {
    /// Whether the current branch is compiled on Linux; nil where that is not known.
    private(set) var isLinux: Bool?
    /// Whether a condition asks for FoundationNetworking, which is there on Linux also for programs with LoadingKit.
    private(set) var asksForFoundationNetworking = false
    private var hadLinux = false
    private var isElseLinux = false

    init(_ condition: String) { enter(condition) }

    /// - Parameter condition: nil for `#else`.
    mutating func enter(_ condition: String?) {
        if isLinux == true { hadLinux = true }
        if condition?.contains("canImport(FoundationNetworking)") == true { asksForFoundationNetworking = true }
        switch condition {
        case _ where hadLinux: isLinux = false
        case nil: isLinux = isElseLinux ? true : nil
        case "os(Linux)", "canImport(LoadingKit)": isLinux = true
        case "!os(Linux)": (isLinux, isElseLinux) = (false, true)
        case let other?:
            let elsewhere = /os\((macOS|iOS|tvOS|watchOS|visionOS|Windows)\)|canImport\((Darwin|ObjectiveC)\)/
            isLinux = other.wholeMatch(of: elsewhere) == nil ? nil : false
        }
    }

    /// Lets a report name the block once.
    mutating func takeQuestion() -> Bool {
        defer { asksForFoundationNetworking = false }
        return asksForFoundationNetworking
    }
}
