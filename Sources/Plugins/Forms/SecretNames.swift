@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// Names under which requests and responses usually carry secrets: one list for all code that shows or records them.
public enum SecretNames {
    /// Names of header fields.
    public static let headerFields = UsualSecrets.headerFields

    /// Names of query items, of fields of forms, and of members of JSON objects.
    public static let values = UsualSecrets.values

    /// Names of secrets in queries and forms (`code` of OAuth 2.0, RFC 6749 §4.1.2) that have other meanings elsewhere.
    public static let queryItems: Set<String> = values.union(["auth", "key", "apikey", "api-key", "code"])
}
