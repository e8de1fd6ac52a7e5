import Foundation

/// The file name that `-O` takes from a URL. It is never taken from what a server says.
struct RemoteName {
    let name: String

    /// The last component of the path, as the URL spells it.
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
