import TestSupport
import Testing

/// Redirects beyond what users reported: what the delegate may change, what a Location may be, and what stays behind.
@Suite struct RedirectTests {
  static let cases = [
    ScriptCase(
      "the delegate may change method, URL, fields and body",
      """
      local session = http.session(nil, { will_perform_redirection = function(_, _, _, request)
        request.method, request.url, request.body = "PUT", base .. "/echo?changed", "other body"
        request.headers["X-Mine"] = "1"
        request.headers["X-Old"] = nil
        return request
      end })
      print(assert(session:post(base .. "/303", { body = "x", headers = { ["X-Old"] = "0" } })).body)
      session.delegate.will_perform_redirection = function() return base .. "/echo?text" end
      print(assert(session:post(base .. "/307", { body = "x" })).body)
      session.delegate.will_perform_redirection = function() return http.request{ url = base .. "/echo", body = "new" } end
      print(assert(session:post(base .. "/307", { body = "x" })).body)
      """,
      prints: "PUT /echo?changed other body X-Mine=1 X-Old=", "GET /echo?text  X-Mine= X-Old=",
      "GET /echo new X-Mine= X-Old="),
    ScriptCase(
      "methods and bodies over each status; content fields go with the body",
      """
      for _, status in ipairs { 301, 302, 303, 307, 308 } do
        local line = {}
        for _, method in ipairs { "get", "post", "put", "delete" } do
          local body = method ~= "get" and "body" or nil
          local r = assert(http[method](base .. "/" .. status, {
            body = body, headers = { ["Content-Type"] = "text/x", ["Content-Language"] = "en" },
          }))
          line[#line + 1] = r.body:match("^%u+") .. (r.body:find("body") and "+" or "-")
          local keeps = method == "get" or r.body:find("body")
          assert(r.headers["X-Content"] == (keeps and "text/x en" or ""), r.headers["X-Content"])
        end
        print(status, table.concat(line, " "), assert(http.head(base .. "/" .. status)).headers["X-Method"])
      end
      for _, status in ipairs { 300, 304, 305 } do print(assert(http.get(base .. "/" .. status)).status) end
      """,
      prints: "301\tGET- GET- PUT+ DELETE+\tHEAD", "302\tGET- GET- PUT+ DELETE+\tHEAD",
      "303\tGET- GET- GET- GET-\tHEAD", "307\tGET- POST+ PUT+ DELETE+\tHEAD", "308\tGET- POST+ PUT+ DELETE+\tHEAD",
      "300", "304", "305"),
    ScriptCase(
      "what the configuration adds for an origin stays there, and no redirect's password is shown",
      """
      local session = http.session(http.configuration.ephemeral { http_additional_headers = {
        Authorization = "Bearer T", Cookie = "c=1", ["Proxy-Authorization"] = "P", ["X-Mine"] = "kept",
      } })
      local elsewhere = base:gsub("127%.0%.0%.1", "localhost")
      for _, url in ipairs { base .. "/to?" .. base .. "/bound", base .. "/to?" .. elsewhere .. "/bound" } do
        print(assert(session:get(url)).body)
      end
      local r, err = session:get(base .. "/ftp")
      print(r, err.code, (tostring(err) .. err.message):find("SECRET"))
      local metrics = assert(session:get(base .. "/to?" .. base .. "/bound")).metrics
      print(metrics.redirect_count, #metrics.transaction_metrics)
      """,
      prints: "Bearer T c=1 P kept", "- - - kept", "nil\tunsupported_url\tnil", "1\t2"),
    ScriptCase(
      "what a Location may be",
      """
      for _, path in ipairs {
        "/dir/relative", "/dir/up", "/query", "/dir/fragment#old", "/dir/keeps#old", "/network", "/several", "/empty",
        "/mail", "/broken", "/loop", "/spaces",
      } do
        local r, err = http.get(base .. path)
        local url = r and r.url:gsub("^http://[^/]*", "")
        print(path, r and r.status or err.code, url)
      end
      local r, err = http.get(base .. "/loop", { redirects = 3 })
      print(err.code, #err.response.redirects, err.response.status)
      """,
      prints: "/dir/relative\t200\t/dir/end", "/dir/up\t200\t/end", "/query\t200\t/query?x=1",
      "/dir/fragment#old\t200\t/end#new", "/dir/keeps#old\t200\t/end#old", "/network\t200\t/end",
      "/several\t200\t/end?1",
      "/empty\t302\t/empty", "/mail\tunsupported_url\tnil", "/broken\tredirect_to_nonexistent_location\tnil",
      "/loop\thttp_too_many_redirects\tnil", "/spaces\t200\t/end", "http_too_many_redirects\t3\t302"),
    ScriptCase(
      "user and password of a URL hold within its origin only",
      """
      local url = base:gsub("^http://", "http://us%%20er:p%%3Aw@")
      print(assert(http.get(url .. "/authorized")).body)
      print(assert(http.get(url .. "/302-authorized")).body)
      print(assert(http.get(url .. "/302-302-authorized")).body)
      print(assert(http.get(url .. "/to-localhost")).body)
      print(assert(http.get(base .. "/with-user")).body)
      print(assert(http.get(url .. "/with-user")).body, assert(http.get(url .. "/with-user")).url:find("@"))
      local hop = assert(http.get(url .. "/with-user")).redirects[1]
      print(hop.from == base .. "/with-user", hop.to == base .. "/authorized", hop.url == hop.to)
      """,
      prints: "Basic dXMgZXI6cDp3", "Basic dXMgZXI6cDp3", "Basic dXMgZXI6cDp3", "none", "Basic YTpi",
      "Basic YTpi\tnil", "true\ttrue\ttrue"),
  ]

