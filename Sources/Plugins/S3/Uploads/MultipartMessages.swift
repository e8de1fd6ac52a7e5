import Foundation
import LoadingKit

/// The requests and answers of a multipart upload, as values.
///
/// Source: *CreateMultipartUpload*, *UploadPart*, *ListParts* and *CompleteMultipartUpload* of Amazon's S3 API
/// reference.
enum MultipartMessages {
    typealias Item = CanonicalRequest.QueryItem

    static let create = [Item("uploads")]

    static func upload(_ identifier: String) -> [Item] { [Item("uploadId", identifier)] }

    static func part(_ number: Int, _ identifier: String) -> [Item] {
        [Item("partNumber", String(number)), Item("uploadId", identifier)]
    }

    // MARK: Fields

    /// Fields of an object that are sent when its upload is created. Fields of the body as a whole are not: its length,
    /// digests, and conditions, which are checked when the upload is completed.
    static func isOfCreation(_ name: String) -> Bool {
        let excluded = [
            "content-length", "content-md5", "x-amz-content-sha256", "x-amz-date", "x-amz-sdk-checksum-algorithm",
        ]
        return !excluded.contains(name) && !name.hasPrefix("x-amz-checksum-") && !isCondition(name) && name != "expect"
    }

    /// Fields that each part has.
    static func isOfPart(_ name: String) -> Bool {
        name.hasPrefix("x-amz-server-side-encryption-customer-")
            || ["x-amz-request-payer", "x-amz-expected-bucket-owner"].contains(name)
    }

    /// Fields that the completion has.
    static func isOfCompletion(_ name: String) -> Bool { isOfPart(name) || isCondition(name) }

    /// Fields with a checksum of the whole body.
    static func isChecksum(_ name: String) -> Bool {
        let name = name.lowercased()
        let others = ["x-amz-checksum-algorithm", "x-amz-checksum-mode", "x-amz-checksum-type"]
        return name == "content-md5" || name.hasPrefix("x-amz-checksum-") && !others.contains(name)
    }

    /// Throws where the fields of a body in parts have a checksum of the whole: no server would verify it.
    static func checkNoChecksum(_ names: some Sequence<String>) throws {
        if let name = names.first(where: isChecksum) { throw S3UploadError.wholeBodyChecksum(field: name) }
    }

    private static func isCondition(_ name: String) -> Bool { name == "if-match" || name == "if-none-match" }

    // MARK: Bodies

    static func completion(_ parts: [S3Upload.Part]) -> Data {
        let items = parts.sorted { $0.number < $1.number }.map { part in
            "<Part><PartNumber>\(part.number)</PartNumber><ETag>\(XMLElement.escaped(part.eTag))</ETag></Part>"
        }
        let namespace = "http://s3.amazonaws.com/doc/2006-03-01/"
        return Data(
            "<CompleteMultipartUpload xmlns=\"\(namespace)\">\(items.joined())</CompleteMultipartUpload>".utf8)
    }

    static func uploadID(of answer: S3Answer) throws -> String {
        guard let text = answer.document?["UploadId"], !text.isEmpty, text.utf8.count <= 1024 else {
            throw S3UploadError.unexpectedAnswer("the server created an upload without an identifier")
        }
        return text
    }

    static func eTag(of answer: S3Answer) throws -> String {
        guard let text = answer.field("ETag"), !text.isEmpty, text.utf8.count <= 1024 else {
            throw S3UploadError.unexpectedAnswer("the server stored a part without an ETag")
        }
        return text
    }

    /// The result in an answer to CompleteMultipartUpload. The server sends the status before it has assembled the
    /// parts: 200 alone is not a success. A server that fails in the meantime ends the body, or sends an error in it.
    static func storedObject(_ answer: S3Answer) throws -> S3StoredObject {
        guard let document = answer.document,
            document.name == "CompleteMultipartUploadResult" || document["ETag"] != nil
        else {
            throw S3UploadError.unexpectedAnswer(
                "the server answered the completion of the upload with status \(answer.status), and did not say that the object is "
                    + "stored; check whether it exists, or upload it again")
        }
        return S3StoredObject(eTag: document["ETag"], versionID: answer.field("x-amz-version-id"))
    }

    /// The parts in an answer to ListParts, and the number after which the next page starts; nil: there is none.
    static func parts(_ answer: S3Answer) throws -> (parts: [S3Upload.Part], next: Int?) {
        // Servers use different names for the root.
        guard let document = answer.document, document["UploadId"] != nil else {
            throw S3UploadError.unexpectedAnswer("the list of parts is not an answer to ListParts")
        }
        let parts = document.all("Part").compactMap { part -> S3Upload.Part? in
            guard let number = part["PartNumber"].flatMap({ Int($0) }), (1...PartPlan.maximumParts).contains(number),
                let size = part["Size"].flatMap({ Int($0) }), size >= 0, let eTag = part["ETag"]
            else { return nil }
            return S3Upload.Part(number: number, eTag: eTag, size: size)
        }
        guard document["IsTruncated"] == "true", let text = document["NextPartNumberMarker"] else {
            return (parts, nil)
        }
        guard let next = Int(text) else {
            throw S3UploadError.unexpectedAnswer("the list of parts is truncated, and has no marker for the next page")
        }
        return (parts, next)
    }
}
