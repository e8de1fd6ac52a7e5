import Foundation

/// A recording as Chrome exports it: pages, members of its own, pseudo fields, several cookies in one value, a redirect, a
/// JSON body, an image in base64, and a request that failed.
enum ChromeExport {
    static let text = #"""
        {
          "log": {
            "version": "1.2",
            "creator": { "name": "WebInspector", "version": "537.36" },
            "pages": [
              {
                "startedDateTime": "2026-01-31T10:20:30.123Z",
                "id": "page_1",
                "title": "https://shop.test/",
                "pageTimings": { "onContentLoad": 312.7, "onLoad": null }
              }
            ],
            "entries": [
              {
                "_initiator": { "type": "other" },
                "_priority": "VeryHigh",
                "_resourceType": "document",
                "cache": {},
                "connection": "443",
                "pageref": "page_1",
                "request": {
                  "method": "GET",
                  "url": "https://shop.test/old?b=2&a=1",
                  "httpVersion": "http/2.0",
                  "headers": [
                    { "name": ":authority", "value": "shop.test" },
                    { "name": ":method", "value": "GET" },
                    { "name": "accept", "value": "text/html" }
                  ],
                  "queryString": [ { "name": "b", "value": "2" }, { "name": "a", "value": "1" } ],
                  "cookies": [],
                  "headersSize": -1,
                  "bodySize": 0
                },
                "response": {
                  "status": 302,
                  "statusText": "",
                  "httpVersion": "http/2.0",
                  "headers": [ { "name": "location", "value": "/items" } ],
                  "cookies": [],
                  "content": { "size": 0, "mimeType": "x-unknown" },
                  "redirectURL": "/items",
                  "headersSize": -1,
                  "bodySize": -1,
                  "_transferSize": 131,
                  "_error": null
                },
                "serverIPAddress": "127.0.0.1",
                "startedDateTime": "2026-01-31T10:20:30.123Z",
                "time": 12.5,
                "timings": {
                  "blocked": 1.5, "dns": -1, "ssl": -1, "connect": -1, "send": 0.1, "wait": 10.4, "receive": 0.5,
                  "_blocked_queueing": 1.1
                }
              },
              {
                "request": {
                  "method": "GET", "url": "https://shop.test/items", "httpVersion": "http/2.0", "headers": [],
                  "queryString": [], "cookies": [], "headersSize": -1, "bodySize": 0
                },
                "response": {
                  "status": 200, "statusText": "", "httpVersion": "http/2.0",
                  "headers": [
                    { "name": "content-type", "value": "application/json; charset=utf-8" },
                    { "name": "content-encoding", "value": "br" },
                    { "name": "content-length", "value": "17" },
                    { "name": "set-cookie", "value": "a=1; Path=/\nb=2" }
                  ],
                  "cookies": [ { "name": "a", "value": "1", "path": "/", "httpOnly": false, "secure": false } ],
                  "content": { "size": 27, "mimeType": "application/json", "text": "{\"items\": [\"caf\u00e9\", \"tea\"]}" },
                  "redirectURL": "", "headersSize": -1, "bodySize": -1
                },
                "cache": {}, "timings": { "send": 0, "wait": 5, "receive": 1 },
                "startedDateTime": "2026-01-31T10:20:30.140Z", "time": 6
              },
              {
                "request": {
                  "method": "POST", "url": "https://shop.test/cart", "httpVersion": "http/2.0",
                  "headers": [ { "name": "content-type", "value": "application/json" } ],
                  "queryString": [], "cookies": [], "headersSize": -1, "bodySize": 24,
                  "postData": { "mimeType": "application/json", "text": "{\"item\":\"tea\",\"count\":2}" }
                },
                "response": {
                  "status": 201, "statusText": "Created", "httpVersion": "http/2.0", "headers": [], "cookies": [],
                  "content": { "size": 4, "mimeType": "image/png", "text": "iVBORw==", "encoding": "base64" },
                  "redirectURL": "", "headersSize": -1, "bodySize": -1
                },
                "cache": {}, "timings": { "send": 0, "wait": 5, "receive": 1 },
                "startedDateTime": "2026-01-31T10:20:31.140+01:00", "time": 6
              },
              {
                "request": {
                  "method": "GET", "url": "https://ads.test/x", "httpVersion": "", "headers": [], "queryString": [],
                  "cookies": [], "headersSize": -1, "bodySize": 0
                },
                "response": {
                  "status": 0, "statusText": "", "httpVersion": "", "headers": [], "cookies": [],
                  "content": { "size": 0, "mimeType": "x-unknown" }, "redirectURL": "", "headersSize": -1,
                  "bodySize": -1, "_transferSize": 0, "_error": "net::ERR_NAME_NOT_RESOLVED"
                },
                "cache": {}, "timings": { "send": 0, "wait": 0, "receive": 0 },
                "startedDateTime": "2026-01-31T10:20:31.240Z", "time": 0
              }
            ]
          }
        }
        """#

    static let data = Data(text.utf8)
}
