import Foundation

extension MemStore {
    /// Makes an entry of the folder's file with this name, if there is one. Blocks while the disk is read.
    func restore(_ name: String) throws {
        guard let folder, !name.contains("/"), let data = try? Data(contentsOf: folder.appendingPathComponent(name))
        else { return }
        try write(data, to: name, type: "application/octet-stream")
    }
}
