"""The servers of the benchmark, on loopback, and the data that the programs work on."""

import contextlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

HERE = pathlib.Path(__file__).parent
LOREM = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore. " * 3
DOCS = pathlib.Path("/usr/share/doc/python3.11/html")

NGINX = """
worker_processes 1;
daemon off;
pid {work}/nginx.pid;
error_log stderr crit;
events {{ worker_connections 12000; }}
http {{
  access_log off;
  include /etc/nginx/mime.types;
  keepalive_requests 10000000;
  http2_max_concurrent_streams 256;
  client_body_temp_path {work}/tmp; proxy_temp_path {work}/tmp; fastcgi_temp_path {work}/tmp;
  uwsgi_temp_path {work}/tmp; scgi_temp_path {work}/tmp;
  ssl_certificate {work}/cert.pem;
  ssl_certificate_key {work}/key.pem;
  server {{
    listen 127.0.0.1:{http} backlog=4096;
    root {work}/www;
    location = /status {{ stub_status; }}
    location /docs/ {{ alias {docs}/; }}
  }}
  server {{
    listen 127.0.0.1:{https} ssl http2 backlog=4096;
    root {work}/www;
  }}
}}
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port, process):
    """Until somebody listens there."""
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    sys.exit(f"bench: no server on port {port}")


def make_documents(folder):
    """JSON of 10 MB in one document and in 10,000, and a page of 1 MB, the same in every run."""
    dice = random.Random(7)

    def one(number):
        return {
            "id": number,
            "name": f"Item {number} \u00fcber \u65e5\u672c",
            "price": dice.random() * 1000,
            "tags": [dice.choice(["red", "green", "blue", "large", "small"]) for _ in range(5)],
            "stock": {"count": dice.randrange(1000), "reserved": None, "listed": dice.random() < 0.5},
            "text": "Lorem ipsum dolor sit amet, \"consectetur\" adipiscing elit. " * dice.randrange(1, 4),
        }

    documents = [one(number) for number in range(10_000)]
    large = json.dumps((documents * 4)[:33_000], ensure_ascii=False)
    (folder / "large.json").write_text(large)
    (folder / "small.json").write_text("\n".join(json.dumps(one, ensure_ascii=False) for one in documents))
    # A link for each 400 bytes, as in pages of documentation.
    rows = "".join(
        f'<div class="row"><p>Some <b>text</b> about {n} &amp; more. {LOREM}'
        f'<a href="/page/{n}.html?x=1&amp;y=2">Page {n}</a></p></div>\n'
        for n in range(2_500)
    )
    head = "<!DOCTYPE html><html><head><title>Links</title></head>"
    (folder / "page.html").write_text(f"{head}<body>{rows}</body></html>")


class Servers:
    """Everything that runs beside the programs; a context."""

    def __init__(self, work):
        self.work = work
        self.processes = []

    def __enter__(self):
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        work, www = self.work, self.work / "www"
        for folder in (work / "tmp", www):
            folder.mkdir()
        # nginx's worker may run as another user, who has to get at the files.
        work.chmod(0o755)
        # 1 KiB, as it says: the cost of a request, not of its bytes.
        (www / "1k").write_text("x" * 1024)
        for name, size in (("large", 512 << 20), ("huge", 1 << 30)):
            with open(www / name, "wb") as file:
                file.truncate(size)
        make_documents(work)
        certificate = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        certificate += ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
        certificate += ["-keyout", work / "key.pem", "-out", work / "cert.pem"]
        subprocess.run(certificate, check=True, stderr=subprocess.DEVNULL)
        http, https, slow = free_port(), free_port(), free_port()
        self.plain, self.secure, self.slow = (
            f"http://127.0.0.1:{http}",
            f"https://127.0.0.1:{https}",
            f"http://127.0.0.1:{slow}",
        )
        (work / "nginx.conf").write_text(NGINX.format(work=work, http=http, https=https, docs=DOCS))
        nginx = shutil.which("nginx") or "/usr/sbin/nginx"
        self.start([nginx, "-p", work, "-c", work / "nginx.conf"], http)
        self.start(["/usr/bin/python3", HERE / "slow.py", str(slow)], slow)
        return self

    def start(self, command, port):
        process = subprocess.Popen(command)
        self.processes.append(process)
        wait_for(port, process)

    def __exit__(self, *_):
        for process in self.processes:
            process.terminate()
            process.wait()

    def place(self, processors):
        """Has the servers run on these processors."""
        for process in self.processes:
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            for number in (process.pid, *map(int, children)):
                os.sched_setaffinity(number, processors)

    def served(self):
        """How many requests nginx has answered."""
        with urllib.request.urlopen(self.plain + "/status") as page:
            return int(re.search(r"^\s*\d+ \d+ (\d+)", page.read().decode(), re.MULTILINE).group(1))
