import Foundation

/// The file name that `-O` derives from a URL.
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
        guard Self.isSafe(decoded) else {
            throw ToolFailure(
                .writeError, "-O finds a name that no file may have at the end of \(argument): use -o FILE")
        }
        name = last
    }

    /// Whether a file of this name is in the folder to which the name is appended.
    static func isSafe(_ name: String) -> Bool {
        !name.utf8.contains(UInt8(ascii: "/")) && !name.utf8.contains(0) && !name.isEmpty && name != "."
            && name != ".."
    }
}
