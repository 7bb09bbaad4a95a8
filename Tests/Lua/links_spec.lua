local links = require "http.links"
local reader = require "json_reader"

return function(t)
  local it, expect = t.it, t.expect

  -- Rows that say what links come out; the others test the insides of their libraries.
  local rows = {}
  for _, row in ipairs(reader.read(t.fixtures .. "link.json")) do
    if row.links then rows[#rows + 1] = row end
  end
  -- Three rows are opinions: a quoted string that is not closed, a charset that RFC 8187 does not ask for, and a
  -- library that leaves links without a relation out.
  t.suite("Link header", rows, #rows - 3, function(row)
    local found = links.parse(row.header)
    if #found ~= #row.links then return false end
    for index, wanted in ipairs(row.links) do
      local link = found[index]
      if link.url ~= wanted.uri or table.concat(link.rels, " ") ~= table.concat(wanted.rels, " ") then return false end
      for name, value in pairs(wanted.params) do
        if link.params[name] ~= value then return false end
      end
    end
    return true
  end)

  it("resolves targets with the function that it is given", function()
    local found = links.parse('<../next?p=2>; rel="next last"', function(reference) return "http://h/" .. reference end)
    expect(found[1].url):equals("http://h/../next?p=2")
    expect(found[1].rel):equals("next last")
    expect(found[1].rels):same { "next", "last" }
    expect(links.parse("<x>; rel=a", function() return nil end)[1].url):equals("x")
  end)

  it("takes several fields", function()
    local found = links.parse { "<a>; rel=x", "<b>; rel=y, <c>" }
    expect(#found):equals(3)
    expect(found[3].rel):equals(nil)
    expect(links.parse({})):same {}
  end)

  it("goes on behind a malformed link", function()
    local found = links.parse('garbage "a,b" <x,y>, <ok>; rel=next, <bad, <fine>')
    expect(#found):equals(2)
    expect(found[1].url):equals("ok")
  end)

  it("ends on hostile fields", function()
    local started = os.clock()
    for _, text in ipairs { "<", ",", "<a>;", '"', '<a>;x="', "<a>;x=y ", "a<" } do
      links.parse(text:rep(5001))
    end
    expect(os.clock() - started):is_between(0, 1)
  end)

  it("raises for a wrong argument", function()
    expect(function() links.parse(7) end):raises("links_spec.lua:%d+: bad argument 'fields'")
  end)
end
