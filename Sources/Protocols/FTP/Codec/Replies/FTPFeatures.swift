import LoadingKitPrimitives

/// What a server says in reply to `FEAT` that it can do (RFC 2389).
public struct FTPFeatures: Sendable, Hashable {
    /// The features' lines, in capitals, without spaces at their ends.
    private let lines: Set<String>

    /// What a server is taken to be able to do that does not know `FEAT`: nothing beyond RFC 959.
    public static let none = FTPFeatures(lines: [])

    private init(lines: Set<String>) { self.lines = lines }

    /// The features of a reply with the code 211; none of any other reply.
    public init(_ reply: FTPReply) {
        guard reply.code == 211, reply.lines.count > 2 else {
            self = .none
            return
        }
        // The first line and the last are text for people.
        lines = Set(
            reply.lines[1..<(reply.lines.count - 1)].map { line in
                String(decoding: ASCII.trimmingSpaces(line), as: UTF8.self).uppercased()
            })
    }

    /// Whether a command or an extension is among them, whatever parameters follow its name.
    public func contains(_ name: String) -> Bool {
        let name = name.uppercased()
        return lines.contains { $0 == name || $0.hasPrefix(name + " ") }
    }

    /// Whether directories can be listed by `MLSD` (RFC 3659 §7): the feature of `MLST` stands for both.
    public var hasMachineListings: Bool { contains("MLST") || contains("MLSD") }

    /// Whether a transfer can begin within a file (RFC 3659 §5).
    public var hasRestart: Bool { contains("REST STREAM") }
}
