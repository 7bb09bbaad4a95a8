local robots = require "http.robots"
local reader = require "json_reader"

return function(t)
  local it, expect = t.it, t.expect

  local function allowed(text, agent, url) return robots.parse(text):allowed(agent, url) end

  local rows = { google = {}, others = {} }
  for _, row in ipairs(reader.read(t.fixtures .. "robots.json")) do
    -- Where the suites contradict each other, RFC 9309 decides (below).
    if row.conflict_between_suites ~= true then
      local list = row.suite == "google-robotstxt" and rows.google or rows.others
      list[#list + 1] = row
    end
  end
  local function passes(row) return allowed(row.robots_txt, row.user_agent, row.url) == row.allowed end
  t.suite("robots.txt, Google", rows.google, #rows.google, passes)
  t.suite("robots.txt, protego, reppy, robots-parser, crawler-commons", rows.others, 599, passes)

  it("compares what is percent-encoded with what is not (RFC 9309 2.2.2)", function()
    local text = "User-agent: *\nDisallow: /\nAllow: /foo/bar/ツ\nAllow: /~joe/%7e\nAllow: /a%3cd"
    expect(allowed(text, "Bot", "http://h/foo/bar/ツ")):equals(true)
    expect(allowed(text, "Bot", "http://h/foo/bar/%e3%83%84")):equals(true)
    expect(allowed(text, "Bot", "http://h/%7Ejoe/~")):equals(true)
    expect(allowed(text, "Bot", "http://h/a<d")):equals(true)
    expect(allowed("User-agent: *\nDisallow: /a%2Fb", "Bot", "http://h/a/b")):equals(true)
  end)

  it("lets a rule name the special signs by encoding them", function()
    local text = "User-agent: *\nDisallow: /file-with-a-%2A.html\nDisallow: /foo-%24"
    expect(allowed(text, "Bot", "http://h/file-with-a-*.html")):equals(false)
    expect(allowed(text, "Bot", "http://h/file-with-a-x.html")):equals(true)
    expect(allowed(text, "Bot", "http://h/foo-$")):equals(false)
  end)

  it("merges groups of one agent, and shares a group among agents", function()
    local text = "User-agent: a\nUser-agent: b\nDisallow: /1\n\nUser-agent: a\nDisallow: /2\nUser-agent: *\nDisallow: /"
    expect(allowed(text, "a", "/1")):equals(false)
    expect(allowed(text, "a", "/2")):equals(false)
    expect(allowed(text, "b", "/2")):equals(true)
    expect(allowed(text, "c", "/3")):equals(false)
  end)

  it("finds the crawler's name in a whole User-Agent field", function()
    local text = "User-agent: TestBot\nDisallow: /private"
    for _, agent in ipairs {
      "TestBot", "testbot/1.0", "TestBot (+http://h/)", "Mozilla/5.0 (compatible; TestBot/1.0; +http://h/)",
    } do
      expect(allowed(text, agent, "http://h/private/x")):equals(false)
    end
    expect(allowed(text, "TestBotanist/1.0", "http://h/private/x")):equals(true)
  end)

  it("reads a byte order mark, any line end, and always allows robots.txt itself", function()
    local text = "\239\187\191User-agent: *\rDisallow: /a\r\nDisallow: /b\nDisallow: /robots.txt"
    expect(allowed(text, "Bot", "/a")):equals(false)
    expect(allowed(text, "Bot", "/b")):equals(false)
    expect(allowed(text, "Bot", "http://h/robots.txt")):equals(true)
  end)

  it("gives Crawl-delay and Sitemap", function()
    local r = robots.parse("Sitemap: http://h/1.xml\nUser-agent: *\nCrawl-delay: 2.5\nUser-agent: x\nDisallow:\n"
      .. "sitemap: http://h/2.xml # two")
    expect(r.sitemaps):same { "http://h/1.xml", "http://h/2.xml" }
    expect(r:crawl_delay("Bot")):equals(2.5)
    expect(r:crawl_delay("x")):equals(nil)
    expect(robots.parse("User-agent: *\nCrawl-delay: -1\nCrawl-delay: soon"):crawl_delay("Bot")):equals(nil)
  end)

  it("stops at 500 KiB and drops the line that is cut", function()
    local filler = ("# " .. ("x"):rep(97) .. "\n"):rep(5119)
    local text = filler .. "User-agent: *\nDisallow: /a\n" .. ("# y\n"):rep(10) .. "Disallow: /b" .. ("c"):rep(200)
    expect(#text > 512000):equals(true)
    expect(allowed(text, "Bot", "/a")):equals(false)
    expect(allowed(text, "Bot", "/b" .. ("c"):rep(300))):equals(true)
  end)

  it("takes hostile patterns in its stride", function()
    local started = os.clock()
    local text = "User-agent: *\nDisallow: /" .. ("a*"):rep(4000) .. "b$\nDisallow: /" .. ("*"):rep(8000) .. "x"
    expect(allowed(text, "Bot", "/" .. ("a"):rep(20000))):equals(true)
    expect(os.clock() - started):is_between(0, 1)
  end)

  it("takes any bytes and an empty file for a file without rules", function()
    for _, text in ipairs { "", "\0\1\2\255", "<html>", ":\n::\n", "Disallow: /" } do
      expect(allowed(text, "Bot", "http://h/x")):equals(true)
    end
  end)

  it("raises for arguments of the wrong type", function()
    expect(function() robots.parse(nil) end):raises("bad argument 'text'")
    expect(function() robots.parse(""):allowed(nil, "/") end):raises("robots_spec.lua:%d+: bad argument 'user_agent'")
  end)
end
