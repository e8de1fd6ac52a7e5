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

    /// The server has sent less or more than the file has, as it said.
    static func differentSize(_ received: Int64, expected size: Int64) -> LoadFailure {
        guard received > size else {
            return LoadFailure(
                .networkConnectionLost, "the server sent \(received) bytes of the \(size) that the file has")
        }
        return LoadFailure(
            .badServerResponse,
            "the server sent more than the \(size) bytes that the file has, as it said: it has changed meanwhile")
    }
}
