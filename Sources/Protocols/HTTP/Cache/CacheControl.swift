import Foundation
import LoadingKitPrimitives

/// The directives in the `Cache-Control` of a request or a response (RFC 9111 §5.2, RFC 5861, RFC 8246).
///
/// Directives for shared caches only (`s-maxage`, `proxy-revalidate`) are not kept. `private` is kept as a permission
/// to store.
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
    /// In seconds, like all durations here.
    var maxAge: TimeInterval?
    var staleWhileRevalidate: TimeInterval?
    var staleIfError: TimeInterval?
    var minFresh: TimeInterval?
    /// Infinite if the request accepts a response of any staleness.
    var maxStale: TimeInterval?
    /// The fields that may not be reused without validation, in lowercase: `no-cache="set-cookie"`.
    var noCacheFields: [String] = []

    init() {}

    init(_ fields: HTTPFields) {
        fields.forEachValue(of: .cacheControl) { line in
            var directives = CacheDirectives(line)
            while let directive = directives.next() { note(directive) }
        }
    }

    /// The directives of a request. The old `Pragma: no-cache` counts if there is no `Cache-Control` (RFC 9111 §5.4).
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
            // If the directive is repeated, the first counts. A value that is not a number makes the response stale
            // (RFC 9111 §4.2.1).
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
        let names = argument.map { HTTPFields.names(in: FieldText.string($0)) }
        guard let names, !names.isEmpty else { return flags = flags.union(.noCache) }
        noCacheFields += names
        if noCacheFields.count > HTTPFields.maximumListedNames {
            noCacheFields = []
            flags.insert(.noCache)
        }
    }
}

/// Durations in HTTP's fields, in whole seconds (RFC 9111 §1.2.2).
enum DeltaSeconds {
    /// The largest value. A larger number is treated as this value.
    static let maximum: UInt64 = 1 << 31

    /// Nil unless all bytes are digits.
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

/// The directives of one line of `Cache-Control`, from left to right (RFC 9111 §5.2).
///
/// The parser reports no errors. Bytes that are no directive are skipped. Every argument may be a token or a quoted
/// string, as §5.2 requires of recipients.
struct CacheDirectives {
    struct Directive {
        let name: UnsafeRawBufferPointer
        /// The argument without its quotes; nil if the directive has none.
        let argument: UnsafeRawBufferPointer?

        func isNamed(_ text: StaticString) -> Bool { ASCII.equalsIgnoringCase(name, text) }
    }

    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func next() -> Directive? {
        while position < bytes.count {
            let name = take { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
            guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else {
                position += 1
                if !name.isEmpty { return Directive(name: name, argument: nil) }
                continue
            }
            position += 1
            let argument = takeArgument()
            if !name.isEmpty { return Directive(name: name, argument: argument) }
        }
        return nil
    }

    private mutating func takeArgument() -> UnsafeRawBufferPointer {
        _ = take { ASCII.isSpace($0) }
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
            defer { position += 1 }
            return take { $0 != UInt8(ascii: ",") }
        }
        let start = position + 1
        position = start
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        let end = min(position, bytes.count)
        position = end + 1
        // Bytes between the closing quote and the comma have no meaning.
        _ = take { $0 != UInt8(ascii: ",") }
        position += 1
        return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    /// Takes the bytes from the current position for which `belongs` is true. Returns them without surrounding spaces.
    private mutating func take(_ belongs: (UInt8) -> Bool) -> UnsafeRawBufferPointer {
        let start = min(position, bytes.count)
        position = start
        while position < bytes.count, belongs(bytes[position]) { position += 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<position]).trimmingSpaces
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes without the spaces and tabs at both ends.
    var trimmingSpaces: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: ASCII.trimmingSpaces(self)) }
}
