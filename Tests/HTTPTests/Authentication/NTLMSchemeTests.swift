import Foundation
import LoadingKit
import TestSupport
import Testing

@testable import LoadingKitHTTP

/// The values of MS-NLMP §4.2.4, and the handshake.
@Suite struct NTLMSchemeTests {
    private static let request = HTTPAuthenticationRequest(method: "GET", target: "/", host: "h")
    private static let credential = URLCredential(user: "Domain\\User", password: "Password", persistence: .none)

    private static func attribute(_ number: UInt16, _ value: [UInt8]) -> [UInt8] {
        NTLMMessage.littleEndian(number) + NTLMMessage.littleEndian(UInt16(value.count)) + value
    }

    /// MS-NLMP §4.2.4: the server `Server` of the domain `Domain`.
    private static let information =
        attribute(2, NTLMMessage.utf16("Domain")) + attribute(1, NTLMMessage.utf16("Server")) + [0, 0, 0, 0]

    private static func challenge(_ information: [UInt8] = information) -> [UInt8] {
        let name = NTLMMessage.utf16("Server")
        func place(_ part: [UInt8], _ offset: Int) -> [UInt8] {
            let count = NTLMMessage.littleEndian(UInt16(part.count))
            return count + count + NTLMMessage.littleEndian(UInt32(offset))
        }
        return NTLMMessage.signature + NTLMMessage.littleEndian(UInt32(2)) + place(name, 56)
            + NTLMMessage.littleEndian(UInt32(0xe28a_8233)) + [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef]
            + [UInt8](repeating: 0, count: 8) + place(information, 56 + name.count)
            + [6, 0, 0x70, 0x17, 0, 0, 0, 0x0f] + name + information
    }

