#if CommandLineTool
    import Foundation
    @_spi(LoadingKitPlugins) import LoadingKit
    @_spi(LoadingKitPlugins) import LoadingKitS3

    /// The signature of `--aws-sigv4`: by Amazon's rules, with the key and secret of `-u`.
    struct AWSSignature: Sendable {
        private let region: String?
        private let service: String?

        /// Nil without the option.
        init?(_ argument: String?) throws {
            guard let argument else { return nil }
            let parts = argument.split(separator: ":", omittingEmptySubsequences: false).map { $0.lowercased() }
            guard parts.first == "aws", parts.count < 2 || parts[1] == "amz" || parts[1] == "aws" else {
                throw ToolFailure(.usage, "--aws-sigv4 needs aws:amz[:REGION[:SERVICE]], not '\(argument)'")
            }
            (region, service) = (parts.count > 2 ? parts[2] : nil, parts.count > 3 ? parts[3] : nil)
        }

        /// The signer of the requests for a URL. Without names in the option, they are the first labels of the host:
        /// `service.region.…`.
        func signer(for url: URL?, _ login: Login?) throws -> Signer {
            guard let login else { throw ToolFailure(.usage, "--aws-sigv4 needs -u KEY:SECRET") }
            let host = url?.canonicalHost ?? ""
            let labels = host.split(separator: ".").map(String.init)
            guard let service = service ?? labels.first, let region = region ?? labels.dropFirst().first else {
                throw ToolFailure(.usage, "--aws-sigv4: the host names no region and service")
            }
            return Signer(
                credentials: S3Credentials(accessKeyID: login.user, secretAccessKey: login.password), region: region,
                service: service)
        }

        /// Signs requests for one URL.
        struct Signer: Sendable {
            fileprivate let credentials: S3Credentials
            fileprivate let region: String
            fileprivate let service: String

            func sign(_ request: inout URLRequest, _ content: RequestContent, at date: Date) {
                request.sign(credentials, region: region, service: service, body: content.bytesToSign, at: date)
            }
        }
    }

    extension RequestContent {
        /// Nil where they are not known before they are sent.
        fileprivate var bytesToSign: Data? {
            switch self {
            case .none, .query: Data()
            case .data(let data): data.bytes
            case .upload(let path?): try? Data(contentsOf: URL(fileURLWithPath: path))
            case .upload(nil), .stream, .form: nil
            }
        }
    }
#endif
