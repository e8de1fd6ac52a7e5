import CLoadingKitOpenSSL
import Glibc

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
    var description: String {
        var moment = time_t(seconds)
        var parts = tm()
        guard gmtime_r(&moment, &parts) != nil else { return "\(seconds)" }
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(1900 + Int(parts.tm_year))-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))T"
            + "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }
}
