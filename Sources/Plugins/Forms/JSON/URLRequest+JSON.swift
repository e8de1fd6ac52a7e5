import Foundation
import LoadingKit

extension URLRequest {
    /// Sets the request's body to a value's JSON, and `Content-Type: application/json`. The method `GET` becomes
    /// `POST`; `Accept` becomes `application/json` where the request has none.
    ///
    /// - Throws: the encoder's errors. The request is then unchanged.
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
