#!/usr/bin/python3
"""What nginx does not do: slow.py PORT

/wait/SECONDS answers after so long; with ?waiting it tells at once how many requests wait. PUT drops a body.
"""

import asyncio
import re
import sys

waiting = 0


def answer(text):
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text)


class Connection(asyncio.BufferedProtocol):
    buffer = bytearray(1 << 20)  # One for all: a body's bytes are not looked at.

    def connection_made(self, transport):
        self.transport, self.head, self.left = transport, b"", 0

    def get_buffer(self, size):
        return self.buffer

    def buffer_updated(self, count):
        if self.left:
            self.take_body(count)
            return
        self.head += self.buffer[:count]
        end = self.head.find(b"\r\n\r\n")
        if end >= 0:
            head, rest = self.head[:end], self.head[end + 4 :]
            self.head = b""
            self.respond(head, len(rest))

    def take_body(self, count):
        self.left -= count
        if self.left <= 0:
            self.left = 0
            self.transport.write(answer(b"done"))

    def respond(self, head, rest):
        global waiting
        length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
        if length:
            self.left = int(length[1])
            self.take_body(rest)
        elif b"?waiting" in head:
            self.transport.write(answer(b"%d" % waiting))
        else:
            waiting += 1
            asyncio.get_running_loop().call_later(float(re.match(rb"GET /wait/([\d.]+)", head)[1]), self.finish)

    def finish(self):
        global waiting
        waiting -= 1
        self.transport.write(answer(b"x"))


async def main():
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", int(sys.argv[1]), backlog=20000)
    await server.serve_forever()


asyncio.run(main())
