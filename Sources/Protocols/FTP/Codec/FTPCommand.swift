import LoadingKitPrimitives

/// A client's command (RFC 959 §4.1 and its extensions), with its argument.
public struct FTPCommand: Sendable, Hashable {
    /// The command's name, in upper case.
    public let name: String
    /// The argument; nil for none.
    public let argument: [UInt8]?

    /// - Throws: ``FTPError/invalidArgument(command:)`` if the argument contains CR, LF or NUL. The server would
    ///   interpret the rest of the argument as another command.
    public init(_ name: String, _ argument: [UInt8]? = nil) throws(FTPError) {
        let hasControl = argument?.contains { $0 == 0 || $0 == ASCII.lineFeed || $0 == ASCII.carriageReturn }
        if hasControl == true { throw .invalidArgument(command: name) }
        self.name = name
        self.argument = argument
    }

    private init(name: String, argument: [UInt8]?) { (self.name, self.argument) = (name, argument) }

    /// A command with a constant argument, or none.
    static func known(_ name: StaticString, _ argument: StaticString? = nil) -> FTPCommand {
        FTPCommand(name: "\(name)", argument: argument.map { Array("\($0)".utf8) })
    }

    /// A command with a number as its argument.
    static func known(_ name: StaticString, _ argument: Int64) -> FTPCommand {
        FTPCommand(name: "\(name)", argument: Array(String(argument).utf8))
    }

    /// The command's encoded bytes. The byte 255 of an argument is doubled, as Telnet requires (RFC 854; RFC 2640
    /// §3.1).
    public var bytes: [UInt8] {
        var bytes = Array(name.utf8)
        if let argument {
            bytes.append(ASCII.space)
            for byte in argument {
                bytes.append(byte)
                if byte == 0xFF { bytes.append(byte) }
            }
        }
        bytes.append(ASCII.carriageReturn)
        bytes.append(ASCII.lineFeed)
        return bytes
    }
}
