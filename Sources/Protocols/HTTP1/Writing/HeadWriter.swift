import CLoadingKitShims
import LoadingKitPrimitives

/// Appends the pieces of heads and chunks, and refuses values that a recipient would interpret differently.
enum HeadWriter {
    /// Runs `body`, which appends to `output`. If it throws, `output` is unchanged.
    static func write(
        into output: inout [UInt8], _ body: (inout [UInt8]) throws(HTTP1Error.Kind) -> Void
    ) throws(HTTP1Error) {
        let count = output.count
        do throws(HTTP1Error.Kind) {
            try body(&output)
        } catch {
            output.removeLast(output.count - count)
            throw HTTP1Error(error)
        }
    }

    static func append(_ text: StaticString, to output: inout [UInt8]) {
        output.append(contentsOf: text.bytes)
    }

    /// Appends `HTTP/1.1`, without a preceding space.
    static func appendVersion(_ version: HTTPVersion, to output: inout [UInt8]) throws(HTTP1Error.Kind) {
        guard version.major == 1, version.minor < 10 else { throw .unsupportedVersion }
        append("HTTP/1.", to: &output)
        output.append(ASCII.zero + version.minor)
    }

    static func appendMethod(_ method: String, to output: inout [UInt8]) throws(HTTP1Error.Kind) {
        try append(method, to: &output, orThrow: .malformedRequestLine) { ASCII.isToken($0) }
    }

    /// Appends visible ASCII. All other characters of a URL are percent-encoded.
    static func appendTarget(_ target: String, to output: inout [UInt8]) throws(HTTP1Error.Kind) {
        try append(target, to: &output, orThrow: .malformedRequestLine) { target in
            !target.isEmpty && target.allSatisfy { $0 > ASCII.space && $0 < 0x7F }
        }
    }

    static func appendReason(_ reason: String, to output: inout [UInt8]) throws(HTTP1Error.Kind) {
        try append(reason, to: &output, orThrow: .malformedStatusLine) { isValue($0) }
    }

    private static func append(
        _ text: String, to output: inout [UInt8], orThrow error: HTTP1Error.Kind,
        if isValid: (UnsafeRawBufferPointer) -> Bool
    ) throws(HTTP1Error.Kind) {
        var text = text
        let isGood = text.withUTF8 { text in
            guard isValid(UnsafeRawBufferPointer(text)) else { return false }
            output.append(contentsOf: text)
            return true
        }
        if !isGood { throw error }
    }

    /// Appends field lines, without the fields for which `isOmitted` returns true.
    static func appendFields(
        _ fields: HTTPFields, to output: inout [UInt8], omitting isOmitted: (KnownField) -> Bool = { _ in false }
    ) throws(HTTP1Error.Kind) {
        let problem = fields.withEntries { entries, bytes -> HTTP1Error.Kind? in
            for entry in entries where !isOmitted(entry.known) {
                let (name, value) = (entry.name(in: bytes), entry.value(in: bytes))
                guard entry.known != .other || ASCII.isToken(name) else { return .invalidFieldName }
                guard isValue(value) else { return .invalidFieldValue }
                appendLine(name, value, to: &output)
            }
            return nil
        }
        if let problem { throw problem }
    }

    /// The line is assembled before it is appended: for this few bytes an append costs more than a copy.
    private static func appendLine(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, to output: inout [UInt8]
    ) {
        let count = name.count + value.count + 4
        withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { line in
            line.copyMemory(from: name)
            line[name.count] = ASCII.colon
            line[name.count + 1] = ASCII.space
            UnsafeMutableRawBufferPointer(rebasing: line[(name.count + 2)...]).copyMemory(from: value)
            line[count - 2] = ASCII.carriageReturn
            line[count - 1] = ASCII.lineFeed
            output.append(contentsOf: line)
        }
    }

    static func appendDecimal(_ number: UInt64, to output: inout [UInt8]) {
        appendDigits(number, radix: 10, to: &output)
    }

    static func appendHexadecimal(_ number: UInt64, to output: inout [UInt8]) {
        appendDigits(number, radix: 16, to: &output)
    }

    private static func appendDigits(_ number: UInt64, radix: UInt64, to output: inout [UInt8]) {
        let first = output.count
        var rest = number
        repeat {
            let digit = UInt8(truncatingIfNeeded: rest % radix)
            output.append(digit < 10 ? ASCII.zero &+ digit : UInt8(ascii: "a") &+ (digit &- 10))
            rest /= radix
        } while rest > 0
        output[first...].reverse()
    }

    private static func isValue(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let base = bytes.baseAddress else { return true }
        return lk_value_end(base.assumingMemoryBound(to: UInt8.self), bytes.count) == bytes.count
    }
}
