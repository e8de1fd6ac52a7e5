import Logging

/// Shows what the library's logger is told, for `-vv`.
struct ConsoleLog: LogHandler {
    let console: Console
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    init(_ console: Console) { self.console = console }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { console.write("* \(PlainText.line("\(event.message)"))\n") }
}
