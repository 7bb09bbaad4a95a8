"""The cases of the benchmark: what each program is called with."""

import dataclasses
import pathlib
import shutil

HERE = pathlib.Path(__file__).parent
PYTHON = "/usr/bin/python3"


@dataclasses.dataclass
class Case:
    """The first program is the product, the second what it is compared with (`base`); the rest are peers."""

    programs: dict
    # How many requests nginx must have seen of each program at least; none are counted where there is another server.
    requests: int = 0
    # The requests that wall and CPU are told for, where programs make different numbers of them.
    nominal: int = 0
    # Runs per round: what is short is run more often.
    repeats: int = 1
    # Exit statuses beside 0 that are fine.
    statuses: tuple = ()
    # Programs that take so long that they are run in the first round only.
    slow: tuple = ()
    # Programs and servers on one processor ("together"), on one each ("apart"), or where the system has them.
    place: str = ""
    # A file that is read once before, or the first program would pay for bringing it into memory.
    warm: object = None
    # A file that is removed before each run and at the end, and everything is on the disk then: a program that waits
    # until what it has written is there would pay for those that do not.
    written: object = None


def tool(name, *arguments):
    """A peer's command line, or none where it is not installed."""
    path = shutil.which(name)
    return [path, *map(str, arguments)] if path else None


