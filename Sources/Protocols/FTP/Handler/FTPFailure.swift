import Foundation
import LoadingKitCore
import LoadingKitFTP

extension LoadFailure {
    /// What a server's refusal is to a program.
    init(_ refusal: FTPRefusal) { self.init(Self.code(refusal), refusal.description) }

    private static func code(_ refusal: FTPRefusal) -> URLError.Code {
        switch refusal.kind {
        case .serviceUnavailable: .cannotConnectToHost
        case .login, .account: .userAuthenticationRequired
        case .security: .secureConnectionFailed
        case .noSuchFile: .fileDoesNotExist
        case .noPermission: .noPermissionsToReadFile
        case .isDirectory: .fileIsDirectory
        case .cannotWrite: .cannotCreateFile
        case .noSpace: .cannotWriteToFile
        case .dataConnection: .cannotConnectToHost
        case .interrupted: .networkConnectionLost
        case .notImplemented, .unexpectedReply: .badServerResponse
        }
    }

    /// The server has closed the control connection.
    static let controlConnectionLost = LoadFailure(
        .networkConnectionLost, "the server closed the control connection before the transfer was over")
}