  @Test(arguments: cases)
  func redirect(_ scriptCase: ScriptCase) async throws {
    let server = try ScriptedServer { request in
      let port = request["Host"]?.split(separator: ":").last ?? ""
      switch request.path {
      case "/301", "/302", "/303", "/307", "/308": return .redirect("\(request.path.dropFirst()) Go", to: "/echo")
      case "/300", "/304", "/305":
        return Reply(status: "\(request.path.dropFirst()) Go", fields: [("Location", "/echo")], body: [])
      case "/echo":
        let words =
          [request.method, request.target, request.bodyText]
          + ["X-Mine", "X-Old"].map { "\($0)=\(request[$0] ?? "")" }
        let content = "\(request["Content-Type"] ?? "") \(request["Content-Language"] ?? "")"
        return Reply(fields: [("X-Method", request.method), ("X-Content", content)], words.joined(separator: " "))
      case "/dir/relative": return .redirect(to: "end")
      case "/dir/up": return .redirect(to: "../end")
      case "/query" where request.target == "/query": return .redirect(to: "?x=1")
      case "/dir/fragment": return .redirect(to: "/end#new")
      case "/dir/keeps": return .redirect(to: "/end")
      case "/network": return .redirect(to: "//127.0.0.1:\(port)/end")
      case "/several": return Reply(status: "302 F", fields: [("Location", "/end?1"), ("Location", "/end?2")])
      case "/empty": return .redirect(to: "")
      case "/mail": return .redirect(to: "mailto:a@b.c")
      case "/broken": return .redirect(to: "http://[::1/")
      case "/loop": return .redirect(to: "/loop")
      case "/spaces": return .redirect(to: "   /end  ")
      case "/ftp": return .redirect(to: "ftp://u:SECRET@x/")
      case "/to": return .redirect(to: String(request.target.dropFirst("/to?".count)))
      case "/bound":
        let names = ["Authorization", "Cookie", "Proxy-Authorization", "X-Mine"]
        return Reply(names.map { request[$0] ?? "-" }.joined(separator: " "))
      case "/authorized": return Reply(request["Authorization"] ?? "none")
      case "/302-authorized": return .redirect(to: "/authorized")
      case "/302-302-authorized": return .redirect(to: "/302-authorized")
      case "/to-localhost": return .redirect(to: "http://localhost:\(port)/authorized")
      case "/with-user": return .redirect(to: "http://a:b@127.0.0.1:\(port)/authorized")
      default: return Reply("end")
      }
    }
    try await check(scriptCase, server.url)
  }
}
