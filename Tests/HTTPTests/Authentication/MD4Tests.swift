import Testing

@testable import LoadingKitHTTP

/// The test suite of RFC 1320 §A.5, and lengths around those of blocks.
@Suite struct MD4Tests {
    @Test(arguments: [
        ("", "31d6cfe0d16ae931b73c59d7e0c089c0"), ("a", "bde52cb31de33e46245e05fbdbd6fb24"),
        ("abc", "a448017aaf21d8525fc10ae87aa6729d"), ("message digest", "d9130a8164549fe818874806e1c7014b"),
        ("abcdefghijklmnopqrstuvwxyz", "d79e1c308aa5bbcdeea8ed63df412da9"),
        ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "043f8582f241db351ce627e153e7f0e4"),
        (String(repeating: "1234567890", count: 8), "e33b4ddc9c38f2199c3e7b164fcc0536"),
    ]) func vectors(_ text: String, _ hash: String) {
        #expect(MD4.hash(Array(text.utf8)).hexadecimal == hash)
    }

    @Test func lengths() {
        let hashes = (0...130).map { MD4.hash([UInt8](repeating: 0, count: $0)) }
        #expect(Set(hashes).count == hashes.count && hashes.allSatisfy { $0.count == 16 })
    }
}
