/// The reasons in replies that refuse a command (RFC 959 §4.2).
extension FTPReply {
    /// Whether the server does not implement the command: 500, 502 or 504, or the codes that some servers use instead.
    var isOfUnknownCommand: Bool { (500...504).contains(code) }

    /// The reply's reason that concerns the data connection; nil if the reply does not concern the data connection.
    var dataRefusal: FTPRefusal.Kind? {
        switch code {
        case 425: .dataConnection
        case 426: .interrupted
        case 521, 522, 533, 534: .security
        case _: nil
        }
    }

    /// The reason why a file cannot be read. Most servers send only 550 in all cases. If the file has a size it exists,
    /// and many servers state the reason in English text.
    func readRefusal(exists: Bool) -> FTPRefusal.Kind {
        if code == 530 || code == 532 { return .noPermission }
        if isOfUnknownCommand { return .notImplemented }
        return exists || hasPermissionWord ? .noPermission : .noSuchFile
    }

    /// Whether the reply to `MLSD` or `LIST` says that the folder, which exists, has no entries. Some servers send 450
    /// for this, others 550 with these words. Some also send 450 where a permission is missing.
    var isOfEmptyFolder: Bool {
        code == 450 && !hasPermissionWord || code == 550 && lowercasedText.contains("no files found")
    }

    private var hasPermissionWord: Bool {
        let text = lowercasedText
        return ["permission", "denied", "not allowed", "forbidden", "access"].contains(where: text.contains)
    }

    private var lowercasedText: String {
        lines.reduce(into: "") { $0 += String(decoding: $1, as: UTF8.self).lowercased() + " " }
    }

    /// The reason why a file or folder cannot be written.
    var writeRefusal: FTPRefusal.Kind {
        switch code {
        case 452, 552: .noSpace
        case 500, 502, 503, 504: .notImplemented
        case _: .cannotWrite
        }
    }
}
