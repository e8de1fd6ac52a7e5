import Foundation

/// The combined settings of options, environment and profile.
struct S3Settings: Sendable, Equatable {
    let region: String
    let endpoint: S3Endpoint

    /// - Parameter profile: the properties of the current profile.
    init(_ options: S3Options, profile: [String: String]) throws {
        let environment = options.environment.filter { !$0.value.isEmpty }
        let region =
            options.region ?? environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"] ?? profile["region"]
            ?? S3Region.standard
        guard let checked = S3Region.checked(region) else { throw S3OptionsError.invalidRegion(region) }
        self.region = checked
        if let endpoint = try options.endpoint ?? Self.endpoint(environment, profile) {
            self.endpoint = try S3Endpoint(endpoint, addressing: options.addressing)
        } else {
            endpoint = S3Endpoint(addressing: options.addressing, usesDualStack: options.usesDualStack)
        }
    }

    private static func endpoint(_ environment: [String: String], _ profile: [String: String]) throws -> URL? {
        let text = environment["AWS_ENDPOINT_URL_S3"] ?? environment["AWS_ENDPOINT_URL"] ?? profile["endpoint_url"]
        guard let text, environment["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"]?.lowercased() != "true" else { return nil }
        guard let url = URL(string: text) else { throw S3OptionsError.invalidEndpoint(text) }
        return url
    }
}
