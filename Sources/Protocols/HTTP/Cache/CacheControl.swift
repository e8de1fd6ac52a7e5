import Foundation
import LoadingKitPrimitives

/// What a message's `Cache-Control` says, request or response (RFC 9111 §5.2, RFC 5861, RFC 8246).
///
/// What concerns shared caches alone (`s-maxage`, `proxy-revalidate`, `private`) is not kept, but for `private` as a
/// permission to store.
struct CacheControl: Equatable, Sendable {
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt16
        static let noStore = Flags(rawValue: 1)
        static let noCache = Flags(rawValue: 2)
        static let mustRevalidate = Flags(rawValue: 4)
        static let mustUnderstand = Flags(rawValue: 8)
        static let isPublic = Flags(rawValue: 16)
        static let isPrivate = Flags(rawValue: 32)
        static let immutable = Flags(rawValue: 64)
        static let onlyIfCached = Flags(rawValue: 128)
    }

    var flags: Flags = []
    /// In seconds, as all of these.
    var maxAge: TimeInterval?
    var staleWhileRevalidate: TimeInterval?
    var staleIfError: TimeInterval?
    var minFresh: TimeInterval?
    /// Infinite where the request accepts a response however stale.
    var maxStale: TimeInterval?
    /// The fields that may not be used again unasked, lowercase: `no-cache="set-cookie"`.
    var noCacheFields: [String] = []

    init() {}

    init(_ fields: HTTPFields) {
        fields.forEachValue(of: .cacheControl) { line in
            var directives = CacheDirectives(line)
            while let directive = directives.next() { note(directive) }
        }
    }

    /// A request's, in which the old `Pragma: no-cache` counts where there is no `Cache-Control` (RFC 9111 §5.4).
    init(ofRequest fields: HTTPFields) {
        self.init(fields)
        guard !fields.contains(.cacheControl) else { return }
        fields.forEachValue(of: .pragma) { line in
            var directives = CacheDirectives(line)
            while let directive = directives.next() {
                if directive.isNamed("no-cache") { flags.insert(.noCache) }
            }
        }
    }

    func has(_ flags: Flags) -> Bool { self.flags.contains(flags) }

    private mutating func note(_ directive: CacheDirectives.Directive) {
        switch directive.name.count {
        case 6 where directive.isNamed("public"): flags.insert(.isPublic)
        case 7 where directive.isNamed("private"): flags.insert(.isPrivate)
        case 7 where directive.isNamed("max-age"):
            // Of several the first counts. One that is no number makes the response stale (RFC 9111 §4.2.1).
            if maxAge == nil { maxAge = DeltaSeconds.parse(directive.argument) ?? 0 }
        case 8 where directive.isNamed("no-store"): flags.insert(.noStore)
        case 8 where directive.isNamed("no-cache"): noteNoCache(directive.argument)
        case 9 where directive.isNamed("immutable"): flags.insert(.immutable)
        case 9 where directive.isNamed("min-fresh"): minFresh = DeltaSeconds.parse(directive.argument)
        case 9 where directive.isNamed("max-stale"):
            maxStale = directive.argument == nil ? .infinity : DeltaSeconds.parse(directive.argument)
        case 14 where directive.isNamed("only-if-cached"): flags.insert(.onlyIfCached)
        case 14 where directive.isNamed("stale-if-error"): staleIfError = DeltaSeconds.parse(directive.argument)
        case 15 where directive.isNamed("must-revalidate"): flags.insert(.mustRevalidate)
        case 15 where directive.isNamed("must-understand"): flags.insert(.mustUnderstand)
        case 22 where directive.isNamed("stale-while-revalidate"):
            staleWhileRevalidate = DeltaSeconds.parse(directive.argument)
        default: break
        }
    }

    private mutating func noteNoCache(_ argument: UnsafeRawBufferPointer?) {
        let names = argument.map { FieldText.string($0).lowercased().split { $0 == "," || $0 == " " || $0 == "\t" } }
        guard let names, !names.isEmpty else { return flags = flags.union(.noCache) }
        noCacheFields += names.map(String.init)
    }
}

/// Seconds as HTTP's fields have them (RFC 9111 §1.2.2).
enum DeltaSeconds {
    /// The most that is told apart: what is larger counts as this.
    static let maximum: UInt64 = 1 << 31

    /// Nil for what is no number of digits alone.
    static func parse(_ bytes: UnsafeRawBufferPointer?) -> TimeInterval? {
        guard let bytes, !bytes.isEmpty else { return nil }
        if let number = ASCII.decimal(bytes) { return TimeInterval(min(number, maximum)) }
        let isNumber = bytes.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        return isNumber ? TimeInterval(maximum) : nil
    }

    /// The seconds as a field's value: whole, not negative, and at most ``maximum``.
    static func string(_ seconds: TimeInterval) -> String {
        seconds > 0 ? String(UInt64(min(seconds, TimeInterval(maximum)))) : "0"
    }
}
