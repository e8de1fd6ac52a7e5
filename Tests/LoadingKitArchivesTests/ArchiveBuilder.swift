import Foundation
import LoadingKitLoopbackServer

/// Writes valid and invalid archives.
struct ArchiveBuilder {
    struct Member {
        var name: [UInt8]
        var content: [UInt8]
        var method: UInt16 = 0
        var flags: UInt16 = 0
        /// Instead of the content in its coded form.
        var data: [UInt8]?
        var localName: [UInt8]?
        var localExtra: [UInt8] = []
        var extra: [UInt8] = []
        var checksum: UInt32?
        var size: UInt32?
        var compressedSize: UInt32?
        var localMethod: UInt16?
        var time: UInt16 = 0x6000
        var date: UInt16 = 0x5821
        var offset: UInt32?
        /// The system of the tool that wrote it.
        var host: UInt64 = 0

        init(_ name: String, _ content: [UInt8] = [], method: UInt16 = 0) {
            self.name = Array(name.utf8)
            self.content = content
            self.method = method
        }

        init(_ name: String, _ content: String, method: UInt16 = 0) {
            self.init(name, Array(content.utf8), method: method)
        }

        func with(_ change: (inout Member) -> Void) -> Member {
            var member = self
            change(&member)
            return member
        }
    }

    var members: [Member] = []
    var prefix: [UInt8] = []
    var comment: [UInt8] = []
    var isZip64 = false
    /// Whether the offsets count from the file's start, though there is a prefix.
    var countsPrefix = false
    var entryCount: UInt16?
    var directorySize: UInt32?
    var directoryOffset: UInt32?
    var disk: UInt16 = 0

    init(_ members: Member...) { self.members = members }

    /// Raw deflate: the bytes between gzip's header of ten bytes and its trailer of eight.
    static func deflate(_ content: [UInt8]) throws -> [UInt8] {
        guard case .bytes(let coded) = try ServerResponse.gzip(content).body else { return [] }
        return Array(coded.dropFirst(10).dropLast(8))
    }

    func make() throws -> [UInt8] {
        var file = prefix
        var directory: [UInt8] = []
        let origin = countsPrefix ? 0 : prefix.count
        for member in members {
            let data = try member.data ?? (member.method == 8 ? Self.deflate(member.content) : member.content)
            let numbers = Numbers(member, data)
            let offset = member.offset ?? UInt32(file.count - origin)
            directory += Self.entry(member, numbers, offset)
            file += Self.header(member, numbers) + data
        }
        let start = UInt32(file.count - origin)
        file += directory
        if isZip64 { file += zip64End(directory.count, start: UInt64(start), place: UInt64(file.count - origin)) }
        file += Self.number(0x0605_4b50, 4) + Self.number(UInt64(disk), 2) + Self.number(0, 2)
        let count = entryCount ?? (isZip64 ? 0xFFFF : UInt16(truncatingIfNeeded: members.count))
        file += Self.number(UInt64(count), 2) + Self.number(UInt64(count), 2)
        file += Self.number(UInt64(directorySize ?? (isZip64 ? .max : UInt32(directory.count))), 4)
        file += Self.number(UInt64(directoryOffset ?? (isZip64 ? .max : start)), 4)
        return file + Self.number(UInt64(comment.count), 2) + comment
    }

    private struct Numbers {
        var checksum: UInt32
        var compressedSize: UInt32
        var size: UInt32

        init(_ member: Member, _ data: [UInt8]) {
            checksum = member.checksum ?? slowCRC32(member.content)
            compressedSize = member.compressedSize ?? UInt32(data.count)
            size = member.size ?? UInt32(member.content.count)
        }
    }

    private static func header(_ member: Member, _ numbers: Numbers) -> [UInt8] {
        let name = member.localName ?? member.name
        return number(0x0403_4b50, 4) + number(20, 2)
            + common(member, numbers, method: member.localMethod ?? member.method)
            + number(UInt64(name.count), 2) + number(UInt64(member.localExtra.count), 2) + name + member.localExtra
    }

    private static func entry(_ member: Member, _ numbers: Numbers, _ offset: UInt32) -> [UInt8] {
        number(0x0201_4b50, 4) + number(20 | member.host << 8, 2) + number(20, 2)
            + common(member, numbers, method: member.method)
            + number(UInt64(member.name.count), 2) + number(UInt64(member.extra.count), 2) + number(0, 2)
            + number(0, 2) + number(0, 2) + number(0, 4) + number(UInt64(offset), 4) + member.name + member.extra
    }

    private static func common(_ member: Member, _ numbers: Numbers, method: UInt16) -> [UInt8] {
        number(UInt64(member.flags), 2) + number(UInt64(method), 2) + number(UInt64(member.time), 2)
            + number(UInt64(member.date), 2) + number(UInt64(numbers.checksum), 4)
            + number(UInt64(numbers.compressedSize), 4) + number(UInt64(numbers.size), 4)
    }

    private func zip64End(_ size: Int, start: UInt64, place: UInt64) -> [UInt8] {
        let count = UInt64(members.count)
        return Self.number(0x0606_4b50, 4) + Self.number(44, 8) + Self.number(45, 2) + Self.number(45, 2)
            + Self.number(0, 4) + Self.number(0, 4) + Self.number(count, 8) + Self.number(count, 8)
            + Self.number(UInt64(size), 8) + Self.number(start, 8)
            + Self.number(0x0706_4b50, 4) + Self.number(0, 4) + Self.number(place, 8) + Self.number(1, 4)
    }

    static func number(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }
}

/// Computed bit by bit, to check the fast implementation.
func slowCRC32(_ bytes: [UInt8]) -> UInt32 {
    var value: UInt32 = .max
    for byte in bytes {
        value ^= UInt32(byte)
        for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }
    return ~value
}

/// Bytes that compress badly, the same each time.
func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        bytes.append(UInt8(truncatingIfNeeded: state >> 33))
    }
    return bytes
}
