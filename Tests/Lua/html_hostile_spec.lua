-- Documents made to hurt: each gives a document or an error, quickly.
local html = require "http.html"
local xml = require "http.xml"

local function timed(name, limit, f)
  local start = os.clock()
  f()
  local taken = os.clock() - start
  assert(taken < limit, ("%s took %.1f s"):format(name, taken))
end

local function walk(text)
  local doc = html.parse(text)
  if not doc then return end
  assert(#doc.text >= 0 and #doc.html >= 0)
  assert(doc:xpath("count(//*)") > 0)
  doc:css("div div span")
  doc:links()
  html.links(text)
end

timed("nested elements", 20, function()
  for _, tag in ipairs { "div", "a", "table", "p", "html" } do
    walk(("<" .. tag .. ">"):rep(100000) .. "x")
    walk(("<" .. tag .. " href=x>"):rep(20000) .. "x" .. ("</" .. tag .. ">"):rep(20000))
  end
end)

timed("stray end tags", 20, function()
  walk(("<div>"):rep(100000) .. ("</p>"):rep(200000))
  walk(("<div>"):rep(100000) .. ("</x>"):rep(200000))
end)

timed("unfinished markup", 20, function()
  for text in ([[< </ <! <!-- <![CDATA[ <a <a\thref=" & &# &#x <? <!DOCTYPE]]):gmatch("%S+") do
    text = text:gsub("\\t", "\t")
    walk("<p>" .. text)
    walk("<p>" .. text:rep(20000))
  end
end)

timed("deep document keeps its text and links", 5, function()
  local text = ("<div>"):rep(3000) .. "<a href='http://h/x'>in</a>" .. ("</div>"):rep(3000) .. "after"
  local doc = html.parse(text)
  assert(doc.text == "inafter", doc.text)
  assert(doc:links()[1].url == "http://h/x" and html.links(text)[1].text == "in")
end)

timed("nested links", 5, function()
  local text = ("<div><a href='http://h/'>x"):rep(250) .. ("y"):rep(1000000)
  local links, flat = html.parse(text):links(), html.links(text)
  assert(#links == 250 and #flat == 250)
  for i = 1, 250 do
    assert(#links[i].text == (i < 250 and 1 or 1000001) and links[i].text == flat[i].text)
  end
end)

timed("too many elements", 60, function()
  local doc, err = html.parse(("<b>"):rep(9000000))
  assert(doc == nil and err.code == "too_large", err and err.code)
end)

timed("quadratic expression", 60, function()
  local doc = html.parse(("<i></i>"):rep(50000))
  local value, err = doc:xpath("count(//i[count(preceding-sibling::i) > count(following-sibling::i)])")
  assert(value or err.code == "too_complex", err and err.message)
end)

timed("entities", 10, function()
  local lines = { '<!DOCTYPE x [<!ENTITY e0 "lol">' }
  for i = 1, 20 do lines[#lines + 1] = ("<!ENTITY e%d '%s'>"):format(i, ("&e" .. i - 1 .. ";"):rep(10)) end
  local doc, err = xml.parse(table.concat(lines) .. "]><x>&e20;</x>")
  assert(doc == nil and err.code == "bad_xml")
  doc, err = xml.parse('<!DOCTYPE x [<!ENTITY a "&b;"><!ENTITY b "&a;">]><x>&a;</x>')
  assert(doc == nil and err.code == "bad_xml")
  local big = ("x"):rep(100000)
  doc, err = xml.parse('<!DOCTYPE x [<!ENTITY a "' .. big .. '">]><x>' .. ("&a;"):rep(100000) .. "</x>")
  assert(doc == nil and err.code == "bad_xml")
end)

timed("outside files", 5, function()
  local doc, err = xml.parse('<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><x>&f;</x>')
  assert(doc == nil or doc.text == "", err and err.message)
  doc = xml.parse('<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd"><x>y</x>')
  assert(doc.text == "y")
  doc = xml.parse('<!DOCTYPE x [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]><x>y</x>')
  assert(doc == nil or doc.text == "y")
  doc = html.parse('<!DOCTYPE x SYSTEM "file:///etc/passwd" [<!ENTITY f SYSTEM "file:///etc/passwd">]><p>&f;')
  assert(not doc.text:find("root:", 1, true))
end)

timed("deep XML", 5, function()
  local doc, err = xml.parse(("<a>"):rep(100000))
  assert(doc == nil and err.code == "bad_xml" and err.line == 1)
end)

timed("a large sitemap", 60, function()
  local url = "<url><loc>https://example.org/some/page.html</loc></url>"
  local doc = assert(xml.parse("<urlset>" .. url:rep(400000) .. "</urlset>"))
  assert(doc:xpath("count(//loc)") == 400000)
end)
