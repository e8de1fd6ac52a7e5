import CLoadingKitOpenSSL
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// A moment in a certificate, an OCSP response or a revocation list.
struct CertificateTime: CustomStringConvertible {
    /// Since 1970.
    let seconds: Int64

    init?(_ time: UnsafePointer<ASN1_TIME>?) {
        guard let time else { return nil }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard let epoch = ASN1_TIME_set(nil, 0) else { return nil }
        defer { ASN1_STRING_free(epoch) }
        guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return nil }
        self.seconds = Int64(days) * 86_400 + Int64(seconds)
    }

    /// As ISO 8601 has it, in UTC.
    var description: String { CivilTime(secondsSince1970: Double(seconds)).timestamp }
}
