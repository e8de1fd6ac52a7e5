/// Names under which requests and responses usually carry secrets: one list for all code that displays, records or
/// reports them.
@_spi(LoadingKitPlugins)
public enum UsualSecrets {
    /// Names of header fields.
    public static let headerFields: Set<String> = [
        "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "Api-Key", "X-Api-Key", "X-Auth-Token",
        "X-Access-Token", "X-Csrf-Token", "X-Xsrf-Token", "X-Amz-Security-Token", "X-Goog-Api-Key", "Private-Token",
        "X-Vault-Token", "X-Session-Token", "X-Aws-Ec2-Metadata-Token",
    ]

    /// Names of query items, of fields of forms, and of members of JSON objects.
    public static let values: Set<String> = [
        "token", "access_token", "refresh_token", "id_token", "auth_token", "session_token", "security_token",
        "csrf_token", "xsrf_token", "bearer_token", "device_token", "password", "passwd", "pwd", "passphrase", "secret",
        "client_secret", "secret_key", "secret_access_key", "api_key", "api_secret", "access_key", "private_key",
        "auth_key", "authorization", "credential", "credentials", "signature", "sig", "session_id", "jwt", "assertion",
        "client_assertion", "code_verifier", "otp", "SAMLResponse", "X-Amz-Signature", "X-Amz-Credential",
        "X-Amz-Security-Token", "X-Goog-Signature", "X-Goog-Credential", "AWSAccessKeyId", "Key-Pair-Id",
    ]
}
