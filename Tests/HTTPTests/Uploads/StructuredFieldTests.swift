import Testing

@testable import LoadingKitHTTP

@Suite("Structured fields")
struct StructuredFieldTests {
    @Test(
        "are read as RFC 9651 has them",
        arguments: [
            ("1", .integer(1)), ("-0", .integer(0)), (" 42 ", .integer(42)),
            ("999999999999999", .integer(999_999_999_999_999)),
            ("?1", .boolean(true)), ("?0;a=1;b", .boolean(false)), ("1.5", .other), ("\"a\\\"b\"", .other),
            ("a*/b", .other),
            (":YQ==:", .other), ("@1659578233", .other), ("%\"f%c3%bc\"", .other),
            ("", nil), ("?2", nil), ("?", nil), ("--1", nil), ("1000000000000000", nil), ("1.", nil), ("1.2345", nil),
            ("1234567890123.1", nil), ("1, 2", nil), ("1 2", nil), ("\"a", nil), ("\"\\x\"", nil), (":a", nil),
            ("é", nil),
            ("1;A=1", nil), ("@1.5", nil), ("+1", nil), ("\t1", nil),
        ] as [(String, StructuredField.Value?)])
    func items(_ text: String, _ value: StructuredField.Value?) {
        #expect(StructuredField.item(text) == value)
    }

    @Test(
        "are dictionaries, too",
        arguments: [
            ("", [:]), ("a=1, b", ["a": .integer(1), "b": .boolean(true)]),
            ("a=1,\tb=2;x=y , a=3", ["a": .integer(3), "b": .integer(2)]),
            ("a=(1 \"b\";c d);e", ["a": .other]), ("a=()", ["a": .other]), ("*x=?0", ["*x": .boolean(false)]),
            ("a=1,", nil), (",a=1", nil), ("a=1 b=2", nil), ("A=1", nil), ("a=", nil), ("a=(1", nil), ("a=(1,2)", nil),
        ] as [(String, [String: StructuredField.Value]?)])
    func dictionaries(_ text: String, _ members: [String: StructuredField.Value]?) {
        #expect(StructuredField.dictionary(text) == members)
    }

    @Test(
        "say limits, unless a member is no number",
        arguments: [
            ("max-size=5", UploadLimits(maxSize: 5)),
            ("max-append-size=7, max-size=9, other=x", UploadLimits(maxSize: 9, maxAppendSize: 7)),
            ("", UploadLimits()), ("max-size=-1", nil), ("max-size=5, max-age=?1", nil), ("max-size", nil),
        ] as [(String, UploadLimits?)])
    func limits(_ text: String, _ limits: UploadLimits?) {
        #expect(UploadLimits(text) == limits)
    }
}
