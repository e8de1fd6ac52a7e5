import Foundation

/// The JSON answer of a container's endpoint and of the instance metadata service.
struct CredentialsDocument: Decodable {
    private let Code: String?
    private let AccessKeyId: String?
    private let SecretAccessKey: String?
    private let Token: String?
    private let Expiration: String?

    /// The credentials in the document.
    ///
    /// - Parameter source: the source's name for errors, which show nothing of the document but its code.
    static func credentials(_ data: Data, source: String) throws -> S3Credentials {
        guard let document = try? JSONDecoder().decode(CredentialsDocument.self, from: data) else {
            throw S3CredentialsError.malformed(source: source, reason: "the answer is no JSON object of credentials")
        }
        if let code = document.Code, code != "Success" {
            throw S3CredentialsError.failed(source: source, reason: "it answers with the code \(code.shortened)")
        }
        guard let identifier = document.AccessKeyId, let secret = document.SecretAccessKey else {
            throw S3CredentialsError.malformed(source: source, reason: "the answer has no keys")
        }
        let expiry = try document.Expiration.map { text in
            guard let date = AmazonDate.parse(extended: text) else {
                throw S3CredentialsError.malformed(source: source, reason: "the expiration is no date")
            }
            return date
        }
        let token = document.Token.flatMap { $0.isEmpty ? nil : $0 }
        return S3Credentials(accessKeyID: identifier, secretAccessKey: secret, sessionToken: token, expiry: expiry)
    }
}

extension String {
    /// The first 64 visible ASCII characters, for an error's text.
    var shortened: String {
        String(decoding: utf8.prefix(64).filter { $0 >= 0x20 && $0 < 0x7F }, as: UTF8.self)
    }
}
