#if CommandLineTool
    import Foundation

    /// The destination of a body.
    enum Destination: Sendable, Hashable {
        case standardOutput
        case file(path: String)

        private init(output: String) {
            self = output == "-" ? .standardOutput : .file(path: output)
        }

        /// One for each URL: the n-th `-o` belongs to the n-th URL. URLs without an `-o` go to standard output.
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

    /// The file name that `-O` derives from a URL. It is never derived from a response.
    struct RemoteName {
        let name: String

        /// The last component of the path, as spelled in the URL.
        init(_ argument: String) throws {
            let path = try URLArgument(argument).url.path(percentEncoded: true)
            let last = path.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
            let decoded = last.removingPercentEncoding ?? last
            guard path.hasPrefix("/"), !last.isEmpty, decoded != ".", decoded != ".." else {
                throw ToolFailure(.writeError, "-O finds no file name at the end of \(argument): use -o FILE")
            }
            guard !decoded.utf8.contains(UInt8(ascii: "/")), !decoded.utf8.contains(0) else {
                throw ToolFailure(
                    .writeError, "-O finds a name that no file may have at the end of \(argument): use -o FILE")
            }
            name = last
        }
    }
#endif
