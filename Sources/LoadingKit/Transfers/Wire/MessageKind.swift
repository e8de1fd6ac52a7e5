/// The number that a message begins with. Numbers are never used for something else later.
package enum MessageKind: UInt16, CaseIterable, Sendable {
    // Of both ends.
    case hello = 1
    case goodbye = 2

    // Of programs.
    case attach = 16
    case command = 17
    case overviewRequest = 18
    case control = 19

    // Of the daemon.
    case performed = 48
    case event = 49
    /// Transfers of a session that is about to be attached, some at a time.
    case snapshots = 50
    case overview = 51
    case overviewEnd = 52

    /// The longest payload, in bytes.
    var limit: Int {
        switch self {
        case .hello, .goodbye, .performed, .overviewRequest, .overviewEnd: WireLimits.greeting
        case .command, .control, .snapshots: WireLimits.command
        case .attach, .event, .overview: WireLimits.event
        }
    }

    /// What a message of a later version may have, whose kind is not known.
    static func limit(ofKind kind: UInt16) -> Int { MessageKind(rawValue: kind)?.limit ?? WireLimits.event }
}
