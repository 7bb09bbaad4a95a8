-- The crawler against a site made of tables: a session is anything with `get` and `head`.

return function(t)
  if not t.is_host then
    t.host_it("crawl", nil)
    return
  end

  local crawl = require "http.crawl"
  local errors = require "http.errors"
  local http = require "http"
  local response = require "http.response"
  local it, expect = t.it, t.expect

  local BASE = "http://site.example"

  local ATTRIBUTE = { a = "href", link = "href", img = "src", iframe = "src", embed = "src", form = "action" }

  local function body_of(page)
    local head, body = {}, {}
    for _, link in ipairs(page.links or {}) do
      if type(link) == "string" then link = { url = link, tag = "a" } end
      table.insert(link.tag == "link" and head or body, ('<%s %s="%s" rel="%s"></%s>'):format(link.tag,
        ATTRIBUTE[link.tag], link.url, link.rel or "", link.tag))
    end
    return ("<html><head>%s</head><body>%s</body></html>"):format(table.concat(head), table.concat(body))
  end

  -- pages: path -> { links = { … }, status, location, type, delay, error, robots = text }
  local function site(pages, base)
    base = base or BASE
    local made = { log = {}, active = 0, most = 0, times = {} }
    local function answer(method, address, given)
      made.log[#made.log + 1] = method .. " " .. address
      made.times[#made.times + 1] = http.now()
      made.agent = given.headers["User-Agent"]
      made.given = given
      made.active = made.active + 1
      made.most = math.max(made.most, made.active)
      local page = pages[address] or pages[address:sub(#base + 1)] or { status = 404 }
      if page.delay then http.sleep(page.delay) end
      made.active = made.active - 1
      if page.error then return nil, page.error end
      if given.sink and page.robots then given.sink(page.robots) end
      local status = page.status or (page.location and 302) or 200
      local block = "Content-Type: " .. (page.type or "text/html") .. "\r\n"
      if page.location then block = block .. "Location: " .. page.location .. "\r\n" end
      return response.make(status, "", "1.1", address, block, -1, method == "GET" and body_of(page) or nil)
    end
    function made.get(_, address, given) return answer("GET", address, given) end
    function made.head(_, address, given) return answer("HEAD", address, given) end
    return made
  end

  local function run(session, given)
    given = given or {}
    given.session, given.start = session, given.start or BASE .. "/"
    local crawler = crawl(given)
    local found, by_url = {}, {}
    for page in crawler:pages() do
      found[#found + 1] = page.url
      by_url[page.url] = page
    end
    table.sort(found)
    return found, by_url, crawler
  end

  local function urls(...)
    local list = {}
    for _, path in ipairs { ... } do
      list[#list + 1] = BASE .. path
    end
    return list
  end

  it("visits every page once, whatever its links look like", function()
    local session = site {
      ["/"] = { links = { "/a", "/a#x", "/b", "/", "mailto:x@y", "javascript:1", "/b?" } },
      ["/a"] = { links = { "/b", "/c" } }, ["/b"] = {}, ["/b?"] = {}, ["/c"] = { links = { "/a" } },
    }
    local found, pages = run(session)
    expect(found[1]):equals(BASE .. "/")
    expect(pages[BASE .. "/c"].depth):equals(2)
    expect(pages[BASE .. "/c"].referrer):equals(BASE .. "/a")
    expect(pages[BASE .. "/"].links[1]):equals(BASE .. "/a")
    expect(pages[BASE .. "/"].depth):equals(0)
    local seen = {}
    for _, line in ipairs(session.log) do
      expect(seen[line]):equals(nil)
      seen[line] = true
    end
  end)

  it("stays on the host, port included", function()
    local session = site {
      ["/"] = { links = { "http://other.example/", "http://site.example:8080/", "http://site.example:80/a" } },
      ["/a"] = {},
    }
    expect((run(session))):same(urls("/", "/a"))
  end)

  it("goes elsewhere when it may, and reads that host's robots.txt", function()
    local session = site {
      ["/"] = { links = { "http://other.example/x", "http://other.example/no" } },
      ["http://other.example/robots.txt"] = { robots = "User-agent: *\nDisallow: /no" },
      ["http://other.example/x"] = {},
    }
    local found, _, crawler = run(session, { same_host = false })
    expect(found):same { "http://other.example/x", BASE .. "/" }
    expect(crawler.disallowed):equals(1)
  end)

  it("asks for external links without crawling them", function()
    local session = site {
      ["/"] = { links = { "http://other.example/x", "http://other.example/gone", "/moved" } },
      ["http://other.example/robots.txt"] = { status = 404 },
      ["http://other.example/x"] = { links = { "http://third.example/" } },
      ["/moved"] = { location = "http://other.example/gone2" },
    }
    local _, pages, crawler = run(session, { check_external = true })
    expect(pages["http://other.example/x"].external):equals(true)
    expect(pages["http://third.example/"]):equals(nil)
    local broken = crawler:broken()
    expect(#broken):equals(2)
    table.sort(broken, function(a, b) return a.url < b.url end)
    expect(broken[1].url):equals("http://other.example/gone")
    expect(broken[2].url):equals("http://other.example/gone2")
    expect(broken[2].pages):same(urls("/"))
  end)

  it("asks for images and the like when told, and reads frames and linked pages in any case", function()
    local session = site {
      ["/"] = {
        links = {
          { url = "/logo.png", tag = "img" }, { url = "/style.css", tag = "link", rel = "stylesheet" },
          { url = "/next", tag = "link", rel = "next" }, { url = "/frame", tag = "iframe" },
          { url = "/delete", tag = "form" }, { url = "/page", tag = "embed" },
        },
      },
      ["/logo.png"] = { type = "image/png" }, ["/next"] = {}, ["/frame"] = {}, ["/page"] = { links = { "/deep" } },
      ["/deep"] = {}, ["/delete"] = {},
    }
    expect((run(session))):same(urls("/", "/frame", "/next"))
    local found, pages, crawler = run(session, { resources = true })
    expect(found):same(urls("/", "/deep", "/frame", "/logo.png", "/next", "/page", "/style.css"))
    expect(pages[BASE .. "/logo.png"].response.status):equals(200)
    expect(table.concat(session.log, " ")):contains("HEAD " .. BASE .. "/logo.png")
    expect(#crawler:broken()):equals(1)
  end)

  it("keeps to max_depth and max_pages", function()
    local pages = {}
    for n = 0, 20 do
      pages["/" .. (n == 0 and "" or n)] = { links = { "/" .. n + 1 } }
    end
    expect(#run(site(pages), { max_depth = 3 })):equals(4)
    expect(#run(site(pages), { max_pages = 5 })):equals(5)
    expect(#run(site(pages), { max_pages = 0 })):equals(0)
  end)

  it("asks the filter", function()
    local session = site { ["/"] = { links = { "/a", "/b.zip" } }, ["/a"] = {}, ["/b.zip"] = {} }
    expect((run(session, { filter = function(address) return not address:find("%.zip$") end }))):same(urls("/", "/a"))
  end)

  it("obeys robots.txt, reads it once, and says who it is", function()
    local session = site {
      ["/robots.txt"] = { robots = "User-agent: TestBot\nDisallow: /private\nUser-agent: *\nDisallow: /" },
      ["/"] = { links = { "/a", "/private/x" } }, ["/a"] = {}, ["/private/x"] = {},
    }
    local found, _, crawler = run(session, { user_agent = "TestBot/1.0" })
    expect(found):same(urls("/", "/a"))
    expect(crawler.disallowed):equals(1)
    expect(session.agent):equals("TestBot/1.0")
    expect(session.log[1]):equals("GET " .. BASE .. "/robots.txt")
    expect(#session.log):equals(3)
    expect((run(session, { user_agent = "TestBot", robots = false }))):same(urls("/", "/a", "/private/x"))
  end)

  it("says when a start URL is not allowed", function()
    local _, pages = run(site { ["/robots.txt"] = { robots = "User-agent: *\nDisallow: /" } })
    expect(pages[BASE .. "/"].error.code):equals("disallowed_by_robots")
  end)

  it("takes a robots.txt that fails for a prohibition", function()
    local _, pages = run(site { ["/robots.txt"] = { status = 503 }, ["/"] = {} })
    expect(pages[BASE .. "/"].error.message):contains("503")
    local failure = errors.new { domain = "url", code = "cannot_connect_to_host", message = "refused" }
    local _, unreachable, crawler = run(site { ["/robots.txt"] = { error = failure } })
    expect(unreachable[BASE .. "/"].error):equals(failure)
    expect(crawler:broken()[1].error):equals(failure)
  end)

  it("records redirects, and takes their target for visited", function()
    local session = site {
      ["/"] = { links = { "/old", "/away", "/loop" } },
      ["/old"] = { location = "/new", status = 301 }, ["/new"] = { links = { "/x" } }, ["/x"] = { links = { "/new" } },
      ["/away"] = { location = "http://other.example/" }, ["/loop"] = { location = "/loop" },
    }
    local _, pages = run(session, { concurrency = 1 })
    expect(pages[BASE .. "/new"].redirects):same {
      { status = 301, from = BASE .. "/old", to = BASE .. "/new", followed = true },
    }
    expect(pages[BASE .. "/new"].requested_url):equals(BASE .. "/old")
    expect(session.given.redirects):equals(false)
    expect(pages[BASE .. "/away"].response.status):equals(302)
    expect(pages[BASE .. "/away"].redirects[1].followed):equals(false)
    expect(pages[BASE .. "/loop"].redirects[1].followed):equals(false)
    expect(pages[BASE .. "/loop"].error.code):equals("http_too_many_redirects")
    local fetched = 0
    for _, line in ipairs(session.log) do
      if line:find("/new", 1, true) then fetched = fetched + 1 end
    end
    expect(fetched):equals(1)
    expect(pages[BASE .. "/x"].depth):equals(2)
  end)

  it("ends a chain of redirects", function()
    local pages = {}
    for n = 0, 50 do
      pages["/" .. (n == 0 and "" or n)] = { location = "/" .. n + 1 }
    end
    local _, found = run(site(pages))
    expect(found[BASE .. "/10"].error.code):equals("http_too_many_redirects")
  end)

  it("goes on after failures, and knows who linked to them", function()
    local failure = errors.new { domain = "url", code = "network_connection_lost", message = "gone" }
    local session = site {
      ["/"] = { links = { "/a", "/gone", "/lost", "/moved" } }, ["/a"] = { links = { "/gone", "/gone#x" } },
      ["/lost"] = { error = failure }, ["/moved"] = { location = "/gone", delay = 0.05 },
    }
    local _, pages, crawler = run(session)
    expect(pages[BASE .. "/gone"].response.status):equals(404)
    expect(pages[BASE .. "/lost"].error):equals(failure)
    expect(crawler:referrers(BASE .. "/gone#y")):same(urls("/", "/a"))
    local broken = {}
    for _, one in ipairs(crawler:broken()) do
      broken[one.url] = one
    end
    expect(broken[BASE .. "/gone"].status):equals(404)
    expect(broken[BASE .. "/gone"].pages):same(urls("/", "/a"))
    expect(broken[BASE .. "/lost"].error):equals(failure)
    expect(broken[BASE .. "/moved"]):equals(nil)
  end)

  it("looks for links in HTML only, and in no error page", function()
    local session = site {
      ["/"] = { links = { "/a.txt", "/err" } }, ["/a.txt"] = { type = "text/plain", links = { "/never" } },
      ["/err"] = { status = 500, links = { "/never" } },
    }
    local found, pages = run(session)
    expect(found):same(urls("/", "/a.txt", "/err"))
    expect(pages[BASE .. "/a.txt"].document):equals(nil)
    expect(pages[BASE .. "/err"].document):equals(nil)
    expect(#pages[BASE .. "/"].document:css("a")):equals(2)
  end)

  it("keeps a page whose body is too long", function()
    local failure = errors.new {
      domain = "url", code = "data_length_exceeds_maximum", message = "too long",
      response = { status = 200, headers = {}, mime_type = "application/zip" },
    }
    local _, pages, crawler = run(site { ["/"] = { links = { "/big" } }, ["/big"] = { error = failure } })
    expect(pages[BASE .. "/big"].error):equals(nil)
    expect(pages[BASE .. "/big"].truncated):equals(true)
    expect(#crawler:broken()):equals(0)
  end)

  it("is as concurrent as it may be, and no more", function()
    local pages = { ["/"] = { links = {} } }
    for n = 1, 30 do
      pages["/" .. n] = { delay = 0.01 }
      table.insert(pages["/"].links, "/" .. n)
    end
    local session = site(pages)
    expect(#run(session, { concurrency = 4 })):equals(31)
    expect(session.most):equals(4)
  end)

  it("waits for a slow loop", function()
    local pages = { ["/"] = { links = {} } }
    for n = 1, 100 do
      pages["/" .. n] = {}
      table.insert(pages["/"].links, "/" .. n)
    end
    local session, taken, ahead = site(pages), 0, 0
    for _ in crawl({ start = BASE .. "/", session = session, concurrency = 3, robots = false }):pages() do
      taken = taken + 1
      http.sleep(0.001)
      ahead = math.max(ahead, #session.log - taken)
    end
    expect(taken):equals(101)
    expect(ahead):is_between(1, 6)
  end)

  it("leaves a pause between requests to a host", function()
    local session = site { ["/"] = { links = { "/a", "/b", "/c" } }, ["/a"] = {}, ["/b"] = {}, ["/c"] = {} }
    run(session, { delay = 0.05 })
    for n = 3, #session.times do
      expect(session.times[n] - session.times[n - 1]):is_between(0.045, 0.5)
    end
    session = site {
      ["/robots.txt"] = { robots = "User-agent: *\nCrawl-delay: 0.05" },
      ["/"] = { links = { "/a", "/b" } }, ["/a"] = {}, ["/b"] = {},
    }
    run(session)
    expect(session.times[#session.times] - session.times[2]):is_between(0.09, 1)
  end)

  it("ends when the loop is left", function()
    local pages = { ["/"] = { links = {} } }
    for n = 1, 200 do
      pages["/" .. n] = { delay = 0.002 }
      table.insert(pages["/"].links, "/" .. n)
    end
    local session = site(pages)
    for page in crawl({ start = BASE .. "/", session = session }):pages() do
      if page.depth == 1 then break end
    end
    local count = #session.log
    http.sleep(0.05)
    expect(#session.log):equals(count)
  end)

  it("ends when its requests are cancelled, and takes nothing for broken", function()
    local failure = errors.new { domain = "url", code = "cancelled", message = "the script is being ended" }
    local session = site {
      ["/"] = { links = { "/a", "/b", "/c" } }, ["/a"] = { error = failure }, ["/b"] = { error = failure },
      ["/c"] = { delay = 1 },
    }
    local found, _, crawler = run(session)
    expect(found):same(urls("/"))
    expect(crawler.cancelled):equals(true)
    expect(#crawler:broken()):equals(0)
  end)

  it("raises in the loop what the filter raises", function()
    local session = site { ["/"] = { links = { "/a" } } }
    expect(function() run(session, { filter = function() error("no such luck") end }) end):raises("no such luck")
  end)

  it("raises for wrong options", function()
    expect(function() crawl {} end):raises("crawl needs a 'start'")
    expect(function() crawl { start = "ftp://x/" } end):raises("no http or https URL")
    expect(function() crawl { start = BASE, max_pges = 1 } end):raises("did you mean 'max_pages'")
    expect(function() crawl { start = BASE, concurrency = 0 } end):raises("'concurrency' must be at least 1")
    expect(function() crawl { start = BASE, delay = -1 } end):raises("'delay' must not be negative")
  end)
end
