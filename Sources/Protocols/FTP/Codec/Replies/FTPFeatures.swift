import LoadingKitPrimitives

/// The features that a server lists in its reply to `FEAT` (RFC 2389).
public struct FTPFeatures: Sendable, Hashable {
    /// The features' lines in upper case, without spaces at their ends.
    private let lines: Set<String>

    /// The features assumed for a server that does not implement `FEAT`: nothing beyond RFC 959.
    public static let none = FTPFeatures(lines: [])

    private init(lines: Set<String>) { self.lines = lines }

    /// The features in a reply with the code 211; none for any other reply.
    public init(_ reply: FTPReply) {
        guard reply.code == 211, reply.lines.count > 2 else {
            self = .none
            return
        }
        // The first and the last line are text for humans.
        lines = Set(
            reply.lines[1..<(reply.lines.count - 1)].map { line in
                String(decoding: ASCII.trimmingSpaces(line), as: UTF8.self).uppercased()
            })
    }

    /// Whether the features include a command or an extension, with any parameters.
    public func contains(_ name: String) -> Bool {
        let name = name.uppercased()
        return lines.contains { $0 == name || $0.hasPrefix(name + " ") }
    }

    /// Whether `MLSD` can list directories (RFC 3659 §7): the feature `MLST` stands for both commands.
    public var hasMachineListings: Bool { contains("MLST") || contains("MLSD") }
}
