local charset = require "http.charset"

return function(t)
  local it, expect = t.it, t.expect

  it("reads the parameter of a Content-Type", function()
    expect(charset.from_content_type("text/html; charset=UTF-8")):equals("UTF-8")
    expect(charset.from_content_type('text/html; x=1; Charset="iso-8859-1"')):equals("iso-8859-1")
    expect(charset.from_content_type("text/html;charset= utf-8 ; a=b")):equals("utf-8")
    expect(charset.from_content_type("text/html")):equals(nil)
    expect(charset.from_content_type(nil)):equals(nil)
  end)

  it("knows labels as the WHATWG does", function()
    expect(charset.canonical("latin1")):equals("WINDOWS-1252")
    expect(charset.canonical(" ISO-8859-1 ")):equals("WINDOWS-1252")
    expect(charset.canonical("us-ascii")):equals("WINDOWS-1252")
    expect(charset.canonical("gb2312")):equals("GB18030")
    expect(charset.canonical("Shift_JIS")):equals("CP932")
    expect(charset.canonical("klingon")):equals(nil)
  end)

  it("believes the byte order mark first, and gives its length", function()
    local name, skip, source = charset.detect("\239\187\191<p>", "text/html; charset=koi8-r")
    expect(name):equals("UTF-8")
    expect(skip):equals(3)
    expect(source):equals("mark")
    expect((charset.detect("\255\254a\0", nil))):equals("UTF-16LE")
    expect((charset.detect("\254\255\0a", nil))):equals("UTF-16BE")
  end)

  it("believes the header before the document", function()
    local name, skip, source = charset.detect('<meta charset="koi8-r">', "text/html; charset=windows-1251")
    expect(name):equals("WINDOWS-1251")
    expect(skip):equals(0)
    expect(source):equals("header")
  end)

  it("looks into the document when the header says nothing that it knows", function()
    local name, _, source = charset.detect('<meta charset="koi8-r">', "text/html; charset=unheard-of")
    expect(name):equals("KOI8-R")
    expect(source):equals("document")
  end)

  it("finds meta elements as browsers do", function()
    local function prescan(text) return charset.prescan(text) end
    expect(prescan("<html><head><META charset=iso-8859-2>")):equals("ISO-8859-2")
    expect(prescan("<meta content='text/html; charset=euc-jp' http-equiv='Content-Type'>")):equals("EUC-JP")
    expect(prescan("<meta name=description content='charset=euc-jp'>")):equals(nil)
    expect(prescan("<!-- <meta charset=koi8-r> --><meta charset=utf-8>")):equals("UTF-8")
    expect(prescan("<a title='<meta charset=koi8-r>'><meta charset=big5>")):equals("BIG5-HKSCS")
    expect(prescan("<meta charset=utf-16>")):equals("UTF-8")
    expect(prescan("<?xml version='1.0' encoding='iso-8859-15'?><x/>")):equals("ISO-8859-15")
    expect(prescan((" "):rep(1024) .. "<meta charset=koi8-r>")):equals(nil)
    expect(prescan("<meta charset=")):equals(nil)
    expect(prescan("<")):equals(nil)
  end)

  it("guesses from the bytes when nobody says", function()
    expect((charset.detect("gr\195\188n", "text/plain"))):equals("UTF-8")
    expect((charset.detect("gr\252n", "text/plain"))):equals("WINDOWS-1252")
    expect((charset.detect("", nil))):equals("UTF-8")
  end)

  t.host_it("gives names that iconv knows", function()
    local convert = require("httpscript.text").convert
    for label in ("latin1 windows-874 macintosh x-mac-cyrillic gbk big5 sjis euc-kr koi8-u"):gmatch("%S+") do
      expect(convert("a", charset.canonical(label), "UTF-8")):equals("a")
    end
  end)
end