class Cases:
    """All cases for these programs and servers; `scale` divides the work."""

    def __init__(self, product, limits, servers, scale):
        self.product, self.limits, self.servers, self.scale = product, limits, servers, scale
        self.url = servers.plain + "/1k"

    def script(self, name, *arguments):
        return [self.product, str(HERE / "scripts" / name), *map(str, arguments)]

    def limit(self, name, *arguments):
        return [str(self.limits / name), *map(str, arguments)]

    def python(self, library, url, count, at_once):
        return [PYTHON, str(HERE / "peers" / "get.py"), library, url, str(count), str(at_once)]

    def all(self):
        return {
            "start": self.start(),
            "one": self.one(),
            "sequential": self.requests(20_000, 1),
            "64 at once": self.requests(50_000, 64),
            "512 at once": self.requests(50_000, 512),
            "delegate": self.delegate(),
            "TLS": self.encrypted(20_000, 64, 1),
            "HTTP/2": self.encrypted(20_000, 64, 2),
            "in flight": self.in_flight(),
            "idle": self.idle(),
            "download": self.transfer("get"),
            "upload": self.transfer("put"),
            "download 1 GiB": self.transfer("get", "huge"),
            "upload 1 GiB": self.transfer("put", "huge"),
            **self.json(),
            **self.links(),
            "crawl": self.crawl(),
        }

    def wait(self, seconds):
        return f"{self.servers.slow}/wait/{seconds}"

    def start(self):
        programs = {
            "httpscript": [self.product, "-e", ""],
            "C": self.limit("requests", self.url, 0, 1),
            "lua5.4": tool("lua5.4", "-e", ""),
            "python3": [PYTHON, "-c", ""],
        }
        return Case(programs, repeats=5)

    def one(self):
        programs = {
            "httpscript": self.script("one.lua", self.url),
            "curl": tool("curl", "-sf", "-o", "/dev/null", self.url),
            # What keeping the response for later costs; nobody else does that.
            "with its cache": self.script("one.lua", self.url, "cache"),
            "C": self.limit("requests", self.url, 1, 1),
            "wget2": tool("wget2", "-q", "-O", "/dev/null", self.url),
            "aria2c": tool("aria2c", "-q", "-d", "/tmp", "-o", "bench-1k", "--allow-overwrite=true", self.url),
            "pycurl": self.python("pycurl", self.url, 1, 1),
            "requests": self.python("requests", self.url, 1, 1),
            "httpx": self.python("httpx", self.url, 1, 1),
            "aiohttp": self.python("aiohttp", self.url, 1, 1),
            "lua-http": self.lua("lua_http.lua", 1, 1),
        }
        return Case(programs, requests=1, repeats=5)

    def lua(self, script, count, at_once):
        return tool("lua5.1", HERE / "peers" / script, self.url, count, at_once)

    def requests(self, count, at_once):
        count //= self.scale
        slow = max(count // 10, at_once)
        programs = {
            "httpscript": self.script("requests.lua", self.url, count, at_once),
            "C": self.limit("requests", self.url, count, at_once),
            "pycurl": self.python("pycurl", self.url, count, at_once),
            # What takes ten times as long makes a tenth of the requests.
            "requests": self.python("requests", self.url, slow, at_once),
            "httpx": self.python("httpx", self.url, slow, at_once),
            "aiohttp": self.python("aiohttp", self.url, slow, at_once),
            "lua-http": self.lua("lua_http.lua", slow, at_once),
        }
        if at_once == 1:
            programs["curl"] = tool("curl", "-sSf", "-o", "/dev/null", f"{self.url}?[1-{count}]")
            programs["lua-curl"] = self.lua("lua_curl.lua", count, 1)
            programs["h2load"] = tool("h2load", "--h1", "-n", count, "-c", 1, self.url)
        else:
            if at_once <= 300:
                programs["curl"] = tool(
                    "curl", "-sSf", "--no-progress-meter", "-Z", "--parallel-max", at_once, "-o", "/dev/null",
                    f"{self.url}?[1-{count}]")
            programs["wrk"] = tool("wrk", "-t", 1, "-c", at_once, "-d", 3, self.url)
            programs["h2load"] = tool("h2load", "--h1", "-n", count, "-c", at_once, self.url)
        place = "together" if at_once == 1 else "apart"
        return Case(programs, requests=slow, nominal=count, place=place)

    def delegate(self):
        count = 50_000 // self.scale
        return Case(
            {
                "httpscript": self.script("delegate.lua", self.url, count, 64),
                "C": self.limit("requests", self.url, count, 64),
            },
            requests=count,
            place="apart",
        )

    def encrypted(self, count, at_once, version):
        count //= self.scale
        url, authority = self.servers.secure + "/1k", self.servers.work / "cert.pem"
        more = [2] if version == 2 else []
        programs = {
            "httpscript": self.script("requests.lua", url, count, at_once, authority, *more),
            "C": self.limit("requests", url, count, at_once, authority, *more),
        }
        if version == 2:
            programs["h2load"] = tool("h2load", "-n", count, "-c", 1, "-m", at_once, url)
        return Case(programs, requests=count, place="apart")

    def in_flight(self):
        return Case(
            {
                "httpscript": self.script("requests.lua", self.wait(2), 10_000, 10_000),
                "C": self.limit("requests", self.wait(2), 10_000, 10_000),
                "aiohttp": self.python("aiohttp", self.wait(2), 10_000, 10_000),
            }
        )

    def idle(self):
        return Case({"httpscript": self.script("idle.lua", self.servers.plain + "/large", self.wait(600), 10_000)})

    def transfer(self, way, name="large"):
        here = self.servers.work
        if way == "get":
            url, folder = f"{self.servers.plain}/{name}", self.memory() or here
            path = folder / "bench-received"
            peers = {
                "curl": tool("curl", "-sf", "-o", path, url),
                "wget2": tool("wget2", "-q", "-O", path, url),
                "aria2c": tool("aria2c", "-q", "-x1", "-d", folder, "-o", path.name, "--allow-overwrite=true", url),
            }
        else:
            url, path = self.servers.slow + "/put", here / "www" / name
            peers = {"curl": tool("curl", "-sf", "-o", "/dev/null", "-H", "Expect:", "-T", path, url)}
        programs = {
            "httpscript": self.script("transfer.lua", way, url, path),
            "C": self.limit("transfer", way, url, path),
        }
        return Case({**programs, **peers}, warm=here / "www" / name, written=path if way == "get" else None)

    def memory(self):
        """A folder in memory with room for the largest file, or none: a disk's pace would hide what programs cost, and
        no other program here waits for the disk."""
        folder = pathlib.Path("/dev/shm")
        return folder if folder.is_dir() and shutil.disk_usage(folder).free > 4 << 30 else None

    def json(self):
        large, small, times = self.servers.work / "large.json", self.servers.work / "small.json", 5

        def case(way, path):
            return Case(
                {
                    "httpscript": self.script("json.lua", way, path, times),
                    "C": self.limit("json", way, path, times),
                }
            )

        return {
            "JSON decode": case("decode", large),
            "JSON encode": case("encode", large),
            "JSON decode small": case("decode", small),
            "JSON encode small": case("encode", small),
        }

    def links(self):
        path = self.servers.work / "page.html"

        def case(way):
            programs = {"httpscript": self.script("links.lua", way, path, 20), "C": self.limit("links", way, path, 20)}
            return Case(programs)

        return {"HTML links": case("sax"), "HTML parse": case("tree")}

    def crawl(self):
        url, at_once = self.servers.plain + "/docs/index.html", 8
        spider = self.servers.work / "spider"
        programs = {
            "httpscript": self.script("crawl.lua", url, at_once),
            "wget2": tool("wget2", "-q", "-r", "-np", f"--max-threads={at_once}", "-P", spider, url),
            "scrapy": [PYTHON, str(HERE / "peers" / "spider.py"), url, str(at_once)],
        }
        # wget2 says so when a page was not there.
        return Case(programs, requests=400, statuses=(8,), slow=("scrapy",))
