import Foundation
import LoadingKit
import LoadingKitCore

/// A download that the user adds: a URL that the daemon can load, and the destination file.
struct AddedDownload: Sendable {
    let request: TransferRequest
    /// An absolute path at which no file exists.
    let destination: String

    init(_ text: String, output: String?, folder: String = FileManager.default.currentDirectoryPath) throws {
        let url = try URLArgument(text).url
        guard let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme) else {
            throw ToolFailure(.unsupportedProtocol, "in the background http and https are loaded alone: \(text)")
        }
        guard let request = TransferRequest(URLRequest(url: url)) else {
            throw ToolFailure(.malformedURL, "this is not a URL: \(text)")
        }
        self.request = request
        guard let name = output ?? Self.name(of: url), !name.isEmpty, name != "/" else {
            throw ToolFailure(.usage, "the URL names no file; -o FILE says where it goes")
        }
        let base = URL(fileURLWithPath: folder, isDirectory: true)
        let file = URL(fileURLWithPath: name, relativeTo: base).standardizedFileURL
        guard !FileManager.default.fileExists(atPath: file.path) else {
            throw ToolFailure(.writeError, "there is a file already: \(file.path)")
        }
        var folderFound: ObjCBool = false
        let parent = file.deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: parent, isDirectory: &folderFound), folderFound.boolValue else {
            throw ToolFailure(.writeError, "there is no such folder: \(parent)")
        }
        destination = file.path
    }

    /// The last component of the URL's path. Nil where no file can have this name, or where it leads to another folder.
    private static func name(of url: URL) -> String? {
        let last = url.path(percentEncoded: true).split(separator: "/").last.map(String.init) ?? ""
        let name = last.removingPercentEncoding ?? last
        return RemoteName.isSafe(name) ? name : nil
    }

    func transfer(_ identifier: Int) -> TransferRecord {
        var transfer = TransferRecord(identifier: identifier, kind: .download, request: request)
        transfer.destination = destination
        return transfer
    }
}