    private static func response(_ challenge: [UInt8]) throws -> NTLMResponse {
        let challenge = try #require(NTLMChallenge(challenge))
        return try #require(
            NTLMResponse(
                NTLMIdentity("Domain\\User", "Password"), challenge,
                clientChallenge: [UInt8](repeating: 0xaa, count: 8), now: 0))
    }

    @Test func vectors() throws {
        #expect(NTLMIdentity("Domain\\User", "Password").key?.hexadecimal == "0c868a403bfd7a93a3001ef22ef02e3f")
        let response = try Self.response(Self.challenge())
        #expect(response.lanManager.hexadecimal == "86c35097ac9cec102554764a57cccc19aaaaaaaaaaaaaaaa")
        #expect(Array(response.nt.prefix(16)).hexadecimal == "68cd0ab851e51c96aabc927bebef6a1c")
        #expect(
            Array(response.nt.dropFirst(16)).hexadecimal
                == "01010000000000000000000000000000aaaaaaaaaaaaaaaa0000000002000c0044006f006d00610069006e00"
                + "01000c005300650072007600650072000000000000000000")
        #expect(response.sessionKey.hexadecimal == "8de40ccadbc14a82f15cb0ad0de95ca3")
    }

    @Test func theLastMessageHasItsPartsWhereItSays() throws {
        let response = try Self.response(Self.challenge())
        let message = try #require(response.message(after: NTLMMessage.negotiate))
        let parts = [12, 20, 28, 36, 44, 52].map { NTLMMessage.field(message, at: $0) }
        #expect(
            parts == [
                response.lanManager, response.nt, NTLMMessage.utf16("Domain"), NTLMMessage.utf16("User"), [], [],
            ])
        #expect(message.starts(with: NTLMMessage.signature) && message[8] == 3)
    }

    /// A server that sends its time gets it back, with a check over all three messages (MS-NLMP §3.1.5.1.2).
    @Test func theMessagesAreProtected() throws {
        let time: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
        let challenge = Self.challenge(Self.attribute(7, time) + Self.information)
        let response = try Self.response(challenge)
        #expect(Array(response.nt[24..<32]) == time && response.lanManager == [UInt8](repeating: 0, count: 24))
        #expect(response.nt.hexadecimal.contains("0600040002000000"), "the check is announced")
        var message = try #require(response.message(after: NTLMMessage.negotiate))
        let check = Array(message[72..<88])
        message.replaceSubrange(72..<88, with: [UInt8](repeating: 0, count: 16))
        #expect(
            MessageDigest.md5.authenticate(NTLMMessage.negotiate + challenge + message, key: response.sessionKey)
                == check)
    }

    /// A version of the system that is not sent is zero, but there (MS-NLMP §2.2.1.1, §2.2.1.3).
    @Test func placesThatAreThere() throws {
        #expect(NTLMMessage.negotiate.count == 40)
        let message = try #require(try Self.response(Self.challenge()).message(after: NTLMMessage.negotiate))
        #expect(message[64..<72].allSatisfy { $0 == 0 })
        #expect(NTLMMessage.number(message, at: 16, UInt32.self) == 72, "the first part follows")
    }

    /// An option that the server has not chosen is not the connection's. The names are Unicode in any case.
    @Test func optionsOfBothSides() throws {
        var challenge = Self.challenge()
        challenge.replaceSubrange(20..<24, with: NTLMMessage.littleEndian(UInt32(0x0280_8202)))
        let message = try #require(try Self.response(challenge).message(after: NTLMMessage.negotiate))
        #expect(NTLMMessage.number(message, at: 60, UInt32.self) == 0x0080_8201)
    }

    /// MS-NLMP §3.1.5.1.2, and RFC 5929 with TLS.
    @Test func theServiceIsNamed() throws {
        let challenge = try #require(NTLMChallenge(Self.challenge()))
        let target = Self.attribute(9, NTLMMessage.utf16("HTTP/h"))
        let unbound = challenge.information(promisesCheck: false, target: "HTTP/h")
        let none = Self.attribute(10, [UInt8](repeating: 0, count: 16))
        let names = Array(Self.information.prefix(Self.information.count - 4))
        #expect(unbound == names + target + none + [0, 0, 0, 0])
        let binding = try #require(NTLMChannelBinding(endPointHash: [1, 2, 3]))
        let bound = challenge.information(promisesCheck: true, target: "HTTP/h", binding)
        #expect(bound.hexadecimal.contains((target + Self.attribute(10, binding.hash)).hexadecimal))
        // A name that the server has sent itself is not left beside it.
        let other = Self.attribute(9, NTLMMessage.utf16("HTTP/other"))
        let named = try #require(NTLMChallenge(Self.challenge(other + Self.information)))
        #expect(named.information(promisesCheck: false, target: "HTTP/h") == unbound)
        let old = try #require(NTLMChallenge(Array(Self.challenge().prefix(32))))
        #expect(old.information(promisesCheck: false, target: "HTTP/h") == [0, 0, 0, 0])
        let long = "HTTP/" + String(repeating: "h", count: 40_000)
        #expect(challenge.information(promisesCheck: false, target: long) == names + none + [0, 0, 0, 0])
    }

    /// Character by character, as servers do it.
    @Test func capitals() {
        let same = [("weiß", "WEIß"), ("jürgen", "JÜRGEN"), ("ǆ", "Ǆ"), ("ﬁ", "ﬁ"), ("😀a", "😀A")]
        for (name, capitals) in same {
            #expect(NTLMIdentity("D\\\(name)", "p").key == NTLMIdentity("D\\\(capitals)", "p").key, "\(name)")
        }
        #expect(NTLMIdentity("weiß", "p").key != NTLMIdentity("weiss", "p").key)
    }

    @Test func threeMessages() throws {
        let offer = HTTPAuthenticationChallenge(scheme: "NTLM")
        var scheme = try #require(NTLMScheme(offer))
        let first = scheme.authorization(for: Self.request, with: Self.credential)
        #expect(first == "NTLM " + Data(NTLMMessage.negotiate).base64EncodedString() && !scheme.isLastStep)
        let answer = HTTPAuthenticationChallenge(
            scheme: "NTLM", token: Data(Self.challenge()).base64EncodedString())
        let isNextStep = scheme.advance(after: answer)
        #expect(isNextStep)
        let value = scheme.authorization(for: Self.request, with: Self.credential)
        let last = try #require(value)
        let message = try #require(Data(base64Encoded: String(last.dropFirst(5))))
        #expect(message[8] == 3 && scheme.isLastStep)
        let isAnotherStep = scheme.advance(after: offer)
        #expect(!isAnotherStep, "refused")
        // The connection was lost.
        let again = scheme.authorization(for: Self.request, with: Self.credential)
        #expect(again == first && !scheme.isLastStep)
        let isAnswered = scheme.advance(after: offer)
        #expect(!isAnswered, "there is no challenge")
    }

    @Test func names() {
        for (name, user, domain) in [("a\\b", "b", "a"), ("b@a", "b@a", ""), ("b", "b", ""), ("a\\b\\c", "b\\c", "a")] {
            let identity = NTLMIdentity(name, "")
            #expect(identity.user == user && identity.domain == domain)
        }
    }

    @Test func messagesThatAreNone() {
        let whole = Self.challenge()
        for count in 0..<whole.count where !(32..<48).contains(count) {
            #expect(NTLMChallenge(Array(whole[..<count])) == nil, "\(count)")
        }
        var random = SeededGenerator(seed: 1)
        for _ in 0..<3000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] =
                    [0, 1, 0x7f, 0xff, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
            }
            bytes.removeLast(Int.random(in: 0...3, using: &random))
            guard let challenge = NTLMChallenge(bytes) else { continue }
            let response = NTLMResponse(
                NTLMIdentity("u", "p"), challenge, clientChallenge: [UInt8](repeating: 0, count: 8), now: .max)
            _ = response?.message(after: NTLMMessage.negotiate)
        }
    }
}
