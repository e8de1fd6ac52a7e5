import Foundation

/// Where a body goes.
enum Destination: Sendable, Hashable {
    case standardOutput
    case file(path: String)

    private init(output: String) {
        self = output == "-" ? .standardOutput : .file(path: output)
    }

    /// One for each URL: the n-th `-o` is the n-th URL's, and those without one go to standard output.
    static func assign(_ options: LoadOptions) throws -> [Destination] {
        guard options.output.count <= options.urls.count else {
            throw ToolFailure(.usage, "there are more -o than URLs")
        }
        if options.remoteName {
            guard options.output.isEmpty else { throw ToolFailure(.usage, "-o and -O contradict each other") }
            return try options.urls.map { .file(path: try RemoteName($0).name) }
        }
        let named = options.output.map(Destination.init(output:))
        return named + Array(repeating: .standardOutput, count: options.urls.count - named.count)
    }
}
