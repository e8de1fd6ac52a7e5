import Foundation
import LoadingKit

extension URLRequest {
    /// Makes a value's JSON the request's body, and sets `Content-Type: application/json`. A request of method `GET`
    /// becomes one of `POST`; `Accept` becomes `application/json` where the request has none.
    ///
    /// - Throws: what the encoder throws. The request is not changed then.
    public mutating func setJSON(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws {
        let body = try encoder.encode(value)
        if httpMethod == "GET" { httpMethod = "POST" }
        setValue("application/json", forHTTPHeaderField: "Content-Type")
        setValue(nil, forHTTPHeaderField: "Content-Length")
        if self.value(forHTTPHeaderField: "Accept") == nil {
            setValue("application/json", forHTTPHeaderField: "Accept")
        }
        httpBody = body
    }
}
