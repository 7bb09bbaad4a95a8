local css = require "http.css"
local reader = require "json_reader"

return function(t)
  local it, expect = t.it, t.expect

  local function xpath(selector, options)
    return assert(css.to_xpath(selector, options))
  end
  local function fault(selector, options)
    local result, message = css.to_xpath(selector, options)
    expect(result):equals(nil)
    return message
  end

  local suite = reader.read(t.fixtures .. "css_selectors.json").wpt

  t.suite("CSS selectors that are invalid, WPT", suite.invalid, #suite.invalid, function(row)
    local result, message = css.to_xpath(row.selector)
    return result == nil and message:find("position %d+: ") ~= nil
  end)

  -- Which elements they select, in order. What is out of reach: documents that the suite changes by script (namespaces,
  -- fragments in URLs), pseudo-elements (refused here), and attribute names that libxml2's HTML parser does not take.
  if t.is_host then
    local document = assert(require("http.html").parse(suite.document_html))
    local function ids_of(nodes)
      local ids = {}
      for _, node in ipairs(nodes) do
        ids[#ids + 1] = node:attr("id") or ""
      end
      return ids
    end
    local function selects(scope, row)
      local nodes = scope:css(row.selector)
      return nodes ~= nil and table.concat(ids_of(nodes), " ") == table.concat(row.expect_ids, " ")
    end
    t.suite("CSS selectors, WPT", suite.valid, 135, function(row) return selects(document, row) end)
    t.suite("CSS selectors below a node, WPT", suite.scoped, 127, function(row)
      local scope = document
      if type(row.ctx) == "string" and row.ctx ~= "" then
        scope = document:css_first("#" .. row.ctx:gsub("^#", "")) or document
      end
      return selects(scope, row)
    end)

    it("finds as the first what is the first of all", function()
      local compared = 0
      local function compare(rows, scope_of)
        for _, row in ipairs(rows) do
          -- A document of its own: the first question that it is asked.
          local fresh = assert(require("http.html").parse(suite.document_html))
          local first, all = scope_of(fresh):css_first(row.selector), scope_of(document):css(row.selector)
          if all then
            expect(first and first:attr("id")):equals(all[1] and all[1]:attr("id"))
            expect(first and first.line):equals(all[1] and all[1].line)
            compared = compared + (first and 1 or 0)
          end
        end
      end
      compare(suite.valid, function(whole) return whole end)
      compare(suite.scoped, function(whole) return assert(whole.root) end)
      expect(compared > 200):equals(true)
    end)
  end

  it("starts at the candidate and looks outward", function()
    expect(xpath("a > b c")):equals("/descendant::c[ancestor::b[parent::a]]")
    expect(xpath("a + b ~ c")):equals("/descendant::c[preceding-sibling::b[preceding-sibling::*[1]/self::a]]")
    expect(xpath("a, b", { scope = true })):equals("descendant::a | descendant::b")
  end)

  it("follows only the nearest candidate of each link", function()
    expect(xpath("a b c")):equals("/descendant::c[ancestor::b[1][ancestor::a]]")
    expect(xpath("x a > b c")):equals("/descendant::c[ancestor::b[parent::a][1][parent::a[ancestor::x]]]")
    expect(xpath("p ~ q ~ r")):equals("/descendant::r[preceding-sibling::q[1][preceding-sibling::p]]")
  end)

  it("steps forward from :scope", function()
    expect(xpath(":scope > a b", { scope = true })):equals("self::*/child::a/descendant::b")
    expect(xpath("div:scope", { scope = true })):equals("self::div")
    expect(xpath("x :scope > a", { scope = true })):equals("self::*[ancestor::x]/child::a")
    expect(xpath(":scope > a")):equals("/descendant::a[parent::*[not(parent::*)]]")
    expect(fault(":not(:scope)", { scope = true })):contains("':scope' is possible only once")
  end)

  it("compares names without case in HTML only", function()
    expect(xpath("DIV[Title]")):equals("/descendant::div[@title]")
    expect(xpath("DIV[Title]", { html = false })):equals("/descendant::*[local-name() = 'DIV' and @Title]")
  end)

  it("compares some of HTML's values without case", function()
    expect(xpath("[type=TEXT]")):contains("= 'text'")
    expect(xpath("[type=TEXT s]")):contains("@type = 'TEXT'")
    expect(xpath("[title=A i]")):contains("= 'a'")
    expect(xpath("[type=TEXT]", { html = false })):contains("@type = 'TEXT'")
  end)

  it("quotes any text", function()
    expect(xpath("[title=\"it's\"]")):contains([["it's"]])
    expect(xpath("[title='\"']")):contains([['"']])
    expect(xpath([=[[title="it's \"x\""]]=])):contains([[concat('it', "'", 's "x"')]])
    expect(xpath([[:contains("')]/..")]])):contains([["')]/.."]])
    expect(fault("[title='\\1']")):contains("control characters")
  end)

  it("resolves escapes", function()
    expect(xpath("#\\31 23")):contains("@id = '123'")
    expect(xpath(".a\\:b")):contains("' a:b '")
    expect(xpath("[a='x\\\ny']")):contains("'xy'")
    expect(xpath("[a='\\0']")):contains("'\u{FFFD}'")
  end)

  it("counts positions", function()
    expect(xpath("li:nth-child(odd)")):equals("/descendant::li[count(preceding-sibling::*) mod 2 = 0]")
    expect(xpath("li:nth-child( 2N + 3 )"))
      :equals("/descendant::li[(count(preceding-sibling::*) >= 2 and (count(preceding-sibling::*) - 2) mod 2 = 0)]")
    expect(xpath("li:nth-child(-n+3)")):equals("/descendant::li[count(preceding-sibling::*) <= 2]")
    expect(xpath("li:nth-last-of-type(1)")):equals("/descendant::li[not(following-sibling::li)]")
    expect(xpath("li:nth-child(0)")):equals("/descendant::li[false()]")
    expect(xpath("li:nth-child(2 of .x)")):contains("count(preceding-sibling::*[self::*[contains(")
    expect(fault("li:nth-child(2 x)")):contains("unexpected 'x'")
    expect(fault("li:nth-child()")):contains("a position such as")
  end)

  it("knows namespaces from a map", function()
    local options = { html = false, namespaces = { svg = "http://www.w3.org/2000/svg" } }
    expect(xpath("svg|a", options))
      :equals("/descendant::*[namespace-uri() = 'http://www.w3.org/2000/svg' and local-name() = 'a']")
    expect(xpath("*|a", options)):equals("/descendant::*[local-name() = 'a']")
    expect(xpath("|a", options)):equals("/descendant::a")
    expect(xpath("[svg|href]", options)):contains("namespace-uri() = 'http://www.w3.org/2000/svg'")
    expect(fault("x|a", options)):contains("position 1: the namespace prefix 'x' is not declared")
    expect(fault(":nth-of-type(1)", options)):contains("needs an element's name")
  end)

  it("says what is wrong and where", function()
    expect(fault("")):contains("position 1: a selector is missing")
    expect(fault("a >")):contains("position 4: a selector is missing")
    expect(fault("> a")):contains("write ':scope > …'")
    expect(fault("a,")):contains("position 3")
    expect(fault("a::before")):contains("position 2: pseudo-elements")
    expect(fault("a:after")):contains("pseudo-elements")
    expect(fault("a::text")):contains("use a node's 'text'")
    expect(fault("a:frist-child")):contains("position 2: unknown pseudo-class ':frist-child'")
    expect(fault("a:eq(1)")):contains("unknown pseudo-class ':eq()'")
    expect(fault("a:not")):contains("needs an argument")
    expect(fault("[a='x]")):contains("position 4: a string is not closed")
    expect(fault("a /* x")):contains("a comment is not closed")
    expect(fault("a\255")):contains("not valid UTF-8")
    expect(function() css.to_xpath(nil) end):raises("css_spec.lua:%d+: bad argument 'selector'")
  end)

  it("stays small and quick on hostile selectors", function()
    local started = os.clock()
    expect(fault((":not("):rep(5000) .. "a" .. (")"):rep(5000))):contains("nested too deeply")
    expect(fault(("a "):rep(40000))):contains("longer than 64 KiB")
    expect(#xpath(("a "):rep(500)) < 100000):equals(true)
    expect(#xpath(("a ~ b > c + d "):rep(100) .. "e") < 1048576):equals(true)
    css.to_xpath((":nth-child(2 of "):rep(20) .. "a" .. (")"):rep(20))
    expect(os.clock() - started):is_between(0, 5)
  end)

  it("keeps few translations", function()
    collectgarbage()
    local before = collectgarbage("count")
    for number = 1, 5000 do
      xpath("#element-" .. number)
    end
    collectgarbage()
    expect(collectgarbage("count") - before):is_between(-1000, 512)
    expect(xpath("a b")):equals(xpath("a b"))
  end)
end
