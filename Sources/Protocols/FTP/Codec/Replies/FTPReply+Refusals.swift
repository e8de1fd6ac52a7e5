import LoadingKitPrimitives

/// What a reply says that refuses a command (RFC 959 §4.2).
extension FTPReply {
    /// Whether the server does not have the command at all: 500, 502, 504, and what some say in their place.
    var isOfUnknownCommand: Bool { (500...504).contains(code) }

    /// What it says of the data connection; nil where it says nothing of that.
    var dataRefusal: FTPRefusal.Kind? {
        switch code {
        case 425: .dataConnection
        case 426: .interrupted
        case 521, 522, 533, 534: .security
        case _: nil
        }
    }

    /// Why a file cannot be read. Servers say little more than 550: whether the file has a size shows that it is there, and
    /// many say so in English.
    func readRefusal(exists: Bool) -> FTPRefusal.Kind {
        if code == 530 || code == 532 { return .noPermission }
        if isOfUnknownCommand { return .notImplemented }
        let text = lines.reduce(into: "") { $0 += String(decoding: $1, as: UTF8.self).lowercased() + " " }
        let hasPermissionWord = ["permission", "denied", "not allowed", "forbidden", "access"].contains(
            where: text.contains)
        return exists || hasPermissionWord ? .noPermission : .noSuchFile
    }

    /// Why a file or a folder cannot be written.
    var writeRefusal: FTPRefusal.Kind {
        switch code {
        case 452, 552: .noSpace
        case 500, 502, 503, 504: .notImplemented
        case _: .cannotWrite
        }
    }
}
