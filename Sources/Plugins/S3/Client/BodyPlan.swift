/// Decides how a request's body is sent, and whether it is digested for the signature. Pure.
enum BodyPlan: Sendable, Equatable {
    /// In one request.
    case whole(Payload)
    /// In parts of this size.
    case parts(Int)
    /// In one request, after the body was read into memory: a body that is not an object is small, and needs a length.
    case collected

    enum Payload: Sendable, Equatable {
        case none
        case digested
        case unsigned
        /// The program has computed the digest.
        case given(String)
    }

    /// Amazon's limit for a body in one request, in bytes.
    private static let maximumWhole: Int64 = 5 << 30

    /// A request's body; sizes in bytes, nil where they are not known.
    enum Body: Sendable, Equatable {
        case none
        /// Data or a file, which can be read more than once.
        case repeatable(length: Int64?)
        case stream(length: Int64?)
    }

    /// - Parameters:
    ///   - isObject: whether the request is a `PUT` of an object, which can be sent in parts.
    ///   - digest: the request's own `X-Amz-Content-Sha256`.
    ///   - hasChecksum: whether the request has a checksum of the body. Servers verify it only for a body in one
    ///     request.
    ///   - isSecure: whether the request is sent over TLS.
    init(body: Body, isObject: Bool, digest: String?, hasChecksum: Bool, isSecure: Bool, options: S3Options) {
        if let digest, body != .none, Self.isDigest(digest) {
            self = .whole(.given(digest))
            return
        }
        let threshold = hasChecksum ? max(Self.maximumWhole, options.multipartThreshold) : options.multipartThreshold
        let mayBeUnsigned = isSecure && options.payloadSigning != .always
        switch body {
        case .none: self = .whole(.none)
        case .repeatable(let length):
            if isObject, let length, length > threshold {
                self = .parts(Self.partSize(length, options))
            } else {
                self = .whole(isSecure && options.payloadSigning == .never ? .unsigned : .digested)
            }
        case .stream(let length):
            if let length, mayBeUnsigned, length <= threshold || !isObject {
                self = .whole(.unsigned)
            } else {
                self = isObject ? .parts(Self.partSize(length ?? 0, options)) : .collected
            }
        }
    }

    private static func partSize(_ length: Int64, _ options: S3Options) -> Int {
        PartPlan.partSize(for: length, wanted: options.partSize)
    }

    private static func isDigest(_ text: String) -> Bool {
        text == S3Operation.unsignedPayload
            || text.utf8.count == 64 && text.utf8.allSatisfy { $0.isASCIIDigit || (0x61...0x66).contains($0) }
    }
}
