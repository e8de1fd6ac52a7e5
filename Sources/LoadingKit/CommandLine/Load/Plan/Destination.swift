#if CommandLineTool
    import Foundation
    import LoadingKit

    /// The destination of a body.
    enum Destination: Sendable, Hashable {
        case standardOutput
        /// Standard output with the bytes as they are, also where it is a terminal.
        case untouchedOutput
        case file(path: String)
        /// A file in a folder, with the name that the response gives, or else with this one.
        case named(folder: String, name: String)

        /// One for each URL argument: the n-th `-o` belongs to the n-th. URLs without an `-o` go to standard output.
        static func assign(_ options: LoadCommand) throws -> [Destination] {
            let output = options.output
            guard output.output.count <= options.urls.count else {
                throw ToolFailure(.usage, "there are more -o than URLs")
            }
            if output.remoteName {
                guard output.output.isEmpty else { throw ToolFailure(.usage, "-o and -O contradict each other") }
                return options.urls.map { _ in .file(path: "") }
            }
            let named = output.output.map { $0 == "-" ? Destination.untouchedOutput : .file(path: $0) }
            return named + Array(repeating: .standardOutput, count: options.urls.count - named.count)
        }

        /// The destination of one of the URLs of an argument.
        func of(_ url: URLPattern.URL, _ options: OutputOptions) throws -> Destination {
            guard case .file(let path) = self else { return self }
            let folder = options.outputDir.map { $0.hasSuffix("/") ? $0 : "\($0)/" } ?? ""
            guard options.remoteName else { return .file(path: folder + url.fileName(path)) }
            guard options.remoteHeaderName else { return .file(path: folder + (try RemoteName(url.text).name)) }
            return .named(folder: folder, name: (try? RemoteName(url.text).name) ?? "")
        }

        var isStandardOutput: Bool { self == .standardOutput || self == .untouchedOutput }

        /// The file's path; nil for standard output.
        ///
        /// - Parameter response: whose `Content-Disposition` may have a name.
        func path(_ response: URLResponse?) throws(ToolFailure) -> String? {
            switch self {
            case .standardOutput, .untouchedOutput: return nil
            case .file(let path): return path
            case .named(let folder, let name):
                let given =
                    (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Disposition") == nil
                    ? nil : response?.suggestedFilename
                let chosen = given.flatMap { RemoteName.isSafe($0) ? $0 : nil } ?? name
                guard !chosen.isEmpty else { throw ToolFailure(.writeError, "-J finds no file name: use -o FILE") }
                return folder + chosen
            }
        }
    }
#endif
