import Foundation
import LoadingKitTesting
import Testing

@Suite struct JSONTests {
    static let right: [(String, JSONValue)] = [
        ("null", nil), (" true ", true), ("false", false), ("0", 0), ("-12", -12), ("1.5", 1.5), ("1e2", 100),
        ("9223372036854775807", .integer(.max)), ("18446744073709551616", 18446744073709551616.0),
        (#""a\n\"\\\/\u00e9\ud83d\ude00""#, "a\n\"\\/é😀"), (#""\ud83dx""#, "\u{FFFD}x"), ("[]", []), ("{}", [:]),
        ("[1,[2],{\"a\":{}}]", [1, [2], ["a": [:]]]), ("{\"a\":1,\"a\":2}", ["a": 2]), ("\u{FEFF}{}", [:]),
    ]

    @Test(arguments: right) func reads(_ text: String, _ value: JSONValue) throws {
        let read = try JSONValue(parsing: text.utf8)
        #expect(read == value)
        #expect(try JSONValue(parsing: read.text().utf8) == value)
        #expect(try JSONValue(parsing: read.text(indentation: 3).utf8) == value)
        #expect(try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value)) == value)
    }

    static let wrong: [(String, Int, Int)] = [
        ("", 1, 1), ("{", 1, 2), ("[1,]", 1, 4), ("{\"a\" 1}", 1, 6), ("01", 1, 3), ("-", 1, 2), ("1.", 1, 3),
        ("tru", 1, 1), ("\"a", 1, 3), ("\"\u{1}\"", 1, 2), ("\"\\x\"", 1, 3), ("\"\\u+123\"", 1, 4), ("1 2", 1, 3),
        ("{\n  \"a\": ?\n}", 2, 8), ("1e999", 1, 6), ("{a:1}", 1, 2), ("\"\\u12", 1, 4),
    ]

    @Test(arguments: wrong) func refuses(_ text: String, _ line: Int, _ column: Int) {
        let error = #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text.utf8) }
        #expect(error?.line == line)
        #expect(error?.column == column, "\(String(describing: error))")
    }

    /// Neither a text that ends anywhere nor one that nests without end stops the process.
    @Test func survives() throws {
        let text = #"{"a":[1.5e3,"x\u00e9\n",{"b":null}],"c":true}"#
        let whole = try JSONValue(parsing: text.utf8)
        #expect(whole["a"]?[1]?.string == "xé\n")
        for end in 0..<text.utf8.count {
            #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text.utf8.prefix(end)) }
        }
        #expect(throws: JSONSyntaxError.self) {
            try JSONValue(parsing: repeatElement(UInt8(ascii: "["), count: 100_000))
        }
        let deep = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
        #expect(try JSONValue(parsing: deep.utf8).text() == deep)
    }

    @Test func numbersAreEqualByValue() {
        #expect(JSONValue.integer(1) == .number(1))
        #expect(Set([JSONValue.integer(1), .number(1)]).count == 1)
        #expect(JSONValue.integer(1) != .bool(true))
        #expect(JSONValue.integer(.max) != .number(Double(Int64.max)))
    }
}
