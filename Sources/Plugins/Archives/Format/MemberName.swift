/// The text of a member's name.
enum MemberName {
    /// The bytes as UTF-8 where `mayBeUTF8`; otherwise the Unicode path field, where it belongs to this name
    /// (APPNOTE 4.6.9); otherwise CP437 (appendix D).
    static func decode(_ bytes: ArraySlice<UInt8>, mayBeUTF8: Bool, _ fields: ExtraFields) -> String {
        if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
        let text = mayBeUTF8 ? String(validating: bytes, as: UTF8.self) : nil
        return text ?? unicodePath(of: bytes, fields) ?? codePage437(bytes)
    }

    private static func unicodePath(of bytes: ArraySlice<UInt8>, _ fields: ExtraFields) -> String? {
        guard var reader = fields[0x7075].map({ NumberReader($0) }), reader.uint8() == 1,
            let checksum = reader.uint32(), checksum == CRC32(bytes).value
        else { return nil }
        return String(validating: reader.remaining, as: UTF8.self)
    }

    private static func codePage437(_ bytes: ArraySlice<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        for byte in bytes { text.append(byte < 0x80 ? Unicode.Scalar(byte) : upperHalf[Int(byte) - 0x80]) }
        return String(text)
    }

    /// The characters from 0x80 on.
    private static let upperHalf = Array(
        """
        ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»\
        ░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀\
        αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}
        """.unicodeScalars)
}
