import LoadingKitCore
import LoadingKitTransfers

/// A transfer as the user names it: a number in the tool's own session, or a session and a number.
struct TransferName: Hashable, CustomStringConvertible {
    /// The identifier of the tool's own session.
    static let ownSession = "loadkit"

    let session: String
    let number: Int

    init(session: String, number: Int) {
        self.session = session
        self.number = number
    }

    /// A session's identifier may contain slashes: the last slash separates it from the number.
    init(_ text: String) throws {
        let slash = text.lastIndex(of: "/")
        let digits = slash.map { text[text.index(after: $0)...] } ?? text[...]
        guard let number = Int(digits), number >= 0 else {
            throw ToolFailure(.usage, "this is no transfer, which is NUMBER or SESSION/NUMBER: \(text)")
        }
        self.init(session: slash.map { String(text[..<$0]) } ?? Self.ownSession, number: number)
    }

    var description: String { session == Self.ownSession ? "\(number)" : "\(session)/\(number)" }

    /// Sends a command for each transfer, up to the first for which it fails.
    static func send(to names: [String], _ command: @Sendable (Int) -> TransferCommand) async throws {
        let names = try names.map { try TransferName($0) }
        let control = DaemonAccess()
        try await reportingDaemon {
            for name in names { try await control.control(session: name.session, command(name.number)) }
        }
    }
}

/// Converts the daemon's errors to the tool's error messages.
func reportingDaemon<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
        return try await body()
    } catch let error as DaemonError {
        throw ToolFailure(.couldNotConnect, "background transfers are not available: \(error)")
    } catch let error as ToolFailure {
        throw error
    } catch {
        throw ToolFailure(error, hadResponse: false)
    }
}
