import Foundation
import LoadingKit
import LoadingKitArchives

/// Prints a member of a remote ZIP archive, or without a name the list of its members. Of the archive only the directory
/// and the member are loaded.
///
///     swift run ReadArchiveExample https://example.org/package.whl package/METADATA
@main
enum ReadArchive {
    static func main() async {
        let arguments = CommandLine.arguments
        guard (2...3).contains(arguments.count), let archive = URL(string: arguments[1]),
            let url = ArchiveURL(archive: archive, member: arguments.count == 3 ? arguments[2] : "").url
        else {
            print("usage: ReadArchiveExample URL [MEMBER]")
            exit(2)
        }
        let configuration = URLSessionConfiguration.default
        ArchiveLoader().install(in: configuration)
        let session = URLSession(configuration: configuration)
        do {
            let (data, _) = try await session.data(from: url)
            if arguments.count == 3 {
                print(String(decoding: data, as: UTF8.self), terminator: "")
            } else {
                let listing = try JSONDecoder().decode(ArchiveListing.self, from: data)
                for member in listing.members { print(member.size, member.modified ?? "-", member.name) }
            }
        } catch {
            print("failed: \(error.localizedDescription)")
            exit(1)
        }
    }
}
