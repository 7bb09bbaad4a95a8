import Testing

@testable import LuaBridge

@Suite(.serialized) struct HTMLTests {
  @Test func specification() throws {
    let turn = try HTMLScript().run(spec: "html_spec.lua")
    #expect(turn == .finished)
  }

  @Test func selectorsOfTheWebPlatform() throws {
    let turn = try HTMLScript().run(spec: "html_conformance_spec.lua")
    #expect(turn == .finished)
  }

  @Test func hostileDocuments() throws {
    let turn = try HTMLScript().run(spec: "html_hostile_spec.lua")
    #expect(turn == .finished)
  }

  @Test func documentsAndNodesAreReleased() throws {
    let documents = LiveDocuments.count
    do {
      let script = try HTMLScript()
      let turn = try script.run(
        """
        local html, xml = require "http.html", require "http.xml"
        local kept
        for i = 1, 3000 do
          local doc = html.parse("<p id=a>x<a href=/y>z</a>", { base = "http://h/" })
          kept = doc:css_first("a")
          assert(#doc:links() == 1 and doc:xpath("count(//p)") == 1 and kept.parent == doc:css_first("#a"))
          assert(not doc:xpath("///") and not doc:css("::") and not xml.parse("<a>"))
          assert(xml.parse("<a><b/></a>"):css_first("b").name == "b")
        end
        collectgarbage()
        assert(kept.document:css_first("p").text == "xz")
        """)
      #expect(turn == .finished)
      script.interpreter.collect()
      #expect(LiveDocuments.count <= documents + 1)
      #expect(script.interpreter.liveObjects <= 2)
    }
    #expect(LiveDocuments.count == documents)
  }

  @Test func treesCountAgainstTheCollector() throws {
    let script = try HTMLScript()
    let turn = try script.run(
      """
      local html = require "http.html"
      local page = ("<p>x"):rep(20000)
      collectgarbage("stop")
      for _ = 1, 150 do html.parse(page) end
      """)
    #expect(turn == .finished)
    #expect(LiveDocuments.count < 100)
  }
}
