import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// A response's head as bytes: all of an entry except its content. The format is this library's own, and has a version.
extension CacheEntry {
    private static let version: UInt8 = 2

    private enum Kind: UInt8 {
        case http = 0
        case plain = 1
    }

    /// Nil for an entry that cannot be restored exactly: a response of another class, or other user info.
    func headBytes(under key: CacheKey) -> Data? {
        var writer = ByteWriter()
        writer.put(Self.version)
        guard Self.put(response.parts.response, under: key, &writer) else { return nil }
        writer.put(UInt8(truncatingIfNeeded: response.parts.storagePolicy.rawValue))
        writer.put(date)
        writer.put(response.metadata) { $0.put($1) }
        guard let userInfo = response.parts.userInfo else {
            writer.put(false)
            return writer.data
        }
        guard let list = PropertyList.bytes(userInfo) else { return nil }
        writer.put(true)
        writer.put(list)
        return writer.data
    }

    private static func put(_ response: URLResponse, under key: CacheKey, _ writer: inout ByteWriter) -> Bool {
        guard let url = response.url.map({ CacheKey.withoutCredentials($0.absoluteString) }) else { return false }
        let own = url == key.url ? nil : url
        if let http = response as? HTTPURLResponse, type(of: http) == HTTPURLResponse.self {
            writer.put(Kind.http.rawValue)
            writer.put(own) { $0.put($1) }
            writer.put(response.expectedContentLength)
            writer.put(Int64(http.statusCode))
            writer.put(http.httpVersion)
            writer.put(Int64(http.fields.count))
            for index in http.fields.indices {
                http.fields.withBytes(at: index) { name, value, _ in
                    writer.put(name)
                    writer.put(value)
                }
            }
            return true
        }
        guard type(of: response) == URLResponse.self else { return false }
        writer.put(Kind.plain.rawValue)
        writer.put(own) { $0.put($1) }
        writer.put(response.expectedContentLength)
        writer.put(response.mimeType) { $0.put($1) }
        writer.put(response.textEncodingName) { $0.put($1) }
        return true
    }

    /// Nil if the bytes were not written by this version of the library.
    init?(head: Data, data: Data, under key: CacheKey) {
        let entry = head.withUnsafeBytes { bytes -> CacheEntry? in
            var reader = ByteReader(bytes)
            guard reader.readByte() == Self.version, let response = Self.response(&reader, under: key),
                let policy = reader.readByte().flatMap({ URLCache.StoragePolicy(rawValue: UInt($0)) }),
                let date = reader.readDate(), let metadata = reader.readOptional({ $0.readMetadata() }),
                let list = reader.readOptional({ $0.readData() }), reader.isAtEnd
            else { return nil }
            let userInfo = list.flatMap { PropertyList.dictionary($0) }
            guard (list == nil) == (userInfo == nil) else { return nil }
            return CacheEntry(
                response: CachedURLResponse(
                    response: response, data: data, userInfo: userInfo, storagePolicy: policy, metadata: metadata),
                date: date)
        }
        guard let entry else { return nil }
        self = entry
    }

    private static func response(_ reader: inout ByteReader, under key: CacheKey) -> URLResponse? {
        guard let kind = reader.readByte().flatMap(Kind.init(rawValue:)),
            let own = reader.readOptional({ $0.readString() }),
            let url = URL(string: own ?? key.url), let length = reader.readNumber()
        else { return nil }
        switch kind {
        case .http:
            guard let status = reader.readNumber(), let version = reader.readString(), let count = reader.readNumber(),
                count >= 0
            else { return nil }
            var fields = HTTPFields()
            fields.reserve(fields: Int(min(count, 64)), bytes: reader.countOfRest)
            for _ in 0..<count {
                guard let name = reader.readBuffer(), let value = reader.readBuffer() else { return nil }
                fields.append(nameBytes: name, valueBytes: value)
            }
            return HTTPURLResponse(
                url: url, statusCode: Int(status), httpVersion: version, fields: fields, expectedContentLength: length)
        case .plain:
            guard let type = reader.readOptional({ $0.readString() }),
                let encoding = reader.readOptional({ $0.readString() })
            else { return nil }
            return URLResponse(
                url: url, mimeType: type, expectedContentLength: Int(length), textEncodingName: encoding)
        }
    }
}

extension ByteWriter {
    mutating func put(_ metadata: CacheMetadata) {
        put(metadata.requestTime)
        put(metadata.responseTime)
        put(metadata.lacksContent)
        put(metadata.part) { writer, part in
            writer.put(part.start)
            writer.put(part.total) { $0.put($1) }
        }
        put(metadata.variant)
    }

    mutating func put(_ variant: CacheMetadata.Variant) {
        put(Int64(variant.varyKey.count))
        for field in variant.varyKey {
            put(field.name)
            put(field.value) { $0.put($1) }
        }
        put(variant.owner.credentials) { $0.put($1) }
        put(variant.owner.cookies) { $0.put($1) }
    }
}

extension ByteReader {
    fileprivate mutating func readMetadata() -> CacheMetadata? {
        guard let requestTime = readDate(), let responseTime = readDate(), let lacksContent = readFlag(),
            let part = readOptional({ $0.readPart() }), let fields = readSelectingFields(),
            let credentials = readOptional({ $0.readData() }), let cookies = readOptional({ $0.readData() })
        else { return nil }
        return CacheMetadata(
            requestTime: requestTime, responseTime: responseTime, varyKey: fields,
            owner: CacheMetadata.Owner(credentials: credentials, cookies: cookies), part: part,
            lacksContent: lacksContent)
    }

    private mutating func readPart() -> CacheMetadata.Part? {
        guard let start = readNumber(), let total = readOptional({ $0.readNumber() }) else { return nil }
        return CacheMetadata.Part(start: start, total: total)
    }

    private mutating func readSelectingFields() -> [CacheMetadata.VaryField]? {
        guard let count = readNumber(), count >= 0 else { return nil }
        var fields: [CacheMetadata.VaryField] = []
        for _ in 0..<count {
            guard let name = readString(), let value = readOptional({ $0.readString() }) else { return nil }
            fields.append(CacheMetadata.VaryField(name: name, value: value))
        }
        return fields
    }
}
