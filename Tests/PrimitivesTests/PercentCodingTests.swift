@_spi(LoadingKitPlugins) import LoadingKitPrimitives
import Testing

@Suite struct PercentCodingTests {
    @Test func encoding() {
        let table = [
            ("", "", ""), ("aZ09-._~", "aZ09-._~", "aZ09-._%7E"), ("a b+c", "a%20b%2Bc", "a b%2Bc"),
            ("/%é\u{0}", "%2F%25%C3%A9%00", "/%25%C3%A9%00"),
        ]
        for (text, encoded, kept) in table {
            #expect(PercentCoding.encoded(text) == encoded)
            #expect(PercentCoding.encoded(text, keeping: "-._ /") == kept)
            #expect(PercentCoding.decoded(encoded) == Array(text.utf8))
        }
    }

    @Test func decoding() {
        let table = [
            ("%41%7a%7A", "Azz", "Azz"), ("a+b%2B", "a+b+", "a b+"), ("%", "%", "%"), ("%4", "%4", "%4"),
            ("%4g%41", "%4gA", "%4gA"), ("%%41", "%A", "%A"), ("", "", ""),
        ]
        for (text, plain, form) in table {
            #expect(PercentCoding.decoded(text) == Array(plain.utf8), "\(text)")
            #expect(PercentCoding.decoded(text, isForm: true) == Array(form.utf8), "\(text)")
        }
    }
}
