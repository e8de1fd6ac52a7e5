/// The support of a scheme's resources for byte ranges (RFC 9110 §14), with which downloads are resumed.
package enum RangeSupport: Sendable {
    /// Downloads are not resumed. Resume data from an untrusted source must not make a program read its own files.
    case unsupported
    /// A response declares it, with `Accept-Ranges: bytes`.
    case declared
    /// It is assumed, unless a response denies it: servers often do not declare it.
    case assumed

    /// Whether ranges of the response's resource can be loaded.
    func includes(_ response: HTTPURLResponse) -> Bool {
        let declared = response.value(forHTTPHeaderField: "Accept-Ranges")?.lowercased()
        return switch self {
        case .unsupported: false
        case .declared: declared.map { $0 == "bytes" } ?? (response.statusCode == 206)
        case .assumed: declared != "none"
        }
    }
}
