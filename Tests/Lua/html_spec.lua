-- http.html and http.xml through the public interface.
local html = require "http.html"
local xml = require "http.xml"

local function equal(actual, expected, what)
  if actual ~= expected then
    error(("%s: %q expected, got %q"):format(what or "value", tostring(expected), tostring(actual)), 2)
  end
end

local function names(nodes)
  local list = {}
  for _, node in ipairs(nodes) do list[#list + 1] = node:attr("id") or node.name end
  return table.concat(list, " ")
end

local function fails(pattern, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok, "no error was raised")
  if not tostring(message):find(pattern) then error(("'%s' does not match '%s'"):format(message, pattern), 2) end
end

local PAGE = [[
<!DOCTYPE html>
<html><head><title> A
  page </title><style>b > i { }</style></head>
<body><div id=main class="x y"><p id=p1>one <b>two</b><!-- not --> three</p
><p id=p2 title='a &amp; "b"'>four<br>&lt;five&gt;</p>
<script>if (a < b && c) d()</script><INPUT disabled VALUE=""></div><div id=other
><p id=p3>&eacute;&nbsp;</p></div></body></html>]]

local doc = assert(html.parse(PAGE, { base = "http://h.test/dir/page" }))

do -- documents
  equal(doc.title, "A page")
  equal(doc.url, "http://h.test/dir/page")
  equal(doc.base, "http://h.test/dir/page")
  equal(doc.encoding, "UTF-8")
  equal(doc.type, "html")
  equal(doc.root.name, "html")
  assert(doc.text:find("b > i { }", 1, true) and doc.text:find("one two three", 1, true))
  assert(not doc.text:find("not", 1, true))
  equal(tostring(doc), "html document http://h.test/dir/page")
  equal(tostring(html.parse("")), "html document")
  assert(doc.html:find("^<!DOCTYPE html>\n?<html><head><title> A\n  page </title>"), doc.html)
  equal(doc.nothing, nil)
end

do -- nodes
  local p1, p2 = doc:css_first("#p1"), doc:css_first("#p2")
  equal(p1.type, "element")
  equal(p1.text, "one two three")
  equal(p1.html, '<p id="p1">one <b>two</b><!-- not --> three</p>')
  equal(p1.inner_html, "one <b>two</b><!-- not --> three")
  equal(p2:attr("title"), 'a & "b"')
  equal(p2:attr("TITLE"), 'a & "b"')
  equal(p2:attr("none"), nil)
  equal(p2.html, '<p id="p2" title="a &amp; &quot;b&quot;">four<br>&lt;five&gt;</p>')
  equal(doc:css_first("#p3").inner_html, "é&nbsp;")
  equal(doc:css_first("#p3").text, "é\u{a0}")
  equal(doc:css_first("script").html, "<script>if (a < b && c) d()</script>")
  local input = doc:css_first("input")
  equal(input:attr("disabled"), "")
  equal(input:attr("value"), "")
  equal(input.name, "input")
  local attributes = p2.attributes
  equal(attributes.id, "p2")
  equal(attributes.title, 'a & "b"')
  equal(names(doc:css_first("#main").children), "p1 p2 script input")
  equal(#p1.parent.children, 4)
  assert(p1.parent == doc:css_first("#main"))
  assert(p1 ~= p2 and p1 == doc:css_first("p"))
  assert(p1.document == doc)
  equal(doc.root.parent, nil)
  equal(tostring(p1), '<p id="p1">')
  equal(#tostring(html.parse('<a title="' .. ("x"):rep(500) .. '">'):css_first("a")), 80)
  equal(p1.namespace, nil)
end

do -- a node keeps its document
  local node
  do node = html.parse("<p>kept"):css_first("p") end
  collectgarbage()
  collectgarbage()
  equal(node.text, "kept")
  equal(node.parent.name, "body")
end

do -- selectors and expressions
  equal(names(doc:css("p")), "p1 p2 p3")
  equal(names(doc:css("div > p, b")), "p1 b p2 p3")
  equal(names(doc:css_first("#main"):css("p")), "p1 p2")
  equal(names(doc:css_first("#main"):css(":scope > p + p")), "p2")
  equal(names(doc:css_first("#main"):css("div p")), "p1 p2")
  equal(doc:css_first("#main"):css_first("b").text, "two")
  equal(doc:css_first("video"), nil)
  equal(#doc:css("video"), 0)
  equal(names(doc:xpath("//p[b]")), "p1")
  equal(doc:xpath("count(//p)"), 3)
  equal(doc:xpath("string(//b)"), "two")
  equal(doc:xpath("//p = 'x'"), false)
  equal(names(doc:css_first("#main"):xpath("p")), "p1 p2")
  equal(names(doc:css_first("#main"):xpath("//p")), "p1 p2 p3")
  local attribute = doc:xpath("//p/@id")[2]
  equal(attribute.type, "attribute")
  equal(attribute.name, "id")
  equal(attribute.text, "p2")
  assert(attribute.parent == doc:css_first("#p2"))
  local text = doc:css_first("#p1"):xpath("text()")[1]
  equal(text.type, "text")
  equal(text.name, nil)
  equal(text.text, "one ")
  equal(text.html, "one ")
  equal(text:attr("id"), nil)
  equal(#text.children, 0)
  equal(next(text.attributes), nil)
  equal(doc:xpath("//comment()")[1].text, " not ")
  assert(doc:xpath("/")[1] == doc)
  local id_order = doc:xpath("//p[@id='p3'] | //p[@id='p1']")
  equal(names(id_order), "p1 p3")
end

do -- what is wrong
  local nodes, err = doc:css("p[")
  equal(nodes, nil)
  equal(err.domain, "html")
  equal(err.code, "bad_selector")
  nodes, err = doc:css_first("::")
  equal(nodes, nil)
  equal(err.code, "bad_selector")
  nodes, err = doc:xpath("//p[")
  equal(nodes, nil)
  equal(err.code, "bad_xpath")
  assert(err.message:find("//p[", 1, true), err.message)
  for _, wrong in ipairs { "", "//x:p", "no-function()", "$v", "//p[", "\0", "(" .. ("("):rep(100000) } do
    nodes, err = doc:xpath(wrong)
    equal(nodes, nil, wrong:sub(1, 20))
    equal(err.code, "bad_xpath")
  end
  nodes, err = doc:css("a|b")
  equal(nodes, nil)
  equal(err.code, "bad_selector")
  fails("^test:%d+: text must be string, not nil", load("require 'http.html'.parse(nil)", "=test"))
  fails("did you mean 'base'", html.parse, "", { bas = "x" })
  fails("'base' must be string", html.parse, "", { base = 1 })
  fails("selector must be string", doc.css, doc, 1)
  fails("node expected", doc.root.attr, doc, "x")
  fails("string expected", doc.root.attr, doc.root)
end

do -- text that a tolerant parser must take
  equal(html.parse("a\0b").text, "ab")
  equal(html.parse("<p\0 id=x>y").root ~= nil, true)
  equal(html.parse("<p>a\r\nb\rc").text, "a\nb\nc")
  equal(html.parse("").root, nil)
  equal(html.parse("").text, "")
  equal(#html.parse(""):css("p"), 0)
  equal(html.parse("   ").text:gsub("%s", ""), "")
  equal(html.parse("plain").text, "plain")
  equal(html.parse("\xEF\xBB\xBF<p>é").text, "é")
  equal(html.parse("<p>\xE9").text, "é")
  equal(html.parse("<p>\xE9").encoding, "WINDOWS-1252")
  equal(html.parse("<p>\xC3\xA9", { encoding = "iso-8859-1" }).text, "Ã©")
  equal(html.parse("<meta charset=koi8-r><p>\xC1").text, "а")
  equal(html.parse("<p>\xC1", { encoding = "koi8-r" }).text, "а")
  equal(html.parse("<svg:rect xml:lang=en>"):css_first("body").children[1].name, "svg:rect")
  equal(html.parse("<p a=1 a=2>"):css_first("p"):attr("a"), "1")
  equal(html.parse(("x"):rep(11000000)).text, ("x"):rep(11000000))
end

do -- links
  local page = [[<base href="/app/"><a href="p">P <b> x</b></a> <a href="p#s1"> <a href=" &#10; q.html&#9;">
    <a href="?k=1" rel="next nofollow"> <a HREF='//127.0.0.1:81/r'> <a href=mailto:x@y> <a href="javascript:1">
    <a href=" JavaScript:1"><a href="data:,x"><a href="p&amp;x"> <!-- <a href="no"> --><a name=x>none</a>
    <map><area href=m alt=M></map><a href="#top">T</a><a href="">E</a><base href="/zz/">]]
  local expected = {
    "http://127.0.0.1:80/app/p", "http://127.0.0.1:80/app/p#s1", "http://127.0.0.1:80/app/q.html",
    "http://127.0.0.1:80/app/?k=1", "http://127.0.0.1:81/r", "http://127.0.0.1:80/app/p&x",
    "http://127.0.0.1:80/app/m", "http://127.0.0.1:80/app/#top", "http://127.0.0.1:80/app/",
  }
  local options = { base = "http://127.0.0.1:80/a/b.html#old" }
  local parsed = html.parse(page, options)
  equal(parsed.base, "http://127.0.0.1:80/app/")
  local flat = html.links(page, options)
  local links = parsed:links()
  for i = 1, math.max(#links, #expected) do
    equal(links[i] and links[i].url, expected[i])
    equal(flat[i] and flat[i].url, expected[i])
    equal(flat[i].text, links[i].text)
    equal(flat[i].rel, links[i].rel)
    equal(flat[i].node, nil)
  end
  equal(#flat, #links)
  equal(links[1].text, "P x")
  equal(links[1].node.name, "a")
  equal(links[1].rel, nil)
  equal(links[4].rel, "next nofollow")
  equal(links[7].node.name, "area")
  equal(links[1].tag, nil)

  local urls = html.link_urls(page, options)
  local bare = { 1, 3, 4, 5, 6, 7, 9 }
  equal(#urls, #bare)
  for i, index in ipairs(bare) do equal(urls[i], expected[index]) end
  local odd = '<a href="x#a b"></a><a href="x#é"></a><a href="x#">'
  equal(#html.link_urls(odd, options), 1)
  equal(html.links(odd, options)[3].url:sub(1, 23), "http://127.0.0.1:80/a/x")

  local second = [[<base target=x><base href="e/"><base href="/zz/"><a href=f>]]
  equal(html.links(second, { base = "http://h/c/d.html" })[1].url, "http://h/c/e/f")
  equal(html.parse(second, { base = "http://h/c/d.html" }):links()[1].url, "http://h/c/e/f")

  local without = html.parse('<a href="/x"></a><a href="HTTP://H.test/y z">')
  equal(without.base, nil)
  equal(#without:links(), 1)
  assert(without:links()[1].url:find("y%20z", 1, true), without:links()[1].url)
  equal(html.parse('<base href="http://b/"><a href=x>'):links()[1].url, "http://b/x")
  equal(html.parse('<base href="data:,x"><a href=x>', { base = "http://h/" }):links()[1].url, "http://h/x")

  local all = html.parse([[<link rel=stylesheet href=s.css><script src=a.js></script><img src=i.png srcset="j.png 1x,
    k.png 2x"><iframe src=f.html></iframe><a href=x>y</a><form action=/post></form>]], { base = "http://h/" }):links {
    all = true,
  }
  local shown = {}
  for _, link in ipairs(all) do
    shown[#shown + 1] = link.tag .. " " .. link.attribute .. " " .. link.url:match("[^/]*$")
  end
  equal(table.concat(shown, "; "), "link href s.css; script src a.js; img src i.png; img srcset j.png; " ..
    "img srcset k.png; iframe src f.html; a href x; form action post")
  equal(all[1].rel, "stylesheet")
  fails("did you mean 'all'", doc.links, doc, { al = true })
end

do -- XML
  local feed = assert(xml.parse([[<?xml version="1.0" encoding="iso-8859-1"?>
<!DOCTYPE f [<!ENTITY who "J&#xF6;rg">]>
<f xmlns="urn:f" xmlns:m="urn:m"><Title>A</Title><m:item id="1" m:k="v">&who; ]] .. "\xE9</m:item><![CDATA[<x>]]></f>"))
  equal(feed.type, "xml")
  equal(feed.root.name, "f")
  equal(feed.root.namespace, "urn:f")
  equal(feed.root.prefix, nil)
  local ns = { m = "urn:m", f = "urn:f" }
  local item = feed:xpath("//m:item", ns)[1]
  equal(item.name, "m:item")
  equal(item.local_name, "item")
  equal(item.prefix, "m")
  equal(item.namespace, "urn:m")
  equal(item.text, "Jörg é")
  equal(item:attr("id"), "1")
  equal(item:attr("m:k"), "v")
  equal(item:attr("k"), nil)
  equal(item:attr("ID"), nil)
  equal(item.attributes["m:k"], "v")
  equal(item.xml, '<m:item xmlns:m="urn:m" id="1" m:k="v">Jörg é</m:item>')
  equal(item.inner_xml, "Jörg é")
  equal(item.line, 3)
  assert(item == feed:css_first("m|item", ns))
  equal(#feed:css("item"), 1)
  equal(#feed:css("title"), 0)
  equal(#feed:css("Title"), 1)
  equal(feed:xpath("string(//f:Title)", ns), "A")
  equal(feed.text, "AJörg é<x>")
  assert(feed.xml:find("^<%?xml version=\"1.0\" encoding=\"UTF%-8\"%?>"))
  local _, err = feed:xpath("//m:item")
  equal(err.domain, "xml")
  equal(err.code, "bad_xpath")
  fails("namespaces must be table", feed.xpath, feed, "//m:x", "m")
  equal(#feed:links(), 0)

  for text, place in pairs {
    ["<a>\n  <b></a>"] = "2:", [""] = "1:", ["<a"] = "1:", ["<a>&nope;</a>"] = "1:", ["<a:b/>"] = "1:", ["\0"] = "1:",
    ["<a x=1/>"] = "1:", ["<a/><b/>"] = "1:", ["<a>\xFF</a>"] = "1:",
  } do
    local value
    value, err = xml.parse(text)
    equal(value, nil, text)
    equal(err.domain, "xml")
    equal(err.code, "bad_xml")
    assert(math.type(err.line) == "integer" and math.type(err.column) == "integer", text)
    equal(err.line .. ":", place, text)
  end
end
