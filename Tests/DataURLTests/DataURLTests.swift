import LoadingKitDataURL
import Testing

/// The `data:` URL processor of the Fetch Standard, and the forgiving base64 of the Infra Standard.
@Suite struct DataURLTests {
    private static let noType = "text/plain;charset=US-ASCII"

    @Test func mediaTypesAndBodies() {
        let cases: [(String, String, String)] = [
            ("data:,x", Self.noType, "x"), ("data:,", Self.noType, ""), ("data:css,x", Self.noType, "x"),
            ("data:text/css,x", "text/css", "x"), ("data:TEXT/Css;A=B,x", "text/css;a=B", "x"),
            ("data:text/css ,x", "text/css", "x"), ("data:text/css%20,x", "text/css%20", "x"),
            ("data:text / css,x", Self.noType, "x"), ("data:text/css;,x", "text/css", "x"),
            // Parameters alone are those of text/plain.
            ("data:;a=b,x", "text/plain;a=b", "x"), ("data:; charset=a,x", "text/plain;charset=a", "x"),
            ("data:;charset=\"a\",x", "text/plain;charset=a", "x"), ("data:;charset,x", "text/plain", "x"),
            // The first comma ends the type, also within quotes; a fragment ends the body.
            ("data:,a,b", Self.noType, "a,b"), ("data:a/b;c=\",\",x", "a/b;c=\"\"", "\",x"),
            ("data:,a#b", Self.noType, "a"), ("data:,a?b", Self.noType, "a?b"),
            // Escapes, whole and broken.
            ("data:,%41%4a", Self.noType, "AJ"), ("data:,%4%%4", Self.noType, "%4%%4"),
            ("data:,%4g", Self.noType, "%4g"),
            // The word base64 is last, in letters of any case, after spaces, and not escaped.
            ("data:;base64,QQ", Self.noType, "A"), ("data:a/b;BASE64,QQ", "a/b", "A"),
            ("data:a/b;  base64  ,QQ", "a/b", "A"), ("data:a/b;base64;base64,QQ", "a/b", "A"),
            ("data:a/b;base64;c=d,QQ", "a/b;c=d", "QQ"), ("data:a/b;base64=,QQ", "a/b", "QQ"),
            ("data:a/b;base64x,QQ", "a/b", "QQ"), ("data:a/b;%62ase64,QQ", "a/b", "QQ"),
            ("data:;base64,%51Q", Self.noType, "A"), ("data:;base64,Q%20Q%3d=", Self.noType, "A"),
        ]
        for (url, type, body) in cases {
            let data = DataURL(url)
            #expect(data?.mimeType.serialized == type, "\(url)")
            #expect(data?.body == Array(body.utf8), "\(url)")
        }
        for url in ["data:", "data:x", "data:text/css;base64", "data:;base64,Q", "data:;base64,Q=Q", "data:;base64,%"] {
            #expect(DataURL(url) == nil, "\(url)")
        }
    }

    @Test func forgivingBase64() {
        let cases: [(String, [UInt8]?)] = [
            ("", []), ("QUJD", [65, 66, 67]), ("QUI", [65, 66]), ("QUI=", [65, 66]), ("QQ", [65]), ("QQ==", [65]),
            ("/+8", [255, 239]), ("QR", [65]), ("QUK=", [65, 66]),
            (" Q\tU\nI\u{c}=\r", [65, 66]), ("QQ = =", [65]),
            // A length that cannot be, or padding that does not fill it.
            ("Q", nil), ("QUJDQ", nil), ("Q=", nil), ("Q===", nil), ("QQ=", nil), ("QQ===", nil), ("QUI==", nil),
            ("QUJD=", nil), ("QUJD====", nil), ("=", nil), ("====", nil), ("Q=Q=", nil), ("=QQ", nil),
            // Another alphabet, and white space that is not ASCII's.
            ("Q-_Q", nil), ("Q~QQ", nil), ("QU\u{b}JD", nil), ("QUJD\0", nil), ("QU\u{a0}JD", nil), ("QÜJD", nil),
        ]
        for (text, bytes) in cases {
            #expect(ForgivingBase64.decode(text.utf8) == bytes, "\(text.debugDescription)")
        }
    }
}
