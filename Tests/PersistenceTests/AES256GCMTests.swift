import Foundation
import LoadingKitTransport
import Testing

@testable import LoadingKitPersistence

@Suite("AES-256-GCM")
struct AES256GCMTests {
    private func bytes(_ hexadecimal: String) -> Data {
        var rest = Substring(hexadecimal)
        var data = Data()
        while let byte = UInt8(rest.prefix(2), radix: 16) {
            data.append(byte)
            rest = rest.dropFirst(2)
        }
        return data
    }

    @Test("opens what the test cases of the mode's specification seal")
    func knownAnswers() throws {
        let zeroes = try #require(AES256GCM(key: Data(count: 32)))
        let nonce = Data(count: 12)
        #expect(zeroes.open(nonce + bytes("530f8afbc74536b9a963b4f1c4cb738b"), context: Data()) == Data())
        let sealed = nonce + bytes("cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919")
        #expect(zeroes.open(sealed, context: Data()) == Data(count: 16))
        #expect(AES256GCM(key: Data(count: 31)) == nil)
    }

    @Test("opens nothing that was changed, and nothing elsewhere")
    func tampering() throws {
        let key = try #require(SecureRandom.bytes(32))
        let cipher = try #require(AES256GCM(key: key))
        let text = Data("a secret".utf8)
        let sealed = try #require(cipher.seal(text, context: Data("here".utf8)))
        #expect(sealed.count == text.count + 28 && sealed != cipher.seal(text, context: Data("here".utf8)))
        #expect(cipher.open(sealed, context: Data("here".utf8)) == text)
        #expect(cipher.open(sealed, context: Data("there".utf8)) == nil)
        #expect(AES256GCM(key: Data(count: 32))?.open(sealed, context: Data("here".utf8)) == nil)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(cipher.open(changed, context: Data("here".utf8)) == nil, "\(index)")
        }
        for count in 0..<sealed.count { #expect(cipher.open(sealed.prefix(count), context: Data("here".utf8)) == nil) }
    }
}
