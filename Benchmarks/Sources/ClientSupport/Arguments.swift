import CMeter

/// What a client is told to do, as text. The pointers in it are to the process's arguments, which nothing changes.
public struct Arguments: @unchecked Sendable {
    let raw: client_arguments

    /// Those of the process. Others than a client understands end it.
    public static let process = Arguments(raw: client_arguments_read(CommandLine.argc, CommandLine.unsafeArgv))

    public var mode: String { String(cString: raw.mode) }
    public var url: String { String(cString: raw.url) }
    public var atATime: Int { raw.at_a_time }
    public var length: Int { raw.length }
    public var certificate: String? { raw.certificate.map { String(cString: $0) } }
    public var file: String { raw.file.map { String(cString: $0) } ?? "/dev/null" }
}
