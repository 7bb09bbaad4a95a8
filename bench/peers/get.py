#!/usr/bin/python3
"""GETs a URL so many times, so many at once, with a library of Python's: get.py LIBRARY URL REQUESTS AT_ONCE"""

import asyncio
import sys


def with_pycurl(url, count, at_once):
    import pycurl

    total = 0

    def take(data):
        nonlocal total
        total += len(data)

    def make():
        easy = pycurl.Curl()
        easy.setopt(pycurl.URL, url)
        easy.setopt(pycurl.WRITEFUNCTION, take)
        easy.setopt(pycurl.NOSIGNAL, 1)
        return easy

    multi = pycurl.CurlMulti()
    handles = [make() for _ in range(min(at_once, count))]
    for easy in handles:
        multi.add_handle(easy)
    begun, done = len(handles), 0
    while done < count:
        multi.perform()
        _, fine, failed = multi.info_read()
        assert not failed
        for easy in fine:
            assert easy.getinfo(pycurl.RESPONSE_CODE) == 200
            done += 1
            multi.remove_handle(easy)
            if begun < count:
                begun += 1
                multi.add_handle(easy)
        if done < count:
            multi.select(1.0)
    assert total > 0


def with_requests(url, count, at_once):
    import requests
    from concurrent.futures import ThreadPoolExecutor

    session = requests.Session()
    session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=at_once))

    def get(_):
        response = session.get(url)
        assert response.status_code == 200 and response.content

    if at_once == 1:
        for i in range(count):
            get(i)
    else:
        with ThreadPoolExecutor(at_once) as pool:
            list(pool.map(get, range(count)))


def with_httpx(url, count, at_once):
    import httpx

    async def run():
        limits = httpx.Limits(max_connections=at_once, max_keepalive_connections=at_once)
        async with httpx.AsyncClient(limits=limits) as client:

            async def get():
                response = await client.get(url)
                assert response.status_code == 200 and response.content

            await spread(get, count, at_once)

    asyncio.run(run())


def with_aiohttp(url, count, at_once):
    import aiohttp

    async def run():
        connector = aiohttp.TCPConnector(limit=at_once)
        timeout = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:

            async def get():
                async with session.get(url) as response:
                    assert response.status == 200 and await response.read()

            await spread(get, count, at_once)

    asyncio.run(run())


async def spread(get, count, at_once):
    """Calls `get` so many times from so many workers."""
    left = count

    async def work():
        nonlocal left
        while left > 0:
            left -= 1
            await get()

    await asyncio.gather(*(work() for _ in range(min(at_once, count))))


if __name__ == "__main__":
    globals()["with_" + sys.argv[1]](sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
