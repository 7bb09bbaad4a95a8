local serializer = require "http.serializer"

return function(t)
  local host_it, expect = t.host_it, t.expect

  local function answer(status, content_type, body)
    local block = content_type and ("Content-Type: " .. content_type .. "\r\n") or ""
    return require("http.response").make(status, "OK", "1.1", "http://127.0.0.1/", block, #body, body)
  end

  host_it("writes nested parameters in the style that is asked for", function()
    local parameters = { b = { 1, 2 }, a = { y = "é &", x = true }, c = "z" }
    local cases = {
      { "brackets", "a%5Bx%5D=true&a%5By%5D=%C3%A9%20%26&b%5B%5D=1&b%5B%5D=2&c=z" },
      { "repeat", "a.x=true&a.y=%C3%A9%20%26&b=1&b=2&c=z" }, { "comma", "a.x=true&a.y=%C3%A9%20%26&b=1,2&c=z" },
    }
    for _, case in ipairs(cases) do
      expect(serializer.http_request({ query_style = case[1] }):encode_query(parameters)):equals(case[2])
    end
    local own = serializer.http_request { query_style = function(given) return "n=" .. #given end }
    expect(own:encode_query { 1, 2, 3 }):equals("n=3")
  end)

  host_it("puts parameters into the query of GET, HEAD and DELETE, and into the body of others", function()
    local form = serializer.http_request { headers = { ["X-A"] = "1" }, user = "u", password = "p", timeout = 3 }
    for _, method in ipairs { "GET", "HEAD", "DELETE" } do
      local made = form:request(method, "http://127.0.0.1/?x=1", { b = "2" })
      expect(tostring(made)):equals(method .. " http://127.0.0.1/?x=1&b=2")
      expect(made.body):equals(nil)
    end
    local made = form:request("POST", "http://127.0.0.1/", { b = "2 3" })
    expect(made.body):equals("b=2%203")
    expect(made.headers["Content-Type"]):equals("application/x-www-form-urlencoded")
    expect(made.headers["X-A"]):equals("1")
    expect(made.headers["Authorization"]):equals("Basic dTpw")
    expect(made.timeout):equals(3)
    expect(form:request("PUT", "http://127.0.0.1/").body):equals(nil)
    expect(form:request("POST", "http://127.0.0.1/", "raw=1").body):equals("raw=1")
  end)

  host_it("writes JSON bodies", function()
    local made = serializer.json_request():request("POST", "http://127.0.0.1/", { a = { 1, 2 } })
    expect(made.body):equals('{"a":[1,2]}')
    expect(made.headers["Content-Type"]):equals("application/json")
    local none, err = serializer.json_request():request("POST", "http://127.0.0.1/", { a = print })
    expect(none):equals(nil)
    expect(err.domain):equals("json")
    expect(serializer.json_request():request("GET", "http://127.0.0.1/", { a = 1 }).url):equals("http://127.0.0.1/?a=1")
  end)

  host_it("writes multipart forms", function()
    local made = serializer.http_request():multipart_request("POST", "http://127.0.0.1/", { a = { "1", "2" } },
      { { name = "f", data = "x", filename = "f.txt" } })
    expect(made.headers["Content-Type"]:find("^multipart/form%-data; boundary=") ~= nil):equals(true)
    local none, err = serializer.http_request():multipart_request("POST", "http://127.0.0.1/", {}, { { data = "x" } })
    expect(none):equals(nil)
    expect(err.code):equals("bad_url")
  end)

  host_it("takes what is acceptable and says why it does not take the rest", function()
    local json = serializer.json()
    expect(json:object(answer(200, "application/json", '{"a":1}')).a):equals(1)
    expect(json:object(answer(200, "application/problem+json; charset=utf-8", "[7]"))[1]):equals(7)
    for _, case in ipairs {
      { 200, "text/html", "{}", "cannot_parse_response" }, { 404, "application/json", "{}", "bad_server_response" },
    } do
      local value, err = json:object(answer(case[1], case[2], case[3]))
      expect(value):equals(nil)
      expect(err.code):equals(case[4])
    end
    local _, err = json:object(answer(200, "application/json", "{"))
    expect(err.domain):equals("json")
    for _, body in ipairs { "", " \n" } do
      local value, problem = json:object(answer(200, "application/json", body))
      expect(value):equals(nil)
      expect(problem):equals(nil)
    end
    expect((select(2, json:object(answer(204, nil, ""))))):equals(nil)
    expect(serializer.json({ status = { 404 } }):object(answer(404, "text/json", "true"))):equals(true)
    expect(serializer.http():object(answer(299, "x/y", "body"))):equals("body")
  end)

  host_it("leaves out null members when told to", function()
    local value = serializer.json({ remove_null = true }):object(
      answer(200, "application/json", '{"a":null,"b":{"c":null,"d":[null,{"e":null}]}}'))
    expect(require("json").encode(value, { sort_keys = true })):equals('{"b":{"d":[null,{}]}}')
  end)

  host_it("reads XML and HTML, and tries several in turn", function()
    expect(serializer.xml():object(answer(200, "text/xml", "<a><b>1</b></a>")):xpath("//b")[1].text):equals("1")
    expect(serializer.html():object(answer(200, "text/html", "<p>x")):css_first("p").text):equals("x")
    local any = serializer.compound { serializer.json(), serializer.xml() }
    expect(any:object(answer(200, "application/json", "[1]"))[1]):equals(1)
    expect(any:object(answer(200, "application/atom+xml", "<f/>")):xpath("/f")[1].name):equals("f")
    local value, err = any:object(answer(200, "image/png", "x"))
    expect(value):equals(nil)
    expect(err.message:find("image/png", 1, true) ~= nil):equals(true)
  end)

  host_it("refuses what makes no sense", function()
    local wrong = {
      { function() serializer.http_request { query_style = "bracket" } end, "did you mean 'brackets'" },
      { function() serializer.json { stats = 200 } end, "did you mean 'status'" },
      { function() serializer.compound {} end, "at least one" },
      { function() serializer.http_request():request("GET", "http://127.0.0.1/", { [1] = "x" }) end, "not a name" },
      {
        function() serializer.http_request():multipart_request("GET", "http://127.0.0.1/", {}, {}) end,
        "cannot be a GET",
      },
    }
    for _, case in ipairs(wrong) do
      local ok, message = pcall(case[1])
      expect(ok):equals(false)
      expect(tostring(message):find(case[2], 1, true) ~= nil):equals(true)
    end
  end)
end
